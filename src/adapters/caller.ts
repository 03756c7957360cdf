import type { Refusal } from '../http/refusal.ts'
import type { AuthResult, PresentedCredentials } from '../model/auth.ts'
import { flag, onlyMembers, text } from '../model/members.ts'
import type { PageSession } from '../protocol/session/page-session.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import type { LookAhead } from './asked-scopes.ts'

/** The authenticated or anonymous caller of a request, and the server that identified the caller. */
export interface Caller {
  readonly server: AuthorizationServer
  readonly result: AuthResult
  /** The headers of the response of the application. */
  readonly headers: Readonly<Record<string, string>>
  /** Returns the scopes that the guards on the route require. */
  readonly ahead: LookAhead
  /** The scopes of the guards that the request has passed. */
  readonly passed: Set<string>
}

/** The options of `rest`. */
export interface RestOptions {
  /** The identifier of this part of the application in the server's `resources` (RFC 8707 §2). */
  readonly resource?: string
  /**
   * Whether to accept only sessions, and tokens that were issued for exactly this resource (RFC 9068 §4). With
   * `resource`, the server then refuses personal tokens and tokens for the whole application.
   */
  readonly requireAudience?: boolean
}

/** The credentials of a request, and its target. */
export interface SentCredentials extends PresentedCredentials {
  /** The request target as the client sent it; the parsed URL if the framework does not reveal the target. */
  readonly target: string
}

/** Authenticates a request. @throws errors that `server.refusalOf` converts to responses */
export type Identify = (credentials: SentCredentials, ahead: LookAhead) => Promise<Caller>

const checkOptions = onlyMembers<RestOptions>('rest()', { resource: text, requireAudience: flag })

/**
 * Creates the framework-independent part of the REST extension. The REST extension refuses invalid request targets
 * and forbidden query characters, and authenticates the caller. The specification names this hook
 * `verify_oauth_token_and_set_current_user`.
 * @throws TypeError for a resource that the server does not protect
 */
export const identifyAt = (server: AuthorizationServer, options: RestOptions = {}): Identify => {
  checkOptions(options)
  const { resource: given, requireAudience } = options
  const resource = given === undefined ? undefined : server.resourceNamed(given).resource
  return async (credentials, ahead) => {
    server.checkTarget(credentials.target)
    server.checkQuery(credentials.query)
    const presented = { ...credentials, resource, requireAudience, neededScopes: ahead }
    const result = await server.resourceServer.resolve(presented)
    const headers = result.headers ? { ...protectiveHeaders, ...result.headers } : protectiveHeaders
    return { server, result, headers, ahead, passed: new Set() }
  }
}

/** A check of the caller, which works with every framework. */
export interface Guard {
  /** The required scopes. */
  readonly scopes: readonly string[]
  /**
   * Returns the error for a refused caller; otherwise undefined.
   * @param named a function that returns the scopes to list in the challenge
   */
  refusal(caller: Caller, named: LookAhead): Error | undefined
}

/**
 * Applies a guard to a caller. Returns the error if the guard refuses the caller. Otherwise, records the scopes of the
 * guard as passed and returns undefined.
 * @param laterScopes the scopes of guards that run later, and that `caller.ahead` does not return
 */
export const refusalBy = (
  { scopes, refusal }: Guard,
  caller: Caller,
  laterScopes: readonly string[] = [],
): Error | undefined => {
  const { passed, ahead } = caller
  const named = () => [...new Set([...passed, ...ahead(), ...scopes, ...laterScopes])]
  const refused = refusal(caller, named)
  if (!refused) for (const scope of scopes) passed.add(scope)
  return refused
}

/** The options of `requireApiAuth`. */
export interface RequireApiAuthOptions {
  /**
   * Whether to accept callers without a credential. A request with a session cookie, but without the JWT of the
   * page, counts as a request without a credential. An invalid credential is always refused.
   */
  readonly allowAnonymous?: boolean
}

const checkAuthOptions = onlyMembers<RequireApiAuthOptions>('requireApiAuth()', {
  allowAnonymous: flag,
})

/** Creates a guard that requires an authenticated caller. @throws TypeError for an unknown option */
export const apiAuth = (options: RequireApiAuthOptions = {}): Guard => {
  checkAuthOptions(options)
  const { allowAnonymous = false } = options
  return {
    scopes: [],
    refusal({ server, result }, named) {
      if (allowAnonymous || result.auth.kind !== 'anonymous') return undefined
      return result.refusal ?? server.challenge(result, named())
    },
  }
}

/**
 * Creates a guard that requires all scopes of a list, or with `any` at least one.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const oauthScopes = (scopes: readonly string[], { any = false } = {}): Guard => {
  if (scopes.length === 0 || !scopes.every((scope) => typeof scope === 'string' && scope !== '')) {
    throw new TypeError(
      'A scope guard requires at least one scope ID, and no scope ID may be empty.',
    )
  }
  const suffice = (held: readonly string[]): boolean =>
    any ? scopes.some((scope) => held.includes(scope)) : scopes.every((s) => held.includes(s))
  return {
    scopes,
    refusal({ server, result }, named) {
      const { auth, refusal } = result
      if (refusal) return refusal
      const { kind, scopes: held } = auth
      const passes = kind !== 'anonymous' && (held === null || suffice(held))
      if (!passes) return server.challenge(result, named())
      // Record which scopes of the token were used. With `any`, the application may use every listed scope that the
      // token holds.
      if (held) server.resourceServer.noteScopes(auth, any ? shared(scopes, held) : scopes)
      return undefined
    },
  }
}

const shared = (scopes: readonly string[], held: readonly string[]): readonly string[] =>
  scopes.filter((scope) => held.includes(scope))

/**
 * Returns the caller that the REST extension authenticated.
 * @throws Error if the REST extension did not run
 */
export const mustBeIdentified = (caller: Caller | undefined): Caller => {
  if (!caller) throw new Error('A guard ran before rest(server). Mount rest(server) first.')
  return caller
}

/** Returns the session that `page(server)` found. @throws Error if `page(server)` did not run */
export const mustBePage = (session: PageSession | undefined): PageSession => {
  if (!session) throw new Error('page(server) must run before pageOf(request).')
  return session
}

/**
 * The headers of every response of the REST application. The URL of a request may contain an access token, so caches
 * must not store the response, and browsers must not send the URL to other sites (RFC 6750 §5.3).
 */
export const protectiveHeaders = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
} as const

export const allowOrigin = 'access-control-allow-origin'

/** Whether a header gives scripts of other sites access. @param name in lower case */
export const isCorsHeader = (name: string): boolean => name.startsWith('access-control-')

/** Whether the value of `allowOrigin` names an origin, which also permits credentials. */
export const isOneOrigin = (value: unknown): boolean => typeof value === 'string' && value !== '*'

// Scripts of every origin may read the challenge (RFC 9728 §5.1). The value `*` does not apply to requests with
// cookies.
const readableHeaders = {
  [allowOrigin]: '*',
  'access-control-expose-headers': 'WWW-Authenticate, DPoP-Nonce, Retry-After',
}

/**
 * Returns the headers of a refusal. CORS headers let scripts of other sites read the challenge and `Retry-After`.
 * @param isSet returns whether the application has already set a header. CORS headers of the application are not
 * replaced.
 */
export const refusalHeaders = (
  { headers }: Refusal,
  isSet: (name: string) => boolean = () => false,
): Readonly<Record<string, string>> => {
  const isForScripts = 'www-authenticate' in headers || 'retry-after' in headers
  const readable = isForScripts ? Object.entries(readableHeaders) : []
  const added = readable.filter(([name]) => !isSet(name))
  return { ...protectiveHeaders, ...headers, ...Object.fromEntries(added) }
}
