import type { JWTExtendedException } from './jwt-error.ts'
import type { UserProxy } from './user.ts'

/** The authenticated caller of a request, or an anonymous one. */
export interface Auth {
  readonly kind: 'anonymous' | 'session' | 'personal_token' | 'access_token'
  /** Null for an anonymous caller, and for a client without an owner that acts for itself. */
  readonly user: UserProxy | null
  /** The client application; null for sessions and personal tokens. */
  readonly client: { readonly clientId: string; readonly name: string } | null
  readonly tokenId: number | null
  readonly authorizationId: number | null
  /** What a token may do; null for a session, which scopes do not limit. */
  readonly scopes: readonly string[] | null
}

/** The parts of a request that a guard reads. */
export interface PresentedCredentials {
  /** All `Authorization` headers, joined by a comma. */
  readonly authorization: string | null
  readonly cookie: string | null
  readonly method: string
  /** The path as it was sent. */
  readonly path: string
  /** The raw query. */
  readonly query: string
  /** The resource that the request is for; undefined for the whole application. RFC 8707 §2. */
  readonly resource?: string | undefined
  /** Whether a token has to be issued for that resource, and not for the whole application. RFC 9068 §4. */
  readonly requireAudience?: boolean | undefined
  /** The scopes that the operation needs, as far as they are known, for the challenge. */
  readonly neededScopes?: (() => readonly string[]) | undefined
  readonly address: string
  readonly userAgent: string
  /** The framework's own request, for the application's `resourceOwner`. */
  readonly raw?: unknown
  /** All headers, for the verification of a session's JWT alone. */
  readonly headers: () => Headers
}

/** The parts of a request that a challenge names. */
export type Operation = Pick<PresentedCredentials, 'resource' | 'neededScopes'>

/** The user of a session. */
export interface SignedIn {
  readonly user: UserProxy
  /** Names the session; it is not the identifier in the cookie. */
  readonly sessionId: string
  /** Milliseconds since the epoch; null: of the application's own session we do not know. */
  readonly loggedInAt: number | null
}

/** A session as guards need it: the signed-in user, and the proof that its own page is asking. */
export interface SessionCheck {
  signedIn(
    credentials: Pick<PresentedCredentials, 'cookie' | 'address' | 'userAgent' | 'raw'>,
  ): Promise<SignedIn | undefined>
  /** Why the JWT in the headers does not belong to the session; undefined where it does. */
  jwtRefusal(headers: Headers, signedIn: SignedIn): Promise<JWTExtendedException | undefined>
}

/** What was presented, and why it is not enough for a guard that wants more than an anonymous caller, where that has a reason. */
export interface AuthResult {
  readonly auth: Auth
  /** Why an anonymous caller is one, although something was presented. */
  readonly refusal?: Error
  /** What the request is for, where that is not the whole application. */
  readonly resource?: string | undefined
  /** Whether a token came by the scheme DPoP, in which its refusal is then answered. RFC 9449 §7.2 */
  readonly isDpop?: boolean
}

export const anonymous: Auth = Object.freeze({
  kind: 'anonymous',
  user: null,
  client: null,
  tokenId: null,
  authorizationId: null,
  scopes: [],
})

/** An access token at a guard. */
export interface PresentedToken {
  readonly scheme: 'bearer' | 'dpop' | 'query'
  readonly accessToken: string
  readonly credentials: PresentedCredentials
}

/** What became of an access token that was presented. */
export type LookupOutcome = 'valid' | 'unknown' | 'expired' | 'inactive' | 'misplaced'
