import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Auth } from '../model/auth.ts'
import type { ScopeName } from '../model/scope.ts'
import type { UserProxy } from '../model/user.ts'
import type { PageSession } from '../protocol/session/page-session.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import { askedBy, asking } from './asked-scopes.ts'
import {
  apiAuth,
  type Caller,
  type Guard,
  mustBeIdentified,
  mustBePage,
  oauthScopes,
  type RequireApiAuthOptions,
  type RestOptions,
  refusalBy,
} from './caller.ts'
import { credentialsOf, pathOf, respond, targetOf } from './node-http.ts'
import { callerOf, enter, type Middleware, refuse, restStep } from './node-rest.ts'

export type { Middleware } from './node-rest.ts'

const pages = new WeakMap<IncomingMessage, PageSession>()

/** The general extension: handles requests to endpoints and pages of the server, and passes on all other requests. */
export const mount = (server: AuthorizationServer): Middleware => {
  const listener = respond(server)
  return (request, response, next) => {
    if (!server.handles(pathOf(targetOf(request)))) return next()
    listener(request, response).catch(next)
  }
}

/**
 * The REST extension: authenticates the caller before any guard. Mount it only for the REST application.
 * @throws TypeError for a resource that the server does not protect
 */
export const rest = (server: AuthorizationServer, options?: RestOptions): Middleware =>
  restStep(server, options)

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = (options?: RequireApiAuthOptions): Middleware =>
  guard(apiAuth(options))

/**
 * Requires a session, or a token with all of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireOauthScopes = (...scopes: readonly ScopeName[]): Middleware =>
  guard(oauthScopes(scopes))

/**
 * Requires a session, or a token with at least one of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireAnyOauthScope = (...scopes: readonly ScopeName[]): Middleware =>
  guard(oauthScopes(scopes, { any: true }))

/** Prepares `pageOf(request)` for pages of the application: the signed-in user, `jwt()` and `jwtToken()`. */
export const page = (server: AuthorizationServer): Middleware => {
  return (request, response, next) => {
    server.pageSession(credentialsOf(request, server)).then(
      (session) => {
        pages.set(request, session)
        if (session.setCookie !== undefined) response.appendHeader('set-cookie', session.setCookie)
        response.setHeader('cache-control', 'no-store')
        next()
      },
      (error: unknown) => refuse(error, server, response, next),
    )
  }
}

/** Returns the authenticated caller. @throws Error if `rest(server)` did not run before */
export const authOf = (request: IncomingMessage): Auth =>
  mustBeIdentified(callerOf(request)).result.auth

/**
 * Returns the signed-in user, `jwt()` and `jwtToken()` for a page.
 * @throws Error if `page(server)` did not run before
 */
export const pageOf = (request: IncomingMessage): PageSession => mustBePage(pages.get(request))

/** Returns the signed-in user of a page, or null. */
export const signedInUser = (request: IncomingMessage): UserProxy | null => pageOf(request).user

/**
 * Combines several middleware functions into one, for `node:http` without a framework. Without `next`, the chain
 * responds with 404 if no middleware handled the request, and with 500 after an error. Each challenge lists the scopes
 * of all guards of the chain.
 */
export const chain = (
  ...steps: readonly Middleware[]
): ((
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void) => {
  const scopes = askedBy(steps)
  const chained: ReturnType<typeof chain> = (
    request,
    response,
    next = (error) => giveUp(response, error),
  ) => {
    const run = (index: number, error?: unknown): void => {
      const step = steps[index]
      if (error !== undefined || !step) next(error)
      else step(request, response, (failure) => run(index + 1, failure))
    }
    enter(request, scopes)
    run(0)
  }
  return asking(chained, scopes)
}

// Ends a request that no middleware handled: logs an error and responds with 500, or responds with 404 without an
// error.
const giveUp = (response: ServerResponse, error: unknown): void => {
  if (error !== undefined) console.error(error)
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.statusCode = error === undefined ? 404 : 500
  response.end()
}

const guard = (rule: Guard): Middleware =>
  asking<Middleware>((request, response, next) => {
    let caller: Caller
    try {
      caller = mustBeIdentified(callerOf(request))
    } catch (error) {
      return next(error)
    }
    const refusal = refusalBy(rule, caller)
    if (refusal) refuse(refusal, caller.server, response, next)
    else next()
  }, rule.scopes)
