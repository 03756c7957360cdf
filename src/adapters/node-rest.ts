import type { IncomingMessage, ServerResponse } from 'node:http'
import { jsonText } from '../http/response.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import { askedBy } from './asked-scopes.ts'
import { type Caller, identifyAt, type RestOptions, refusalHeaders } from './caller.ts'
import { credentialsOf } from './node-http.ts'

/** Middleware for `node:http`, Connect and Express. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

// Store these values on the request instead of in weak maps. Weak maps would cause a quarter of the garbage that a
// check of an access token leaves.
const found = Symbol('svc-oauth2server caller')
const entered = Symbol('svc-oauth2server scopes')

type Noted = IncomingMessage & { [found]?: Caller; [entered]?: readonly string[] }

/** Returns the caller of a request; undefined if the REST extension has not run. */
export const callerOf = (request: Noted): Caller | undefined => request[found]

/** Records the scopes that the guards of a chain require, at the start of the chain. */
export const enter = (request: Noted, scopes: readonly string[]): void => {
  if (scopes.length > 0) request[entered] = [...(request[entered] ?? []), ...scopes]
}

/**
 * Creates the REST extension.
 * @param routeOf returns the handlers of the matched route, if the framework reveals them
 */
export const restStep = (
  server: AuthorizationServer,
  options: RestOptions | undefined,
  routeOf: (request: IncomingMessage) => readonly unknown[] = () => [],
): Middleware => {
  const identify = identifyAt(server, options)
  return (request, response, next) => {
    const noted: Noted = request
    const ahead = () => [...(noted[entered] ?? []), ...askedBy(routeOf(request))]
    identify(credentialsOf(request, server), ahead).then(
      (caller) => {
        noted[found] = caller
        Object.assign(request, { auth: caller.result.auth })
        setHeaders(response, caller.headers)
        next()
      },
      (error: unknown) => refuse(error, server, response, next),
    )
  }
}

/** Sends the response for a refusal. Passes any other error to `next`. */
export const refuse = (
  error: unknown,
  server: AuthorizationServer,
  response: ServerResponse,
  next: (error: unknown) => void,
): void => {
  const refusal = server.refusalOf(error)
  if (!refusal) {
    next(error)
    return
  }
  response.statusCode = refusal.status
  setHeaders(response, {
    ...refusalHeaders(refusal, (name) => response.hasHeader(name)),
    'content-type': 'application/json',
  })
  response.end(jsonText(refusal.body))
}

const setHeaders = (response: ServerResponse, headers: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}
