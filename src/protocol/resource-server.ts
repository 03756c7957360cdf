import { SpanStatusCode, trace } from '@opentelemetry/api'
import { signatureAlgorithms } from '../crypto/jose.ts'
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
import { type ProtectedResource, resourceMetadataAddress } from '../model/protected-resource.ts'
import { isWithin } from '../model/scope.ts'
import { type FoundToken, isActive, isExpired, isFor, isIssuedFor } from '../model/token.ts'
import { UserProxy, type UserSource } from '../model/user.ts'
import type { Limits } from '../records/limits.ts'
import type { TokenUses } from '../records/tokens/token-uses.ts'
import type { Settings } from '../settings/settings.ts'

/** The parts of the server with which a resource server checks credentials. */
interface CheckingServer {
  readonly issuer: string
  readonly resources: readonly ProtectedResource[]
  readonly settings: Settings
  readonly clock: () => number
  readonly limits: Pick<Limits, 'check' | 'spend' | 'countFailure'>
  readonly sessions: SessionCheck
  readonly users: UserSource
  readonly extensions: readonly {
    onProtectedRequest?(
      presented: PresentedToken,
      found: FoundToken,
      server: CheckingServer,
    ): void | Promise<void>
  }[]
  getToken(by: { readonly accessToken: string }): Promise<FoundToken | undefined>
}

/** Receives what a resource server observes. No method may block. */
interface TokenObservers {
  readonly uses: Pick<TokenUses, 'note' | 'noteScopes'>
  /** Counts the outcomes of look-ups; undefined without metrics. */
  readonly telemetry: { tokenLookup(outcome: LookupOutcome): void } | undefined
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
  readonly #server: CheckingServer
  readonly #observers: TokenObservers
  /** The extensions that check tokens. */
  readonly #checks: CheckingServer['extensions']
  /** The URLs of the metadata of the resources, which name this server. RFC 9728 §5.1. */
  readonly #metadata: ReadonlyMap<string, string>
  /** The signature algorithms of proofs, separated by spaces. RFC 9449 §7.1. */
  readonly #proofAlgorithms: string

  /** @internal */
  constructor(server: CheckingServer, observers: TokenObservers) {
    const { extensions, resources, settings } = server
    this.#server = server
    this.#observers = observers
    this.#checks = extensions.filter(({ onProtectedRequest }) => onProtectedRequest)
    this.#metadata = new Map(
      resources.map(({ resource }) => [resource, resourceMetadataAddress(resource)]),
    )
    this.#proofAlgorithms = signatureAlgorithms(settings).join(' ')
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
    if (this.#server.settings.dpop !== 'required') return new AuthenticationRequired(bearer)
    // A client reads only the challenge of its scheme, so each challenge contains all parameters. Keep the Bearer
    // challenge, because personal tokens are not bound to keys.
    const dpop = challengeOf('DPoP', this.#parts({ algs: this.#proofAlgorithms }, operation))
    return new AuthenticationRequired(`${bearer}, ${dpop}`)
  }

  /** Returns the error for a token that lacks a required scope. RFC 6750 §3.1. */
  insufficientScope(operation: Operation): OAuthError {
    return this.#challenge('insufficient_scope', lacksScope, operation)
  }

  /** Records the scopes that a guard required from a personal token, for the hint about unused scopes. */
  noteScopes({ kind, tokenId }: Auth, scopes: readonly string[]): void {
    if (kind === 'personal_token' && tokenId !== null)
      this.#observers.uses.noteScopes(tokenId, scopes)
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
    const algs = this.#proofAlgorithms
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
      scheme.toLowerCase() !== this.#server.settings.jwtAuthHeaderType?.toLowerCase()
    )
  }

  // Returns the presented access token; undefined if only a session can authenticate the request.
  #presentedToken(credentials: PresentedCredentials): PresentedToken | undefined {
    const { authorization, query } = credentials
    const inQuery = this.#server.settings.acceptQueryAccessToken ? queryTokens(query) : []
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
    const { users, clock, limits, settings, issuer } = this.#server
    const { accessToken, credentials } = presented
    const { address } = credentials
    limits.check('wrongTokens', address)
    const found = b64token.test(accessToken) ? await this.#find(accessToken) : undefined
    if (!found) {
      await limits.countFailure('wrongTokens', address)
      throw this.#refusedToken('unknown', presented)
    }
    const now = clock()
    if (isExpired(found.token.expires, now)) throw this.#refusedToken('expired', presented)
    if (!isActive(found)) throw this.#refusedToken('inactive', presented)
    if (!this.#hasRightScheme(presented, found)) throw this.#refusedToken('misplaced', presented)
    if (!this.#isForHere(presented, found)) {
      const { resource = issuer } = credentials
      throw this.#refusedToken('misplaced', presented, issuedForAnother(resource))
    }
    for (const check of this.#checks) {
      const checking = check.onProtectedRequest?.(presented, found, this.#server)
      if (checking) await checking
    }
    const headers = settings.tokenQuota > 0 ? await this.#spend(found) : undefined
    this.#observers.telemetry?.tokenLookup('valid')
    this.#observers.uses.note(found, now, address)
    const { token, user, client } = found
    const auth: Auth = {
      kind: token.isPersonal ? 'personal_token' : 'access_token',
      user: user && new UserProxy(user, users),
      client: token.isPersonal ? null : { clientId: client.clientId, name: client.name },
      tokenId: token.id,
      authorizationId: token.authorizationId,
      scopes: token.scopes,
    }
    return { auth, token, headers }
  }

  /** Looks up a token, in a span of its own if the request is traced. */
  #find(accessToken: string): Promise<FoundToken | undefined> {
    const lookup = () => this.#server.getToken({ accessToken })
    if (trace.getActiveSpan() === undefined) return lookup()
    const tracer = trace.getTracer('svc-oauth2server')
    return tracer.startActiveSpan('oauth2server.token_lookup', async (span) => {
      try {
        return await lookup()
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    })
  }

  /**
   * Counts a request with a token. A child token shares the quota of its parent.
   * @returns the headers that inform the client about its quota (draft-ietf-httpapi-ratelimit-headers §3, §4)
   * @throws OAuthError 429 with these headers
   */
  async #spend({ token: { id, parentId } }: FoundToken): Promise<Readonly<Record<string, string>>> {
    const { limits, settings } = this.#server
    const points = settings.tokenQuota
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
    const { dpop } = this.#server.settings
    const isBound = token.keyThumbprint !== null
    if ((scheme === 'dpop') !== isBound || (isBound && dpop === 'off')) return false
    // A personal token is never bound to a key.
    return isBound || dpop !== 'required' || token.isPersonal
  }

  // A restricted token is valid only for its resources.
  #isForHere({ credentials }: PresentedToken, { token }: FoundToken): boolean {
    const { issuer } = this.#server
    const { resource = issuer, requireAudience = false } = credentials
    return (requireAudience ? isIssuedFor : isFor)(token, resource, issuer)
  }

  async #session(credentials: PresentedCredentials): Promise<AuthResult> {
    const { sessions, settings } = this.#server
    const { jwtAuthHeader, jwtAuthHeaderType } = settings
    const { authorization } = credentials
    const inAuthorization = jwtAuthHeader.toLowerCase() === 'authorization'
    const signedIn = await sessions.signedIn(credentials)
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
    const refusal = await sessions.jwtRefusal(headers, signedIn)
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
    this.#observers.telemetry?.tokenLookup(outcome)
    const refused = this.#challenge('invalid_token', description, credentials)
    // Send the challenge in the scheme of the request (RFC 9449 §7.2) if this server supports the scheme.
    return scheme === 'dpop' && this.#server.settings.dpop !== 'off'
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
    const { issuer } = this.#server
    const needed = neededScopes()
    const scopes = needed.join(' ')
    const scope = scopes === '' || scopes.length > maxScopesLength ? {} : { scope: scopes }
    const metadata = this.#metadata.get(resource ?? issuer) ?? ''
    return { realm: issuer, ...error, ...scope, resource_metadata: metadata }
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
