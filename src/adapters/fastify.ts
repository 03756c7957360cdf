import type {
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from 'fastify'
import type { AuthorizationServer } from '../authorization-server.ts'
import type { Auth } from '../resource-server.ts'
import type { PageSession } from '../session/page-session.ts'
import {
  apiAuth,
  type Caller,
  identify,
  type Judge,
  mustBeIdentified,
  oauthScopes,
  protectiveHeaders,
  type RequireApiAuthOptions,
} from './caller.ts'
import { answer, credentialsOf } from './node-http.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; set by `rest(server)`. */
    auth: Auth
    /** The signed-in user, `jwt()` and `jwtToken()`; set by `page(server)`. */
    pageSession: PageSession
  }
}

const callers = new WeakMap<FastifyRequest, Caller>()

/** A guard: for the `onRequest` or `preHandler` of a route. */
export type Hook = onRequestAsyncHookHandler

// What a plugin adds holds for the scope that registers it, as Fastify's own plugins do.
const plugin = (register: FastifyPluginAsync): FastifyPluginAsync =>
  Object.assign(register, { [Symbol.for('skip-override')]: true })

/**
 * The general extension: the server's endpoints and pages. Registered under a prefix it has those
 * below it; the well-known addresses stand at the root of the host.
 */
export const mount = (server: AuthorizationServer): FastifyPluginAsync => {
  const listener = answer(server)
  return async (app) => {
    // In a scope of its own the body stays as it came: a parser would lose how a form was written.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _body, parsed) => parsed(null))
    const prefix = app.prefix.replace(/\/$/, '')
    const addresses = server.addresses.filter((address) => address.startsWith(`${prefix}/`))
    if (addresses.length === 0)
      throw new Error(`The issuer ${server.issuer} has no address under the prefix ${prefix}.`)
    for (const address of addresses) {
      app.all(address.slice(prefix.length), async (request, reply) => {
        // What hooks of the application have set: Fastify forgets it here.
        for (const [name, value] of Object.entries(reply.getHeaders()))
          if (value !== undefined) reply.raw.setHeader(name, value)
        reply.hijack()
        await listener(request.raw, reply.raw, request)
      })
    }
  }
}

/** The REST extension: finds out who is asking, before any guard. For the REST application alone. */
export const rest = (server: AuthorizationServer): FastifyPluginAsync =>
  plugin(async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      try {
        const caller = await identify(server, credentialsOf(request.raw, server, request))
        callers.set(request, caller)
        request.auth = caller.resolution.auth
        reply.headers(protectiveHeaders)
      } catch (error) {
        return refuse(error, server, reply)
      }
    })
  })

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const requireApiAuth = (options?: RequireApiAuthOptions): Hook => guard(apiAuth(options))

/**
 * Requires a token that holds all of these scopes; a session is not limited by scopes.
 * @throws TypeError without a scope
 */
export const requireOauthScopes = (...scopes: readonly string[]): Hook => guard(oauthScopes(scopes))

/** Requires a token that holds one of these scopes at least. @throws TypeError without a scope */
export const requireAnyOauthScope = (...scopes: readonly string[]): Hook =>
  guard(oauthScopes(scopes, { any: true }))

/** For pages of the application: `request.pageSession` for their templates. */
export const page = (server: AuthorizationServer): Hook => {
  return async (request, reply) => {
    try {
      request.pageSession = await server.pageSession(credentialsOf(request.raw, server, request))
      reply.header('cache-control', 'no-store')
      if (request.pageSession.setCookie !== undefined)
        reply.header('set-cookie', request.pageSession.setCookie)
    } catch (error) {
      return refuse(error, server, reply)
    }
  }
}

const guard = (judge: Judge): Hook => {
  return async (request, reply) => {
    const caller = mustBeIdentified(callers.get(request))
    const refusal = judge(caller)
    if (refusal) return refuse(refusal, caller.server, reply)
  }
}

const refuse = (error: unknown, server: AuthorizationServer, reply: FastifyReply): FastifyReply => {
  const refusal = server.refusalOf(error)
  if (!refusal) throw error
  return reply
    .code(refusal.status)
    .headers({ ...protectiveHeaders, ...refusal.headers })
    .send(refusal.body)
}
