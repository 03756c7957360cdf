import type { JWTExtendedException } from './jwt-error.ts'
import type { Token } from './token.ts'
import type { UserProxy } from './user.ts'

/** The caller of a request. A caller without valid credentials is anonymous. */
export interface Auth {
  readonly kind: 'anonymous' | 'session' | 'personal_token' | 'access_token'
  /** Null for an anonymous caller, and for an ownerless client that acts on its own behalf. */
  readonly user: UserProxy | null
  /** The client application; null for anonymous callers, sessions and personal tokens. */
  readonly client: { readonly clientId: string; readonly name: string } | null
  readonly tokenId: number | null
  readonly authorizationId: number | null
  /** The scopes of a token; null for a session, because scopes do not limit a session. */
  readonly scopes: readonly string[] | null
}

/** The parts of a request that a guard reads. */
export interface PresentedCredentials {
  /** All `Authorization` headers, joined by a comma. */
  readonly authorization: string | null
  readonly cookie: string | null
  readonly method: string
  /** The path as the client sent it. */
  readonly path: string
  /** The raw query. */
  readonly query: string
  /** The requested resource; undefined for the whole application. RFC 8707 §2. */
  readonly resource?: string | undefined
  /** Whether to refuse tokens that were not issued for exactly this resource. RFC 9068 §4. */
  readonly requireAudience?: boolean | undefined
  /** Returns the scopes that the operation requires, for the challenge. Absent if these scopes are unknown. */
  readonly neededScopes?: (() => readonly string[]) | undefined
  readonly address: string
  readonly userAgent: string
  /** The request object of the framework, which the application's `resourceOwner` receives. */
  readonly raw?: unknown
  /** Returns all headers of the request. */
  readonly headers: () => Headers
}

/** The parts of a request that a challenge names. */
export type Operation = Pick<PresentedCredentials, 'resource' | 'neededScopes'>

/** The user of a session. */
export interface SignedIn {
  readonly user: UserProxy
  /** The public ID of the session, which differs from the secret identifier in the cookie. */
  readonly sessionId: string
  /**
   * The time of the login in milliseconds since the epoch; null for a session of the application, whose login time is
   * unknown.
   */
  readonly loggedInAt: number | null
  /** The methods of the login (RFC 8176); undefined if unknown. */
  readonly amr?: readonly string[] | undefined
  /** The class of the login, if the application reports one (OpenID Connect Core §2, `acr`). */
  readonly acr?: string | undefined
}

/** Finds the session of a request for the guards, and verifies that the request comes from a page of that session. */
export interface SessionCheck {
  /** Returns the signed-in user of a request; undefined without a valid session. */
  signedIn(
    credentials: Pick<PresentedCredentials, 'cookie' | 'address' | 'userAgent' | 'raw'>,
  ): Promise<SignedIn | undefined>
  /** Returns the reason to refuse the JWT in the headers; undefined if the JWT belongs to the session. */
  jwtRefusal(headers: Headers, signedIn: SignedIn): Promise<JWTExtendedException | undefined>
}

/** The result of authenticating a request. */
export interface AuthResult {
  readonly auth: Auth
  /** The token of the request; undefined for a session and for an anonymous caller. @internal */
  readonly token?: Token
  /** The reason why presented credentials were refused. The caller is then anonymous. */
  readonly refusal?: Error
  /** The requested resource; undefined for the whole application. */
  readonly resource?: string | undefined
  /** Whether the client used the DPoP scheme. A refusal then uses this scheme in its challenge. RFC 9449 §7.2. */
  readonly isDpop?: boolean
  /** Additional headers of the response: the quota of the token. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export const anonymous: Auth = Object.freeze({
  kind: 'anonymous',
  user: null,
  client: null,
  tokenId: null,
  authorizationId: null,
  scopes: [],
})

/** An access token that was presented to a guard. */
export interface PresentedToken {
  readonly scheme: 'bearer' | 'dpop' | 'query'
  readonly accessToken: string
  readonly credentials: PresentedCredentials
}

/** The result of looking up a presented access token. */
export type LookupOutcome = 'valid' | 'unknown' | 'expired' | 'inactive' | 'misplaced'
