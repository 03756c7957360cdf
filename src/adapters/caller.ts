import type { AuthorizationServer } from '../authorization-server.ts'
import type { PresentedCredentials, Resolution } from '../resource-server.ts'

/** Who sent a request, and the server that found out. */
export interface Caller {
  readonly server: AuthorizationServer
  readonly resolution: Resolution
}

/**
 * The REST extension in every framework: refuses characters that a query string must not contain, and
 * finds out who is asking. The specification's hook `verify_oauth_token_and_set_current_user`.
 * @throws what `server.refusalOf` knows how to answer
 */
export const identify = async (
  server: AuthorizationServer,
  credentials: PresentedCredentials,
): Promise<Caller> => {
  server.checkQuery(credentials.query)
  return { server, resolution: await server.resourceServer.resolve(credentials) }
}

/** What a guard asks of a caller: an error that refuses, or undefined. */
export type Judge = (caller: Caller) => Error | undefined

export interface RequireApiAuthOptions {
  /** Lets callers through who presented nothing; an invalid credential is refused all the same. */
  readonly allowAnonymous?: boolean
}

export const apiAuth = ({ allowAnonymous = false }: RequireApiAuthOptions = {}): Judge => {
  return ({ server, resolution }) =>
    allowAnonymous ? undefined : (resolution.refusal ?? server.challenge(resolution.auth, []))
}

/** @throws TypeError without a scope: a guard that asks for nothing guards nothing */
export const oauthScopes = (scopes: readonly string[], { any = false } = {}): Judge => {
  if (scopes.length === 0 || !scopes.every((scope) => typeof scope === 'string' && scope !== '')) {
    throw new TypeError('A scope guard needs at least one scope id.')
  }
  return ({ server, resolution }) => {
    if (resolution.refusal) return resolution.refusal
    const held = any && scopes.some((scope) => resolution.auth.scopes?.includes(scope))
    return held ? undefined : server.challenge(resolution.auth, scopes)
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
