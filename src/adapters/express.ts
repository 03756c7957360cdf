import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler, Response } from 'express'
import type { AuthorizationServer } from '../authorization-server.ts'
import type { UserProxy } from '../model/user.ts'
import type { Auth, Resolution } from '../resource-server.ts'
import { credentialsOf, nodeListener, pathOf } from './node-http.ts'

declare global {
  // biome-ignore lint/style/noNamespace: this is how Express lets a request be extended
  namespace Express {
    interface Request {
      /** Who is asking; set by `rest(server)`. */
      auth: Auth
      /** The signed-in user of a page; set by `page(server)`, null where nobody is. */
      signedInUser: UserProxy | null
    }
  }
}

const resolved = new WeakMap<
  IncomingMessage,
  { readonly server: AuthorizationServer; readonly resolution: Resolution }
>()

/** The general extension: the server's endpoints and pages. Everything else is passed on. */
export const mount = (server: AuthorizationServer): RequestHandler => {
  const listener = nodeListener(server)
  return (request, response, next) => {
    if (!server.handles(pathOf(request.originalUrl))) return next()
    // Mounted or not, the server wants the address that the client sent.
    request.url = request.originalUrl
    listener(request as IncomingMessage, response as ServerResponse).catch(next)
  }
}

/**
 * The REST extension: finds out who is asking, before any guard, and refuses characters that a query
 * string must not contain. For the REST application alone. The specification's hook
 * `verify_oauth_token_and_set_current_user`.
 */
export const rest = (server: AuthorizationServer): RequestHandler => {
  return async (request, response, next) => {
    try {
      const credentials = credentialsOf(request, request.originalUrl, server)
      server.checkQuery(credentials.query)
      const resolution = await server.resourceServer.resolve(credentials)
      resolved.set(request, { server, resolution })
      request.auth = resolution.auth
      protectAnswer(response)
      next()
    } catch (error) {
      refuse(error, server, response, next)
    }
  }
}

export interface RequireApiAuthOptions {
  /** Lets callers through who presented nothing; an invalid credential is refused all the same. */
  readonly allowAnonymous?: boolean
}

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = ({
  allowAnonymous = false,
}: RequireApiAuthOptions = {}): RequestHandler => {
  return guard(({ resolution, server }) =>
    allowAnonymous ? undefined : (resolution.refusal ?? server.challenge(resolution.auth, [])),
  )
}

/**
 * Requires a token that holds all of these scopes; a session is not limited by scopes.
 * @throws TypeError without a scope: a guard that asks for nothing guards nothing
 */
export const requireOauthScopes = (...scopes: readonly string[]): RequestHandler => {
  if (scopes.length === 0 || !scopes.every((scope) => typeof scope === 'string' && scope !== '')) {
    throw new TypeError('requireOauthScopes needs at least one scope id.')
  }
  return guard(
    ({ resolution, server }) => resolution.refusal ?? server.challenge(resolution.auth, scopes),
  )
}

/** For pages of the application: the signed-in user, and `jwt()` and `jwtToken()` for their templates. */
export const page = (server: AuthorizationServer): RequestHandler => {
  return async (request, response, next) => {
    try {
      const view = await server.pageSession(credentialsOf(request, request.originalUrl, server))
      request.signedInUser = view.user
      Object.assign(response.locals, view)
      if (view.setCookie !== undefined) response.append('set-cookie', view.setCookie)
      response.set('cache-control', 'no-store')
      next()
    } catch (error) {
      refuse(error, server, response, next)
    }
  }
}

type Judge = (of: {
  readonly server: AuthorizationServer
  readonly resolution: Resolution
}) => Error | undefined

const guard = (judge: Judge): RequestHandler => {
  return (request, response, next) => {
    const found = resolved.get(request)
    // Without the resolver nobody was checked: fail, and never let through.
    if (!found)
      return next(new Error('A guard stands before rest(server), which has to be mounted first.'))
    const refusal = judge(found)
    if (refusal) refuse(refusal, found.server, response, next)
    else next()
  }
}

const refuse = (
  error: unknown,
  server: AuthorizationServer,
  response: Response,
  next: (error: unknown) => void,
): void => {
  const refusal = server.refusalOf(error)
  if (refusal) response.status(refusal.status).set(refusal.headers).json(refusal.body)
  else next(error)
}

// A token may have come in the address, which neither a cache nor another site's log is to learn (RFC 6750 §5.3).
const protectAnswer = (response: Response): void => {
  response.set('cache-control', 'private, no-store')
  response.set('referrer-policy', 'no-referrer')
}
