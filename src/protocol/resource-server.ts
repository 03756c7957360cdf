import type {
  Auth,
  AuthResult,
  LookupOutcome,
  Operation,
  PresentedCredentials,
  PresentedToken,
  SessionCheck,
} from '../model/auth.ts'
import { anonymous } from '../model/auth.ts'
import { checkHeaderLengths } from '../model/bounds.ts'
import { AuthenticationRequired, OAuthError } from '../model/oauth-error.ts'
import { isNamed } from '../model/parameters.ts'
import { isWithin } from '../model/scope.ts'
import { type FoundToken, isActive, isExpired, isFor, isIssuedFor } from '../model/token.ts'
import type { UserProxy } from '../model/user.ts'
import type { Limits } from '../records/limits.ts'

/** The functions and settings with which a resource server checks credentials. */
export interface ResourceServerOptions {
  readonly getToken: (by: { readonly accessToken: string }) => Promise<FoundToken | undefined>
  readonly userProxy: (user: NonNullable<FoundToken['user']>) => UserProxy
  readonly session: SessionCheck
  readonly jwtAuthHeader: string
  readonly jwtAuthHeaderType: string | null
  readonly clock: () => number
  /** Called for every accepted token. The function must not block. */
  readonly noteUse: (found: FoundToken, now: number, address: string) => void
  /** Called with the scopes that a guard required from a personal token. The function must not block. */
  readonly noteScopes: (tokenId: number, scopes: readonly string[]) => void
  /** Called with the outcome of a token look-up. */
  readonly noteLookup: (outcome: LookupOutcome) => void
  readonly limits: Pick<Limits, 'check' | 'spend' | 'countFailure'>
  /** The maximum number of uses of a token per minute; 0 for no maximum. */
  readonly tokenQuota: number
  readonly acceptQueryAccessToken: boolean
  readonly realm: string
  /**
   * Returns the URL of the metadata of a protected resource. The metadata names this server. RFC 9728 §5.1.
   */
  readonly resourceMetadata: (resource?: string) => string
  /** Whether tokens that are bound to keys are accepted (RFC 9449). */
  readonly acceptsDpop: boolean
  /** Whether all tokens except personal tokens must be bound to keys. */
  readonly requiresDpop: boolean
  /** The signature algorithms of proofs, separated by spaces. RFC 9449 §7.1. */
  readonly dpopAlgorithms: string
  /** Checks that the request may use a valid token. @throws OAuthError */
  readonly check: (presented: PresentedToken, found: FoundToken) => void | Promise<void>
}

const lacksScope = 'The token lacks a required scope.'
const notValid = 'The access token is not valid.'
// Reveal the reason, because the client has a valid token and must request another token for this resource.
const issuedForAnother = (resource: string): string =>
  `The access token was not issued for this resource. Request a token with resource=${resource}`

// Several `Authorization` headers arrive joined by commas, so the scheme can also follow a comma.
const servedScheme = /(?:^|,) *(?:bearer|dpop)(?: |$)/i

const b64token = /^[A-Za-z0-9\-._~+/]+=*$/

/** Authenticates requests to the REST application. A request may present only one credential. */
export class ResourceServer {
  readonly #options: ResourceServerOptions

  constructor(options: ResourceServerOptions) {
    this.#options = options
  }

  /**
   * Authenticates a request. The result for a request without a credential is `anonymous`.
   * @throws OAuthError, JWTExtendedException for an invalid credential, 429 if a limit is reached, or 431 for a credential
   * that is too long
   */
  async resolve(request: PresentedCredentials): Promise<AuthResult> {
    checkHeaderLengths([request.authorization ?? '', request.cookie ?? ''])
    const credentials = this.#hasForeignScheme(request.authorization)
      ? { ...request, authorization: null }
      : request
    const presented = this.#presentedToken(credentials)
    const { resource } = credentials
    if (!presented) return { ...(await this.#session(credentials)), resource }
    const result = await this.#authOf(presented)
    return presented.scheme === 'dpop'
      ? { ...result, resource, isDpop: true }
      : { ...result, resource }
  }

  /** Returns the challenge for a request without a credential, including the required scopes. RFC 6750 §3.1. */
  unauthenticated(operation: Operation = {}): AuthenticationRequired {
    const bearer = this.#bearer({}, operation)
    const { requiresDpop, dpopAlgorithms: algs } = this.#options
    if (!requiresDpop) return new AuthenticationRequired(bearer)
    // A client reads only the challenge of its scheme, so each challenge contains all parameters. Keep the Bearer
    // challenge, because personal tokens are not bound to keys.
    const dpop = challengeOf('DPoP', this.#parts({ algs }, operation))
    return new AuthenticationRequired(`${bearer}, ${dpop}`)
  }

  /** Returns the error for a token that lacks a required scope. RFC 6750 §3.1. */
  insufficientScope(operation: Operation): OAuthError {
    return this.#challenge('insufficient_scope', lacksScope, operation)
  }

  /** Records the scopes that a guard required from a personal token, for the hint about unused scopes. */
  noteScopes({ kind, tokenId }: Auth, scopes: readonly string[]): void {
    if (kind === 'personal_token' && tokenId !== null) this.#options.noteScopes(tokenId, scopes)
  }

  /** Returns the error for a caller without the required scopes, or undefined for a caller with all of them. */
  challenge(
    { auth, resource, isDpop = false }: Pick<AuthResult, 'auth' | 'resource' | 'isDpop'>,
    needed: readonly string[],
  ): Error | undefined {
    const operation = { resource, neededScopes: () => needed }
    if (auth.kind === 'anonymous') return this.unauthenticated(operation)
    if (auth.scopes === null || isWithin(needed, auth.scopes)) return undefined
    return isDpop
      ? this.dpopRefusal('insufficient_scope', lacksScope, operation)
      : this.insufficientScope(operation)
  }

  /** Returns the error for a token that is not valid for this request. The error does not reveal the reason. */
  invalidToken(operation: Operation = {}): OAuthError {
    return this.#challenge('invalid_token', notValid, operation)
  }

  /**
   * Returns an error with a challenge in the DPoP scheme. RFC 9449 §7.1.
   * @param headers additional headers of the response
   */
  dpopRefusal(
    code: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce',
    description: string,
    operation: Operation = {},
    headers: Readonly<Record<string, string>> = {},
  ): OAuthError {
    const { dpopAlgorithms: algs } = this.#options
    const parts = this.#parts({ error: code, error_description: description, algs }, operation)
    return new OAuthError(code, description, {
      status: code === 'insufficient_scope' ? 403 : 401,
      headers: { 'www-authenticate': challengeOf('DPoP', parts), ...headers },
    })
  }

  // A header with another scheme is no credential for this server. For example, a proxy may require `Basic`.
  #hasForeignScheme(authorization: string | null): boolean {
    if (authorization === null || servedScheme.test(authorization)) return false
    const [, scheme] = /^([\w!#$%&'*+.^`|~-]+) +\S/.exec(authorization) ?? []
    return (
      scheme !== undefined &&
      scheme.toLowerCase() !== this.#options.jwtAuthHeaderType?.toLowerCase()
    )
  }

  // Returns the presented access token; undefined if only a session can authenticate the request.
  #presentedToken(credentials: PresentedCredentials): PresentedToken | undefined {
    const { authorization, query } = credentials
    const inQuery = this.#options.acceptQueryAccessToken ? queryTokens(query) : []
    // A comma means that two headers were joined (RFC 9110 §5.3): no accepted credential contains a comma.
    if (
      inQuery.length > 1 ||
      (inQuery.length === 1 && authorization !== null) ||
      authorization?.includes(',')
    ) {
      throw this.#challenge('invalid_request', 'Send exactly one credential.', credentials)
    }
    const [fromQuery] = inQuery
    // Treat an empty value as an invalid token. Otherwise, the session would authenticate the request instead.
    if (fromQuery !== undefined) return { scheme: 'query', accessToken: fromQuery, credentials }
    const [, scheme, value] = /^(bearer|dpop) +([^ ].*)$/is.exec(authorization ?? '') ?? []
    if (scheme === undefined || value === undefined) return undefined
    const isDpop = scheme.length === 4
    // In the Bearer scheme, a value with a dot can also be the JWT of a session.
    if (!isDpop && value.includes('.') && !isJwtAccessToken(value)) return undefined
    return { scheme: isDpop ? 'dpop' : 'bearer', accessToken: value, credentials }
  }

  async #authOf(
    presented: PresentedToken,
  ): Promise<Pick<AuthResult, 'auth' | 'token' | 'headers'>> {
    const { getToken, userProxy, clock, noteUse, noteLookup, check, limits } = this.#options
    const { accessToken, credentials } = presented
    const { address } = credentials
    limits.check('wrongTokens', address)
    const found = b64token.test(accessToken) ? await getToken({ accessToken }) : undefined
    if (!found) {
      await limits.countFailure('wrongTokens', address)
      throw this.#refusedToken('unknown', presented)
    }
    const now = clock()
    if (isExpired(found.token.expires, now)) throw this.#refusedToken('expired', presented)
    if (!isActive(found)) throw this.#refusedToken('inactive', presented)
    if (!this.#hasRightScheme(presented, found)) throw this.#refusedToken('misplaced', presented)
    if (!this.#isForHere(presented, found)) {
      const { resource = this.#options.realm } = credentials
      throw this.#refusedToken('misplaced', presented, issuedForAnother(resource))
    }
    const checking = check(presented, found)
    if (checking) await checking
    const headers = this.#options.tokenQuota > 0 ? await this.#spend(found) : undefined
    noteLookup('valid')
    noteUse(found, now, address)
    const { token, user, client } = found
    const auth: Auth = {
      kind: token.isPersonal ? 'personal_token' : 'access_token',
      user: user && userProxy(user),
      client: token.isPersonal ? null : { clientId: client.clientId, name: client.name },
      tokenId: token.id,
      authorizationId: token.authorizationId,
      scopes: token.scopes,
    }
    return { auth, token, headers }
  }

  /**
   * Counts a request with a token. A child token shares the quota of its parent.
   * @returns the headers that inform the client about its quota (draft-ietf-httpapi-ratelimit-headers §3, §4)
   * @throws OAuthError 429 with these headers
   */
  async #spend({ token: { id, parentId } }: FoundToken): Promise<Readonly<Record<string, string>>> {
    const { limits, tokenQuota: points } = this.#options
    const limit = { name: 'tokenQuota', points, seconds: 60 } as const
    try {
      const quota = await limits.spend(limit, '', String(parentId ?? id))
      return quota ? quotaHeaders(points, quota.left, Math.ceil(quota.wait / 1000)) : {}
    } catch (error) {
      if (!(error instanceof OAuthError) || error.status !== 429) throw error
      const { code, message, status, headers } = error
      const quota = quotaHeaders(points, 0, Number(headers['retry-after']))
      throw new OAuthError(code, message, { status, headers: { ...headers, ...quota } })
    }
  }

  // A bound token requires the DPoP scheme.
  #hasRightScheme({ scheme }: PresentedToken, { token }: FoundToken): boolean {
    const { acceptsDpop, requiresDpop } = this.#options
    const isBound = token.keyThumbprint !== null
    if ((scheme === 'dpop') !== isBound || (isBound && !acceptsDpop)) return false
    return isBound || !requiresDpop || token.isPersonal
  }

  // A restricted token is valid only for its resources.
  #isForHere({ credentials }: PresentedToken, { token }: FoundToken): boolean {
    const { realm } = this.#options
    const { resource = realm, requireAudience = false } = credentials
    return (requireAudience ? isIssuedFor : isFor)(token, resource, realm)
  }

  async #session(credentials: PresentedCredentials): Promise<AuthResult> {
    const { session, jwtAuthHeader, jwtAuthHeaderType } = this.#options
    const { authorization } = credentials
    const inAuthorization = jwtAuthHeader.toLowerCase() === 'authorization'
    const signedIn = await session.signedIn(credentials)
    if (!signedIn) {
      if (authorization === null) {
        // The request contains a JWT but no session, so the JWT is not valid.
        if (!inAuthorization && credentials.headers().has(jwtAuthHeader))
          throw this.unauthenticated(credentials)
        return { auth: anonymous }
      }
      // A value with a dot may be the JWT of an ended session, so return the challenge for a missing credential.
      throw mayBeJwt(authorization, jwtAuthHeaderType)
        ? this.unauthenticated(credentials)
        : this.invalidToken(credentials)
    }
    if (authorization !== null && !inAuthorization) throw this.invalidToken(credentials)
    const headers = credentials.headers()
    checkHeaderLengths([headers.get(jwtAuthHeader) ?? ''])
    const refusal = await session.jwtRefusal(headers, signedIn)
    if (!refusal)
      return { auth: { ...anonymous, kind: 'session', user: signedIn.user, scopes: null } }
    const isMissing = inAuthorization ? authorization === null : !headers.has(jwtAuthHeader)
    if (isMissing) return { auth: anonymous, refusal }
    throw refusal
  }

  #refusedToken(
    outcome: LookupOutcome,
    { scheme, credentials }: PresentedToken,
    description = notValid,
  ): OAuthError {
    this.#options.noteLookup(outcome)
    const refused = this.#challenge('invalid_token', description, credentials)
    // Send the challenge in the scheme of the request (RFC 9449 §7.2) if this server supports the scheme.
    return scheme === 'dpop' && this.#options.acceptsDpop
      ? this.dpopRefusal('invalid_token', refused.message, credentials)
      : refused
  }

  #challenge(
    code: 'invalid_request' | 'invalid_token' | 'insufficient_scope',
    description: string,
    operation: Operation,
  ): OAuthError {
    const error = { error: code, error_description: description }
    return new OAuthError(code, description, {
      headers: { 'www-authenticate': this.#bearer(error, operation) },
    })
  }

  #bearer(error: Readonly<Record<string, string>>, operation: Operation): string {
    return challengeOf('Bearer', this.#parts(error, operation))
  }

  #parts(
    error: Readonly<Record<string, string>>,
    { resource, neededScopes = () => [] }: Operation,
  ): Readonly<Record<string, string>> {
    const { realm, resourceMetadata } = this.#options
    const needed = neededScopes()
    const scopes = needed.join(' ')
    const scope = scopes === '' || scopes.length > maxScopesLength ? {} : { scope: scopes }
    return { realm, ...error, ...scope, resource_metadata: resourceMetadata(resource) }
  }
}

/**
 * The maximum number of characters of the scopes in a challenge. Clients and proxies refuse a response whose headers are
 * longer than 8 or 16 KB, and a challenge need not name the scopes (RFC 6750 §3).
 */
const maxScopesLength = 4_096

const challengeOf = (scheme: string, parts: Readonly<Record<string, string>>): string =>
  `${scheme} ${Object.entries(parts)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`

const mayBeJwt = (authorization: string, headerType: string | null): boolean => {
  const words = ['bearer ', headerType === null ? '' : `${headerType.toLowerCase()} `]
  return (
    authorization.includes('.') &&
    words.some((word) => authorization.toLowerCase().startsWith(word))
  )
}

// An access token has the JWT type `at+jwt` (RFC 9068 §2.1). Other JWTs can be the JWT of a session.
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

// Parse the raw query, because frameworks may drop a repeated parameter. The pattern avoids parsing if the query
// contains neither the name nor an encoded character.
const queryTokens = (query: string): readonly string[] => {
  if (!/access_token|%/.test(query)) return []
  const pairs = query.split('&').filter((pair) => isNamed(pair, 'access_token'))
  return new URLSearchParams(pairs.slice(0, 2).join('&')).getAll('access_token')
}

/** Returns the headers of a quota per minute. @param seconds the time until the quota is restored */
const quotaHeaders = (points: number, left: number, seconds: number) => ({
  'ratelimit-policy': `"token";q=${points};w=60`,
  ratelimit: `"token";r=${left};t=${seconds}`,
})
