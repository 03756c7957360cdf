import type { UserId } from './user.ts'

/** The result of one consent. Revocation and reuse detection apply to all tokens of an authorization. */
export interface Authorization {
  readonly id: number
  readonly clientId: string
  readonly clientKey: number
  readonly userId: UserId | null
  /** All granted scopes; an access token may have fewer. */
  readonly scopes: readonly string[]
  /** The resources for which tokens may be issued (RFC 8707 §2); empty: all resources that the server protects. */
  readonly resources: readonly string[]
  /**
   * The binding of the redeemed code; null without a code. If the code is presented again, the server checks the
   * request against this binding before it revokes the tokens.
   */
  readonly code: CodeBinding | null
  /**
   * The `User-Agent` of the browser in which the user agreed, or of the device that redeemed a device code. Empty if
   * unknown.
   */
  readonly userAgent: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /**
   * No token and no code of the authorization is valid after this time. Until then, its row remains after a revocation.
   */
  readonly expiresAt: number
  readonly revokedAt: number | null
}

/** The conditions under which an authorization code may be redeemed. RFC 6749 §4.1.3. */
export interface CodeBinding {
  readonly clientId: string
  readonly redirectUri: string
  /** Whether the authorization request contained the redirect URI. If so, the token request must repeat the URI. */
  readonly redirectUriGiven: boolean
  /** Values that extensions added, such as the PKCE challenge, by the name of the extension. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** The record of an authorization code, stored as a transient value under the digest of the code. */
export interface AuthorizationCode extends CodeBinding {
  readonly userId: UserId
  readonly scopes: readonly string[]
  /** The consent under which the code was issued. After its withdrawal, the code cannot be redeemed. */
  readonly consentId: string
  /** The digest of the session in which the code was granted. The code is invalid after the end of this session. */
  readonly sessionId: string | null
  /** The `User-Agent` of the browser in which the user agreed. */
  readonly userAgent: string
  readonly expiresAt: number
}

/** A user's decision to grant scopes to a client, stored until the user withdraws the consent. */
export interface Consent {
  /** The ID, which changes if the user withdraws the consent and consents again. */
  readonly id: string
  readonly userId: UserId
  readonly clientId: string
  readonly clientKey: number
  readonly scopes: readonly string[]
  /** The optional scopes that the user declined. If the consent page appears again, these scopes are not ticked. */
  readonly declinedScopes: readonly string[]
  readonly grantedAt: number
  /**
   * The time since when the ID of the user belongs to this user, if a former user had the same ID; otherwise null.
   * Milliseconds since the epoch.
   */
  readonly reusedSince: number | null
}
