import type { UserId } from './user.ts'

/**
 * The kind of a credential. A `registration_token` manages the registration of a client (RFC 7592); a `user_link` is a
 * link by e-mail, for instance to reset a password.
 */
export type CredentialKind =
  | 'access_token'
  | 'refresh_token'
  | 'personal_token'
  | 'client_secret'
  | 'authorization_code'
  | 'device_code'
  | 'session'
  | 'registration_token'
  | 'user_link'

/** A credential that leaked and was invalidated. */
export interface LeakedCredential {
  readonly kind: CredentialKind
  /** The client of the credential; for a personal token, its hidden client. Empty for a session and a user link. */
  readonly clientId: string
  /** The name of the client. For a personal token, the name that its user gave it. */
  readonly name: string
  /** The user of the token, or the owner of the client; null if the client has no owner. */
  readonly userId: UserId | null
  /** Null for a credential that is not a token, and has not been redeemed for a token. */
  readonly tokenId: number | null
}

/** A leaked credential, without its value, and the place where the scanner found it. */
export interface LeakReport extends LeakedCredential {
  /** Empty if the scanner reports no URL. */
  readonly url: string
  /** The type of the place, such as `commit`; empty if the scanner reports no source. */
  readonly source: string
}

/** Notifies the owner of a leaked credential. The server calls this callback after the revocation, without waiting. */
export type OnLeaked = (report: LeakReport) => void | Promise<void>
