import type { Refusal } from '../http/refusal.ts'
import type { AuthResult, PresentedCredentials } from '../model/auth.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import type { LookAhead } from './asked-scopes.ts'

/** Who sent a request, and the server that found out. */
export interface Caller {
  readonly server: AuthorizationServer
  readonly result: AuthResult
  /** The scopes that the guards of its route ask for, as far as they are known beforehand. */
  readonly ahead: LookAhead
  /** The scopes of the guards that it has passed. */
  readonly passed: Set<string>
}

export interface RestOptions {
  /** What the application behind it is, where it is not the whole: one of the server's `resources` (RFC 8707 §2). */
  readonly resource?: string
  /**
   * Lets in no token that was not issued for that resource (RFC 9068 §4): neither one for the whole application nor a
   * personal token. Sessions are no tokens.
   */
  readonly requireAudience?: boolean
}

/** What a request presents, and where it was sent. */
export interface SentCredentials extends PresentedCredentials {
  /** The request target as the client sent it, as far as the framework knows. */
  readonly target: string
}

/** Finds out who sent a request. @throws what `server.refusalOf` knows how to answer */
export type Identify = (credentials: SentCredentials, ahead: LookAhead) => Promise<Caller>

/**
 * The REST extension in every framework: refuses dot segments and characters that a query string must not
 * contain, and finds out who is asking. The specification's hook `verify_oauth_token_and_set_current_user`.
 * @throws TypeError at once for a resource that the server does not protect
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

/** What a guard asks of a caller. */
export interface Guard {
  /** The scopes that it asks for. */
  readonly scopes: readonly string[]
  /** An error that refuses, or undefined. @param named the scopes for its challenge */
  refusal(caller: Caller, named: LookAhead): Error | undefined
}

/**
 * Why a guard refuses a caller; undefined where it lets it pass.
 * @param behind the scopes of guards that are known to stand behind this one
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
  /** Lets callers through who presented nothing; an invalid credential is refused all the same. */
  readonly allowAnonymous?: boolean
}

export const apiAuth = ({ allowAnonymous = false }: RequireApiAuthOptions = {}): Guard => ({
  scopes: [],
  refusal({ server, result }, named) {
    if (allowAnonymous || result.auth.kind !== 'anonymous') return undefined
    return result.refusal ?? server.challenge(result, named())
  },
})

/** @throws TypeError without a scope: a guard that asks for nothing guards nothing */
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
 * The caller that the REST extension found.
 * @throws Error without it: nobody was checked, so nobody is let through
 */
export const mustBeIdentified = (caller: Caller | undefined): Caller => {
  if (!caller) throw new Error('A guard stands before rest(server), which has to be mounted first.')
  return caller
}

/**
 * Headers of every answer of the REST application: a token may have come in the address, which neither
 * a cache nor another site's log is to learn (RFC 6750 §5.3).
 */
export const protectiveHeaders = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
} as const

// A script of any origin may read how to get a token: without credentials of a browser (RFC 9728 §5.1).
const readableHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, DPoP-Nonce, Retry-After',
}

/**
 * The headers of a refusal. One that carries a challenge, or says when to come again, can be read by scripts of other sites.
 * @param isSet whether the application has set a header of this name: what it says of other sites stands
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
