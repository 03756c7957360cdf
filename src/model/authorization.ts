import type { UserId } from './user.ts'

/** What was granted: tokens hang from it, revocation and reuse detection act on it. */
export interface Authorization {
  readonly id: number
  readonly clientId: string
  readonly clientKey: number
  readonly userId: UserId | null
  /** The whole grant; an access token may hold less. */
  readonly scopes: readonly string[]
  /** The resources that tokens may be for (RFC 8707 §2); empty: all that the server protects. */
  readonly resources: readonly string[]
  /** What a redeemed code was bound to, so that a replay can prove itself; null without a code. */
  readonly code: CodeBinding | null
  /** The `User-Agent` of the browser in which the user agreed; empty where nothing is known. */
  readonly userAgent: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** When the last of its tokens ends; until then it stays as a tombstone. */
  readonly expiresAt: number
  readonly revokedAt: number | null
}

/** The conditions under which an authorization code may be redeemed. RFC 6749 §4.1.3. */
export interface CodeBinding {
  readonly clientId: string
  readonly redirectUri: string
  /** Whether the authorization request named the redirect URI, so that the token request must too. */
  readonly redirectUriGiven: boolean
  /** What extensions added, by their names: the PKCE challenge for one. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** An authorization code's record, kept as a transient under the code's digest. */
export interface AuthorizationCode extends CodeBinding {
  readonly userId: UserId
  readonly scopes: readonly string[]
  /** The consent under which it was issued: without it, the code is worthless. */
  readonly consentId: string
  /** The digest of the session in which it was granted; it dies with that session. */
  readonly sessionId: string | null
  /** Of the browser in which the user agreed. */
  readonly userAgent: string
  readonly expiresAt: number
}

/** A user's decision to let a client have scopes, remembered until it is withdrawn. */
export interface Consent {
  /** Stays the same while the consent grows, and is new after it was withdrawn. */
  readonly id: string
  readonly userId: UserId
  readonly clientId: string
  readonly clientKey: number
  readonly scopes: readonly string[]
  /** Optional scopes that the user was asked for and refused: no reason to ask again. */
  readonly declinedScopes: readonly string[]
  readonly grantedAt: number
}
