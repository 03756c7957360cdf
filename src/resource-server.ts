import type { JWTExtendedException } from './jwt-error.ts'
import { isWithin } from './model/scope.ts'
import { type FoundToken, isActive, isExpired } from './model/token.ts'
import type { UserProxy } from './model/user.ts'
import { AuthenticationRequired, OAuthError } from './oauth-error.ts'
import type { LookupOutcome } from './telemetry/telemetry.ts'

/** Who is asking, by whatever means. Anonymous is a kind too. */
export interface Auth {
  readonly kind: 'anonymous' | 'session' | 'personal_token' | 'access_token'
  /** Null where nobody is, and for a client that has no owner and acts for itself. */
  readonly user: UserProxy | null
  /** The client application; null for sessions and personal tokens. */
  readonly client: { readonly clientId: string; readonly name: string } | null
  readonly tokenId: number | null
  readonly authorizationId: number | null
  /** What a token may do; null for a session, which scopes do not limit. */
  readonly scopes: readonly string[] | null
}

/** The few strings of a request that a guard reads. */
export interface PresentedCredentials {
  /** All `Authorization` headers, joined by a comma. */
  readonly authorization: string | null
  readonly cookie: string | null
  /** The raw query. */
  readonly query: string
  readonly address: string
  readonly userAgent: string
  /** The framework's own request, for the application's `resourceOwner`. */
  readonly raw?: unknown
  /** All headers, for the verification of a session's JWT alone. */
  readonly headers: () => Headers
}

/** The user whom the cookie of a request names. */
export interface SignedIn {
  readonly user: UserProxy
  /** Names the session; it is not the identifier in the cookie. */
  readonly sessionId: string
}

/** A session as guards need it: the signed-in user, and the proof that its own page is asking. */
export interface SessionCheck {
  signedIn(
    credentials: Pick<PresentedCredentials, 'cookie' | 'address' | 'userAgent' | 'raw'>,
  ): Promise<SignedIn | undefined>
  /** Why the JWT in the headers does not belong to the session; undefined where it does. */
  jwtRefusal(headers: Headers, signedIn: SignedIn): Promise<JWTExtendedException | undefined>
}

/** What was presented, and why it is not enough for a guard that wants more than an anonymous caller. */
export interface Resolution {
  readonly auth: Auth
  /** What `requireApiAuth` answers; undefined for whoever is authenticated. */
  readonly refusal?: Error
}

export const anonymous: Auth = Object.freeze({
  kind: 'anonymous',
  user: null,
  client: null,
  tokenId: null,
  authorizationId: null,
  scopes: [],
})

export interface ResourceServerOptions {
  readonly getToken: (by: { readonly accessToken: string }) => Promise<FoundToken | undefined>
  readonly userProxy: (user: NonNullable<FoundToken['user']>) => UserProxy
  readonly session: SessionCheck
  readonly jwtAuthHeader: string
  readonly jwtAuthHeaderType: string | null
  readonly clock: () => number
  /** Told of every token that passes: it must not wait for anything. */
  readonly noteUse: (found: FoundToken, now: number, address: string) => void
  /** Told what became of every token that is presented. */
  readonly noteLookup: (outcome: LookupOutcome) => void
  readonly acceptQueryAccessToken: boolean
  readonly realm: string
  /** Where the metadata of the protected resource stands, which leads a client to us. RFC 9728 §5.1. */
  readonly resourceMetadata: string
}

const b64token = /^[A-Za-z0-9\-._~+/]+=*$/

/** The one place that decides who is asking: one credential decides, and never another in its stead. */
export class ResourceServer {
  readonly #options: ResourceServerOptions

  constructor(options: ResourceServerOptions) {
    this.#options = options
  }

  /**
   * Reads the credential of a request.
   * @throws OAuthError, JWTExtendedException for one that is not valid; never for none
   */
  async resolve(credentials: PresentedCredentials): Promise<Resolution> {
    const token = this.#presentedToken(credentials)
    if (token !== undefined) return { auth: await this.#authOf(token, credentials.address) }
    return this.#session(credentials)
  }

  /** The challenge for whoever presented nothing. RFC 6750 §3.1. */
  unauthenticated(): AuthenticationRequired {
    return new AuthenticationRequired(this.#bearer({}))
  }

  /** The refusal of a token that lacks scopes which the resource needs. RFC 6750 §3.1. */
  insufficientScope(needed: readonly string[]): OAuthError {
    return this.#challenge('insufficient_scope', 'The token lacks a scope that is needed.', {
      scope: needed.join(' '),
    })
  }

  /** What a caller is answered who was identified, but may not: undefined for whoever holds all the scopes. */
  challenge(auth: Auth, needed: readonly string[]): Error | undefined {
    if (auth.kind === 'anonymous') return this.unauthenticated()
    if (auth.scopes === null || isWithin(needed, auth.scopes)) return undefined
    return this.insufficientScope(needed)
  }

  // An opaque token wherever it stands; undefined where the session method is to decide.
  #presentedToken({ authorization, query }: PresentedCredentials): string | undefined {
    const inQuery = this.#options.acceptQueryAccessToken ? queryTokens(query) : []
    // A comma is in no credential that we take, so two headers were joined: RFC 9110 §5.3.
    if (
      inQuery.length > 1 ||
      (inQuery.length === 1 && authorization !== null) ||
      authorization?.includes(',')
    ) {
      throw this.#challenge('invalid_request', 'Give one credential, once.')
    }
    const [fromQuery] = inQuery
    if (fromQuery) return fromQuery
    const [, value] = /^bearer +(.+)$/i.exec(authorization ?? '') ?? []
    return value === undefined || (value.includes('.') && !isJwtAccessToken(value))
      ? undefined
      : value
  }

  async #authOf(accessToken: string, address: string): Promise<Auth> {
    const { getToken, userProxy, clock, noteUse, noteLookup } = this.#options
    const found = b64token.test(accessToken) ? await getToken({ accessToken }) : undefined
    if (!found) throw this.#refusedToken('unknown')
    const now = clock()
    if (isExpired(found.token.expires, now)) throw this.#refusedToken('expired')
    if (!isActive(found)) throw this.#refusedToken('inactive')
    noteLookup('valid')
    noteUse(found, now, address)
    const { token, user, client } = found
    return {
      kind: token.isPersonal ? 'personal_token' : 'access_token',
      user: user && userProxy(user),
      client: token.isPersonal ? null : { clientId: client.clientId, name: client.name },
      tokenId: token.id,
      authorizationId: token.authorizationId,
      scopes: token.scopes,
    }
  }

  async #session(credentials: PresentedCredentials): Promise<Resolution> {
    const { session, jwtAuthHeader, jwtAuthHeaderType } = this.#options
    const { authorization } = credentials
    const inAuthorization = jwtAuthHeader.toLowerCase() === 'authorization'
    const signedIn = await session.signedIn(credentials)
    if (!signedIn) {
      if (authorization === null) {
        // In a header of its own there can be nothing but a JWT, and that presents a session.
        if (!inAuthorization && credentials.headers().has(jwtAuthHeader))
          throw this.unauthenticated()
        return { auth: anonymous, refusal: this.unauthenticated() }
      }
      // A dotted value is a JWT: without its session it says nothing about anybody, so no error is named.
      throw mayBeJwt(authorization, jwtAuthHeaderType)
        ? this.unauthenticated()
        : this.#invalidToken()
    }
    if (authorization !== null && !inAuthorization) throw this.#invalidToken()
    const headers = credentials.headers()
    const refusal = await session.jwtRefusal(headers, signedIn)
    if (!refusal)
      return { auth: { ...anonymous, kind: 'session', user: signedIn.user, scopes: null } }
    if (!headers.has(jwtAuthHeader)) return { auth: anonymous, refusal }
    throw refusal
  }

  // Whoever presents it learns nothing of why.
  #refusedToken(outcome: LookupOutcome): OAuthError {
    this.#options.noteLookup(outcome)
    return this.#invalidToken()
  }

  #invalidToken(): OAuthError {
    return this.#challenge('invalid_token', 'The access token is not valid.')
  }

  #challenge(
    code: 'invalid_request' | 'invalid_token' | 'insufficient_scope',
    description: string,
    more: Readonly<Record<string, string>> = {},
  ): OAuthError {
    return new OAuthError(code, description, {
      headers: {
        'www-authenticate': this.#bearer({ error: code, error_description: description, ...more }),
      },
    })
  }

  #bearer(error: Readonly<Record<string, string>>): string {
    const { realm, resourceMetadata } = this.#options
    const parts = { realm, ...error, resource_metadata: resourceMetadata }
    return `Bearer ${Object.entries(parts)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`
  }
}

const mayBeJwt = (authorization: string, headerType: string | null): boolean => {
  const words = ['bearer ', headerType === null ? '' : `${headerType.toLowerCase()} `]
  return (
    authorization.includes('.') &&
    words.some((word) => authorization.toLowerCase().startsWith(word))
  )
}

// A JWT of this type is an access token (RFC 9068 §2.1); every other belongs to the session method.
const isJwtAccessToken = (value: string): boolean => {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(value.split('.', 1)[0] ?? '', 'base64url').toString(),
    )
    const type =
      typeof header === 'object' && header !== null && 'typ' in header ? header.typ : undefined
    return typeof type === 'string' && /^(?:application\/)?at\+jwt$/i.test(type)
  } catch {
    return false
  }
}

// Read from the raw query, so that a doubled parameter is seen and no framework's reading of it counts.
// Most queries hold neither the name nor an encoding of it, and need not be taken apart.
const queryTokens = (query: string): readonly string[] =>
  /access_token|%/.test(query) ? new URLSearchParams(query).getAll('access_token') : []
