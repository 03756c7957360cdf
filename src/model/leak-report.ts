import type { UserId } from './user.ts'

/** A credential that leaked and was invalidated. */
export interface LeakedCredential {
  readonly kind: 'access_token' | 'refresh_token' | 'personal_token' | 'client_secret'
  /** The client of the credential. For a personal token, the client behind it, which was deleted with it. */
  readonly clientId: string
  /** The name of the client. For a personal token, the name that its user gave it. */
  readonly name: string
  /** The user of the token or the owner of the client; null without one. */
  readonly userId: UserId | null
  /** Null for a client secret, and for a rotated refresh token. */
  readonly tokenId: number | null
}

/** A leaked credential with the place where the scanner found it. It never contains the value itself. */
export interface LeakReport extends LeakedCredential {
  /** Empty if the scanner reports no address. */
  readonly url: string
  /** For instance `commit`; empty if the scanner reports no source. */
  readonly source: string
}

/** Notifies the owner. It is called after the credential was invalidated; the server does not wait for it. */
export type OnLeaked = (report: LeakReport) => void | Promise<void>
