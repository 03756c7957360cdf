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
import { AuthenticationRequired, OAuthError } from '../model/oauth-error.ts'
import { isWithin } from '../model/scope.ts'
import { type FoundToken, isActive, isExpired, isFor, isIssuedFor } from '../model/token.ts'
import type { UserProxy } from '../model/user.ts'
import type { Limits } from '../records/limits.ts'

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
  readonly limits: Pick<Limits, 'check' | 'consume' | 'countFailure'>
  /** How often within a minute a token can be used; 0: any number. */
  readonly tokenQuota: number
  readonly acceptQueryAccessToken: boolean
  readonly realm: string
  /** Where the metadata of a protected resource stands, which leads a client to us. RFC 9728 §5.1. */
  readonly resourceMetadata: (resource?: string) => string
  /** Whether tokens may be bound to keys (RFC 9449): where not, those that are can be used by nobody. */
  readonly acceptsDpop: boolean
  /** Whether they have to be, but for personal ones. */
  readonly requiresDpop: boolean
  /** By which a proof may be signed, separated by spaces. RFC 9449 §7.1. */
  readonly dpopAlgorithms: string
  /** Checks a valid token for the request that presents it. @throws OAuthError */
  readonly check: (presented: PresentedToken, found: FoundToken) => void | Promise<void>
}

const lacksScope = 'The token lacks a scope that is needed.'

const b64token = /^[A-Za-z0-9\-._~+/]+=*$/

/** The one place that decides who is asking: one credential decides, and never another in its stead. */
export class ResourceServer {
  readonly #options: ResourceServerOptions

  constructor(options: ResourceServerOptions) {
    this.#options = options
  }

  /**
   * Reads the credential of a request.
   * @throws OAuthError, JWTExtendedException for one that is not valid, never for none; 429 where a limit was reached
   */
  async resolve(credentials: PresentedCredentials): Promise<AuthResult> {
    const presented = this.#presentedToken(credentials)
    const { resource } = credentials
    if (!presented) return { ...(await this.#session(credentials)), resource }
    const auth = await this.#authOf(presented)
    return presented.scheme === 'dpop' ? { auth, resource, isDpop: true } : { auth, resource }
  }

  /** Returns the challenge for a request without a credential, with the required scopes. RFC 6750 §3.1. */
  unauthenticated(operation: Operation = {}): AuthenticationRequired {
    const bearer = this.#bearer({}, operation)
    const { requiresDpop, dpopAlgorithms: algs } = this.#options
    if (!requiresDpop) return new AuthenticationRequired(bearer)
    // Each is whole, since a client reads that of its own scheme alone. Personal tokens are bearer tokens here too.
    const dpop = challengeOf('DPoP', this.#parts({ algs }, operation))
    return new AuthenticationRequired(`${bearer}, ${dpop}`)
  }

  /** Returns the refusal of a token without a scope that the operation requires. RFC 6750 §3.1. */
  insufficientScope(operation: Operation): OAuthError {
    return this.#challenge('insufficient_scope', lacksScope, operation)
  }

  /** Returns the refusal of an authenticated caller, or undefined for a caller with all required scopes. */
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

  /** Returns the refusal of a token that is not valid for this request. It does not tell the caller why. */
  invalidToken(operation: Operation = {}): OAuthError {
    return this.#challenge('invalid_token', 'The access token is not valid.', operation)
  }

  /**
   * The refusal of a token that came by the scheme DPoP, or of the proof that came with it. RFC 9449 §7.1.
   * @param headers others that the answer has
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

  // An opaque token wherever it stands; undefined where the session method is to decide.
  #presentedToken(credentials: PresentedCredentials): PresentedToken | undefined {
    const { authorization, query } = credentials
    const inQuery = this.#options.acceptQueryAccessToken ? queryTokens(query) : []
    // A comma is in no credential that we take, so two headers were joined: RFC 9110 §5.3.
    if (
      inQuery.length > 1 ||
      (inQuery.length === 1 && authorization !== null) ||
      authorization?.includes(',')
    ) {
      throw this.#challenge('invalid_request', 'Give one credential, once.', credentials)
    }
    const [fromQuery] = inQuery
    // An empty one is a credential that is not valid: the request must not become anonymous or a session's.
    if (fromQuery !== undefined) return { scheme: 'query', accessToken: fromQuery, credentials }
    const [, scheme, value] = /^(bearer|dpop) +(.+)$/i.exec(authorization ?? '') ?? []
    if (scheme === undefined || value === undefined) return undefined
    const isDpop = scheme.length === 4
    // What has a dot behind another scheme than Bearer can be nothing but a token.
    if (!isDpop && value.includes('.') && !isJwtAccessToken(value)) return undefined
    return { scheme: isDpop ? 'dpop' : 'bearer', accessToken: value, credentials }
  }

  async #authOf(presented: PresentedToken): Promise<Auth> {
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
    if (!this.#isForHere(presented, found)) throw this.#refusedToken('misplaced', presented)
    const checking = check(presented, found)
    if (checking) await checking
    if (this.#options.tokenQuota > 0) await this.#spend(found)
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

  // What was narrowed from a token is no second one.
  async #spend({ token: { id, parentId } }: FoundToken): Promise<void> {
    const { limits, tokenQuota: points } = this.#options
    await limits.consume({ name: 'tokenQuota', points, seconds: 60 }, '', String(parentId ?? id))
  }

  // A token that is bound to a key or to resources is worth nothing without the one or elsewhere.
  #isForHere({ scheme, credentials }: PresentedToken, { token }: FoundToken): boolean {
    const { acceptsDpop, requiresDpop, realm } = this.#options
    const isBound = token.keyThumbprint !== null
    if ((scheme === 'dpop') !== isBound || (isBound && !acceptsDpop)) return false
    if (requiresDpop && !isBound && !token.isPersonal) return false
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
        // In a header of its own there can be nothing but a JWT, and that presents a session.
        if (!inAuthorization && credentials.headers().has(jwtAuthHeader))
          throw this.unauthenticated(credentials)
        return { auth: anonymous }
      }
      // A dotted value is a JWT: without its session it says nothing about anybody, so no error is named.
      throw mayBeJwt(authorization, jwtAuthHeaderType)
        ? this.unauthenticated(credentials)
        : this.invalidToken(credentials)
    }
    if (authorization !== null && !inAuthorization) throw this.invalidToken(credentials)
    const headers = credentials.headers()
    const refusal = await session.jwtRefusal(headers, signedIn)
    if (!refusal)
      return { auth: { ...anonymous, kind: 'session', user: signedIn.user, scopes: null } }
    if (!headers.has(jwtAuthHeader)) return { auth: anonymous, refusal }
    throw refusal
  }

  #refusedToken(outcome: LookupOutcome, { scheme, credentials }: PresentedToken): OAuthError {
    this.#options.noteLookup(outcome)
    const refused = this.invalidToken(credentials)
    // Who used that scheme is answered in it (RFC 9449 §7.2), as long as it means something here.
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
    const scope = needed.length === 0 ? {} : { scope: needed.join(' ') }
    return { realm, ...error, ...scope, resource_metadata: resourceMetadata(resource) }
  }
}

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
