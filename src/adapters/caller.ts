import type { Refusal } from '../http/refusal.ts'
import type { AuthResult, PresentedCredentials } from '../model/auth.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import type { LookAhead } from './asked-scopes.ts'

/** The authenticated caller of a request, and the server that authenticated it. */
export interface Caller {
  readonly server: AuthorizationServer
  readonly result: AuthResult
  /** The scopes that the guards of its route require, as far as the framework reveals them. */
  readonly ahead: LookAhead
  /** The scopes of the guards that the request has passed. */
  readonly passed: Set<string>
}

export interface RestOptions {
  /** The resource that this part of the application is: one of the server's `resources` (RFC 8707 §2). */
  readonly resource?: string
  /**
   * Accepts only tokens that were issued for this resource (RFC 9068 §4), so neither tokens for the whole application
   * nor personal tokens. Sessions are not affected.
   */
  readonly requireAudience?: boolean
}

/** The credentials of a request, and its target. */
export interface SentCredentials extends PresentedCredentials {
  /** The request target as the client sent it, if the framework knows it. */
  readonly target: string
}

/** Authenticates a request. @throws errors that `server.refusalOf` converts to responses */
export type Identify = (credentials: SentCredentials, ahead: LookAhead) => Promise<Caller>

/**
 * Creates the REST extension for any framework: it refuses dot segments and forbidden query characters, and
 * authenticates the caller. This is the hook `verify_oauth_token_and_set_current_user` of the specification.
 * @throws TypeError for a resource that the server does not protect
 */
export const identifyAt = (
  server: AuthorizationServer,
  { resource: given, requireAudience }: RestOptions = {},
): Identify => {
  const resource = given === undefined ? undefined : server.resourceNamed(given).resource
  return async (credentials, ahead) => {
    server.checkTarget(credentials.target)
    server.checkQuery(credentials.query)
    const presented = { ...credentials, resource, requireAudience, neededScopes: ahead }
    const result = await server.resourceServer.resolve(presented)
    return { server, result, ahead, passed: new Set() }
  }
}

/** A guard: the requirements for a caller. */
export interface Guard {
  /** The required scopes. */
  readonly scopes: readonly string[]
  /** Returns the error that refuses a caller, or undefined. @param named the scopes for the challenge */
  refusal(caller: Caller, named: LookAhead): Error | undefined
}

/**
 * Returns the error by which a guard refuses a caller; undefined if it accepts the caller.
 * @param behind the scopes of the guards after this one
 */
export const refusalBy = (
  { scopes, refusal }: Guard,
  caller: Caller,
  behind: readonly string[] = [],
): Error | undefined => {
  const { passed, ahead } = caller
  const named = () => [...new Set([...passed, ...ahead(), ...scopes, ...behind])]
  const refused = refusal(caller, named)
  if (!refused) for (const scope of scopes) passed.add(scope)
  return refused
}

export interface RequireApiAuthOptions {
  /** Accepts callers without a credential. An invalid credential is still refused. */
  readonly allowAnonymous?: boolean
}

export const apiAuth = ({ allowAnonymous = false }: RequireApiAuthOptions = {}): Guard => ({
  scopes: [],
  refusal({ server, result }, named) {
    if (allowAnonymous || result.auth.kind !== 'anonymous') return undefined
    return result.refusal ?? server.challenge(result, named())
  },
})

/** Creates a guard that requires scopes. @throws TypeError without a scope, since the guard would accept every token */
export const oauthScopes = (scopes: readonly string[], { any = false } = {}): Guard => {
  if (scopes.length === 0 || !scopes.every((scope) => typeof scope === 'string' && scope !== '')) {
    throw new TypeError('A scope guard needs at least one scope id.')
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
      return passes ? undefined : server.challenge(result, named())
    },
  }
}

/**
 * Returns the caller that the REST extension authenticated.
 * @throws Error if the REST extension did not run
 */
export const mustBeIdentified = (caller: Caller | undefined): Caller => {
  if (!caller) throw new Error('A guard runs before rest(server), which must be mounted first.')
  return caller
}

/**
 * Headers of every response of the REST application: its URL may contain a token, which must not reach a cache or the
 * log of another site (RFC 6750 §5.3).
 */
export const protectiveHeaders = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
} as const

// Scripts of every origin may read the challenge, without credentials of the browser (RFC 9728 §5.1).
const readableHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, DPoP-Nonce, Retry-After',
}

/**
 * Returns the headers of a refusal. Scripts of other sites can read a challenge and `Retry-After`.
 * @param isSet whether the application has set a header of this name, which then stays
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
