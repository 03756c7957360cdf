import type { Readable } from 'node:stream'
import type {
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  RouteOptions,
} from 'fastify'
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
  mustBePage,
  oauthScopes,
  type RequireApiAuthOptions,
  type RestOptions,
  refusalBy,
  refusalHeaders,
} from './caller.ts'
import { credentialsOf, respond } from './node-http.ts'
import { hasBody, readBody } from './node-source.ts'

// Do not add properties to the type of every request. Another plugin may declare the same properties, and the
// properties are missing if `rest(server)` did not run.
const callers = new WeakMap<FastifyRequest, Caller>()
const pages = new WeakMap<FastifyRequest, PageSession>()

/** A guard for the option `onRequest` or `preHandler` of a route. */
export type Hook = onRequestAsyncHookHandler

// Marks a plugin, like `fastify-plugin`, so that its hooks apply to the scope that registers the plugin instead of a
// new scope.
const plugin = (register: FastifyPluginAsync): FastifyPluginAsync =>
  Object.assign(register, { [Symbol.for('skip-override')]: true })

/**
 * The general extension: handles requests to endpoints and pages of the server. If you register the plugin under a
 * prefix, it handles only the paths below the prefix, and not the well-known URLs at the root of the host.
 */
export const mount = (server: AuthorizationServer): FastifyPluginAsync => {
  const listener = respond(server)
  return async (app) => {
    // Remove the body parsers from the scope of this plugin, because the server needs the exact text of a form. Read the
    // body here, because a hook of the application may have replaced it.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', async ({ raw }: FastifyRequest, body: Readable) => {
      if (hasBody(raw)) Object.assign(raw, { rawBody: await readBody(body).catch(() => undefined) })
    })
    const prefix = app.prefix.replace(/\/$/, '')
    const addresses = server.addresses.filter((address) => address.startsWith(`${prefix}/`))
    if (addresses.length === 0)
      throw new Error(`The issuer ${server.issuer} is not under the prefix ${prefix}.`)
    for (const address of addresses) {
      const url = address.slice(prefix.length)
      // With the option `ignoreTrailingSlash`, one route handles an address with and without the slash.
      const isOneOfTwo =
        addresses.includes(`${address}/`) || addresses.includes(address.slice(0, -1))
      if (isOneOfTwo && app.hasRoute({ method: 'GET', url })) continue
      app.all(url, async (request, reply) => {
        // Copy the headers that hooks of the application have set, because Fastify does not send them after `hijack`.
        for (const [name, value] of Object.entries(reply.getHeaders()))
          if (value !== undefined) reply.raw.setHeader(name, value)
        reply.hijack()
        try {
          await listener(request.raw, reply.raw, request)
        } catch (error) {
          // Fastify sends no response to an error after `hijack`.
          request.log.error(error)
          if (!reply.raw.headersSent) reply.raw.statusCode = 500
          reply.raw.end()
        }
      })
    }
  }
}

// The key of the guards' scopes in the configuration of a route.
const scopes = Symbol('svc-oauth2server scopes')

interface RouteConfig {
  readonly [scopes]?: readonly string[]
}

const hooksOf = (route: RouteOptions): readonly unknown[] =>
  [route.onRequest, route.preParsing, route.preValidation, route.preHandler].flat()

/**
 * The REST extension: authenticates the caller before any guard. Register it only for the REST application. Await the
 * registration before adding routes; otherwise the challenges of these routes do not list all required scopes.
 * @throws TypeError for a resource that the server does not protect
 */
export const rest = (server: AuthorizationServer, options?: RestOptions): FastifyPluginAsync => {
  const identify = identifyAt(server, options)
  return plugin(async (app) => {
    app.addHook('onRoute', (route) => {
      route.config = Object.assign({}, route.config, { [scopes]: askedBy(hooksOf(route)) })
    })
    app.addHook('onRequest', async (request, reply) => {
      const ahead = () => (request.routeOptions.config as RouteConfig)[scopes] ?? []
      try {
        const caller = await identify(credentialsOf(request.raw, server, request), ahead)
        callers.set(request, caller)
        Object.assign(request, { auth: caller.result.auth })
        reply.headers(caller.headers)
      } catch (error) {
        return refuse(error, server, reply)
      }
    })
  })
}

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = (options?: RequireApiAuthOptions): Hook => guard(apiAuth(options))

/**
 * Requires a session, or a token with all of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireOauthScopes = (...scopes: readonly ScopeName[]): Hook =>
  guard(oauthScopes(scopes))

/**
 * Requires a session, or a token with at least one of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const requireAnyOauthScope = (...scopes: readonly ScopeName[]): Hook =>
  guard(oauthScopes(scopes, { any: true }))

/** Returns the authenticated caller. @throws Error if `rest(server)` did not run before */
export const authOf = (request: FastifyRequest): Auth =>
  mustBeIdentified(callers.get(request)).result.auth

/**
 * Returns the signed-in user, `jwt()` and `jwtToken()` for a page.
 * @throws Error if `page(server)` did not run before
 */
export const pageOf = (request: FastifyRequest): PageSession => mustBePage(pages.get(request))

/**
 * Prepares `pageOf(request)` for templates of the application's pages: the signed-in user, `jwt()` and `jwtToken()`.
 */
export const page = (server: AuthorizationServer): Hook => {
  return async (request, reply) => {
    try {
      const session = await server.pageSession(credentialsOf(request.raw, server, request))
      pages.set(request, session)
      Object.assign(request, { pageSession: session })
      reply.header('cache-control', 'no-store')
      if (session.setCookie !== undefined) reply.header('set-cookie', session.setCookie)
    } catch (error) {
      return refuse(error, server, reply)
    }
  }
}

const guard = (rule: Guard): Hook =>
  asking<Hook>(async (request, reply) => {
    const caller = mustBeIdentified(callers.get(request))
    const refusal = refusalBy(rule, caller)
    if (refusal) return refuse(refusal, caller.server, reply)
  }, rule.scopes)

const refuse = (error: unknown, server: AuthorizationServer, reply: FastifyReply): FastifyReply => {
  const refusal = server.refusalOf(error)
  if (!refusal) throw error
  return reply
    .code(refusal.status)
    .headers(refusalHeaders(refusal, (name) => reply.getHeader(name) !== undefined))
    .type('application/json')
    .send(jsonText(refusal.body))
}
