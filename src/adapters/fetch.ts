import { checkConnection } from '../http/check-connection.ts'
import type { Connection } from '../http/request.ts'
import { jsonText } from '../http/response.ts'
import type { Auth } from '../model/auth.ts'
import type { ScopeName } from '../model/scope.ts'
import type { PageSession } from '../protocol/session/page-session.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import { askedBy, asking } from './asked-scopes.ts'
import {
  apiAuth,
  type Caller,
  type Guard,
  identifyAt,
  mustBeIdentified,
  oauthScopes,
  type RequireApiAuthOptions,
  type RestOptions,
  refusalBy,
  refusalHeaders,
  type SentCredentials,
} from './caller.ts'

/** Returns the parts of a `Request` that the authentication reads. */
export const credentialsOf = (
  request: Request,
  connection: Connection,
  server: Pick<AuthorizationServer, 'clientAddress'>,
): SentCredentials => {
  checkConnection(connection)
  const { remoteAddress, raw = request, target = request.url } = connection
  const { headers, method, url } = request
  const [, path = '/', query = ''] = /^[a-z]+:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? []
  return {
    target,
    authorization: headers.get('authorization'),
    cookie: headers.get('cookie'),
    method,
    path,
    query,
    address: server.clientAddress(remoteAddress, headers.get('x-forwarded-for')),
    userAgent: headers.get('user-agent') ?? '',
    raw,
    headers: () => headers,
  }
}

const callers = new WeakMap<Request, Caller>()

/**
 * The REST extension for `fetch`: authenticates the caller.
 * @returns the response for a refused request; otherwise undefined
 * @throws TypeError for a resource that the server does not protect
 */
export const rest = async (
  server: AuthorizationServer,
  request: Request,
  connection: Connection = {},
  options?: RestOptions,
): Promise<Response | undefined> => {
  const identify = identifyAt(server, options)
  try {
    callers.set(request, await identify(credentialsOf(request, connection, server), () => []))
    return undefined
  } catch (error) {
    return refusalResponse(error, server)
  }
}

/** Returns the authenticated caller. @throws Error if `rest(server, request)` did not run before */
export const authOf = (request: Request): Auth => mustBeIdentified(callers.get(request)).result.auth

/**
 * Returns the signed-in user, `jwt()` and `jwtToken()` for a page of the application. The application must forbid
 * caching of the page, and must send `setCookie` if the result contains one.
 */
export const page = (
  server: AuthorizationServer,
  request: Request,
  connection: Connection = {},
): Promise<PageSession> => server.pageSession(credentialsOf(request, connection, server))

/** Converts the error of a guard to a response. @throws the error itself if the error is not a refusal */
export const refusalResponse = (
  error: unknown,
  server: Pick<AuthorizationServer, 'refusalOf'>,
): Response => {
  const refusal = server.refusalOf(error)
  if (!refusal) throw error
  const headers = { 'content-type': 'application/json', ...refusalHeaders(refusal) }
  return new Response(jsonText(refusal.body), { status: refusal.status, headers })
}

/** A function or a method that handles a request. Frameworks may pass a subclass of `Request` and more arguments. */
export type Handler<This, Sent extends Request, Rest extends readonly unknown[], Result> = (
  this: This,
  request: Sent,
  ...rest: Rest
) => Result

/**
 * Wraps a handler function, or decorates a handler method as a standard decorator. The guarded handler returns a
 * promise.
 */
export type HandlerGuard = <This, Sent extends Request, Rest extends readonly unknown[]>(
  handler: Handler<This, Sent, Rest, Response | Promise<Response>>,
  context?: ClassMethodDecoratorContext<This>,
) => Handler<This, Sent, Rest, Promise<Response>>

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = (options?: RequireApiAuthOptions): HandlerGuard =>
  guard(apiAuth(options))

/**
 * Requires a session, or a token with all of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireOauthScopes = (...scopes: readonly ScopeName[]): HandlerGuard =>
  guard(oauthScopes(scopes))

/**
 * Requires a session, or a token with at least one of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireAnyOauthScope = (...scopes: readonly ScopeName[]): HandlerGuard =>
  guard(oauthScopes(scopes, { any: true }))

const guard = (rule: Guard): HandlerGuard => {
  return <This, Sent extends Request, Rest extends readonly unknown[]>(
    handler: Handler<This, Sent, Rest, Response | Promise<Response>>,
  ) => {
    // The scopes of the inner guards.
    const behind = askedBy([handler])
    const guarded: Handler<This, Sent, Rest, Promise<Response>> = async function (
      request,
      ...rest
    ) {
      const caller = mustBeIdentified(callers.get(request))
      const refusal = refusalBy(rule, caller, behind)
      return refusal
        ? refusalResponse(refusal, caller.server)
        : protect(await handler.call(this, request, ...rest), caller)
    }
    return asking(guarded, [...rule.scopes, ...behind])
  }
}

// Copies the response, because its headers may be immutable. Does not replace headers of the application.
const protect = (response: Response, { headers }: Caller): Response => {
  const copy = new Response(response.body, response)
  for (const [name, value] of Object.entries(headers))
    if (!copy.headers.has(name)) copy.headers.set(name, value)
  return copy
}
