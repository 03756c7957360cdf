import type { UserId } from './user.ts'

/** A grant of scopes to a client. Its tokens refer to it; revocation and reuse detection apply to it as a whole. */
export interface Authorization {
  readonly id: number
  readonly clientId: string
  readonly clientKey: number
  readonly userId: UserId | null
  /** All granted scopes; an access token may have fewer. */
  readonly scopes: readonly string[]
  /** The resources that its tokens may be for (RFC 8707 §2); empty: all that the server protects. */
  readonly resources: readonly string[]
  /** The binding of the redeemed code, with which a repeated redemption is recognized; null without a code. */
  readonly code: CodeBinding | null
  /** The `User-Agent` of the browser in which the user agreed; empty if unknown. */
  readonly userAgent: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** The expiry of the last of its tokens. Until then, the row stays as a tombstone. */
  readonly expiresAt: number
  readonly revokedAt: number | null
}

/** The conditions under which an authorization code may be redeemed. RFC 6749 §4.1.3. */
export interface CodeBinding {
  readonly clientId: string
  readonly redirectUri: string
  /** Whether the authorization request named the redirect URI, so that the token request must too. */
  readonly redirectUriGiven: boolean
  /** Values that extensions added, by the name of the extension: for instance the PKCE challenge. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** The record of an authorization code, stored as a transient value under the digest of the code. */
export interface AuthorizationCode extends CodeBinding {
  readonly userId: UserId
  readonly scopes: readonly string[]
  /** The consent under which the code was issued. Without that consent, the code cannot be redeemed. */
  readonly consentId: string
  /** The digest of the session in which the code was granted. The code ends with that session. */
  readonly sessionId: string | null
  /** The `User-Agent` of the browser in which the user agreed. */
  readonly userAgent: string
  readonly expiresAt: number
}

/** A user's decision to grant scopes to a client, remembered until it is withdrawn. */
export interface Consent {
  /** Unchanged while scopes are added to the consent. A consent after a withdrawal has a new ID. */
  readonly id: string
  readonly userId: UserId
  readonly clientId: string
  readonly clientKey: number
  readonly scopes: readonly string[]
  /** Optional scopes that the user refused. The user is not asked for them again. */
  readonly declinedScopes: readonly string[]
  readonly grantedAt: number
}
