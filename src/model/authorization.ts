import type { UserId } from './user.ts'

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
