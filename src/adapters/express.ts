import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Auth } from '../model/auth.ts'
import type { UserProxy } from '../model/user.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import type { RequireApiAuthOptions, RestOptions } from './caller.ts'
import * as node from './node.ts'
import { restStep } from './node-rest.ts'

// Express's requests and responses are Node's, so there is nothing to translate but types and `locals`.

declare global {
  // biome-ignore lint/style/noNamespace: this is how Express lets a request be extended
  namespace Express {
    interface Request {
      /** Who is asking; set by `rest(server)`. */
      auth: Auth
      /** The signed-in user of a page, null where nobody is; set by `page(server)`. */
      signedInUser: UserProxy | null
    }
  }
}

/** The general extension: the server's endpoints and pages. Everything else is passed on. */
export const mount = (server: AuthorizationServer): RequestHandler =>
  node.mount(server) as RequestHandler

/**
 * The REST extension: finds out who is asking, before any guard, and refuses characters that a query
 * string must not contain. For the REST application alone.
 * @throws TypeError for a resource that the server does not protect
 */
export const rest = (server: AuthorizationServer, options?: RestOptions): RequestHandler =>
  restStep(server, options, handlersOf) as RequestHandler

type Routed = IncomingMessage & {
  readonly route?: {
    readonly stack: readonly { readonly handle: unknown; readonly method?: string }[]
  }
}

// The handlers of the route that Express has found, for the method of the request.
const handlersOf = ({ method, route }: Routed): readonly unknown[] => {
  const stack = route?.stack ?? []
  const asked = method?.toLowerCase()
  const isAlsoGet = asked === 'head' && !stack.some((layer) => layer.method === 'head')
  return stack
    .filter((layer) => !layer.method || layer.method === (isAlsoGet ? 'get' : asked))
    .map(({ handle }) => handle)
}

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = (options?: RequireApiAuthOptions): RequestHandler =>
  node.requireApiAuth(options) as RequestHandler

/**
 * Requires a token that holds all of these scopes; a session is not limited by scopes.
 * @throws TypeError without a scope: a guard that asks for nothing guards nothing
 */
export const requireOauthScopes = (...scopes: readonly string[]): RequestHandler =>
  node.requireOauthScopes(...scopes) as RequestHandler

/** Requires a token that holds one of these scopes at least. @throws TypeError without a scope */
export const requireAnyOauthScope = (...scopes: readonly string[]): RequestHandler =>
  node.requireAnyOauthScope(...scopes) as RequestHandler

/** For pages of the application: the signed-in user, and `jwt()` and `jwtToken()` for their templates. */
export const page = (server: AuthorizationServer): RequestHandler => {
  const step = node.page(server)
  return (request, response, next) => {
    step(request, response, (error) => {
      if (error !== undefined) return next(error)
      const session = node.pageOf(request)
      request.signedInUser = session.user
      Object.assign(response.locals, session)
      next()
    })
  }
}
