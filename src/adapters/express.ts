import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { ScopeName } from '../model/scope.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import type { RequireApiAuthOptions, RestOptions } from './caller.ts'
import * as node from './node.ts'
import { restStep } from './node-rest.ts'

// Express extends Node's requests and responses, so this adapter reuses the adapter for Node. Do not add properties to
// the type of every request. Another package may declare the same properties, and the properties are missing if
// `rest(server)` did not run.

/** The general extension: handles requests to endpoints and pages of the server, and passes on all other requests. */
export const mount = (server: AuthorizationServer): RequestHandler =>
  node.mount(server) as RequestHandler

/**
 * The REST extension: authenticates the caller before any guard, and refuses forbidden query characters. Mount it only
 * for the REST application.
 * @throws TypeError for a resource that the server does not protect
 */
export const rest = (server: AuthorizationServer, options?: RestOptions): RequestHandler =>
  restStep(server, options, handlersOf) as RequestHandler

type Routed = IncomingMessage & {
  readonly route?: {
    readonly stack: readonly { readonly handle: unknown; readonly method?: string }[]
  }
}

// Returns the handlers of the matched route for the method of the request.
const handlersOf = ({ method, route }: Routed): readonly unknown[] => {
  const stack = route?.stack ?? []
  const asked = method?.toLowerCase()
  const isAlsoGet = asked === 'head' && !stack.some((layer) => layer.method === 'head')
  return stack
    .filter((layer) => !layer.method || layer.method === (isAlsoGet ? 'get' : asked))
    .map(({ handle }) => handle)
}

/** Returns the authenticated caller. @throws Error if `rest(server)` did not run before */
export const authOf: typeof node.authOf = node.authOf

/**
 * Returns the signed-in user, `jwt()` and `jwtToken()` for a page.
 * @throws Error if `page(server)` did not run before
 */
export const pageOf: typeof node.pageOf = node.pageOf

/** Returns the signed-in user of a page, or null. */
export const signedInUser: typeof node.signedInUser = node.signedInUser

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = (options?: RequireApiAuthOptions): RequestHandler =>
  node.requireApiAuth(options) as RequestHandler

/**
 * Requires a session, or a token with all of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireOauthScopes = (...scopes: readonly ScopeName[]): RequestHandler =>
  node.requireOauthScopes(...scopes) as RequestHandler

/**
 * Requires a session, or a token with at least one of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireAnyOauthScope = (...scopes: readonly ScopeName[]): RequestHandler =>
  node.requireAnyOauthScope(...scopes) as RequestHandler

/**
 * Adds the signed-in user, `jwt()` and `jwtToken()` to `locals` for templates of the application's pages. In handlers,
 * `pageOf(request)` returns the same values.
 */
export const page = (server: AuthorizationServer): RequestHandler => {
  const step = node.page(server)
  return (request, response, next) => {
    step(request, response, (error) => {
      if (error !== undefined) return next(error)
      const session = node.pageOf(request)
      Object.assign(request, { signedInUser: session.user })
      Object.assign(response.locals, session)
      next()
    })
  }
}
