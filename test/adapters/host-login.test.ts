import { createServer, type IncomingMessage, type Server } from 'node:http'
import { serve } from '@hono/node-server'
import express from 'express'
import Fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import type { Auth, Connection } from 'svc-oauth2server'
import * as onExpress from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import * as onFetch from 'svc-oauth2server/fetch'
import * as onHono from 'svc-oauth2server/hono'
import * as onNode from 'svc-oauth2server/node'
import { beforeEach, vi } from 'vitest'
import { hostLoginContract, type Owner, ownerIn } from '../contracts/host-login.ts'
import { listening, portOf } from './embed.ts'

// Silence the console, on which every framework prints unhandled errors.
beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue()
})

const me = ({ user, kind }: Auth) => ({ id: user?.id, kind })

hostLoginContract(
  'Express, whose middleware finds the session',
  (request: express.Request & { readonly owner: () => Owner }) => request.owner(),
  (server) => {
    const app = express()
    app.use((request, _response, next) => {
      Object.assign(request, { owner: () => ownerIn(request.headers.cookie) })
      next()
    })
    app.use(onExpress.mount(server))
    app.get('/', onExpress.page(server), (_req, res) => void res.send(res.locals.jwtToken()))
    app.use('/api', onExpress.rest(server))
    app.get(
      '/api/me',
      onExpress.requireApiAuth(),
      (req, res) => void res.json(me(onExpress.authOf(req))),
    )
    return listening(app.listen(0, '127.0.0.1'))
  },
)

hostLoginContract(
  'Fastify, whose hook finds the session',
  // The session is on Fastify's request object instead of Node's.
  (request: FastifyRequest & { readonly owner: () => Owner }) => request.owner(),
  async (server) => {
    const app = Fastify()
    app.addHook('onRequest', async (request) => {
      Object.assign(request, { owner: () => ownerIn(request.headers.cookie) })
    })
    app.register(onFastify.mount(server))
    app.get('/', { onRequest: onFastify.page(server) }, async (request) =>
      onFastify.pageOf(request).jwtToken(),
    )
    app.register(
      async (api) => {
        api.register(onFastify.rest(server))
        api.get('/me', { onRequest: onFastify.requireApiAuth() }, async (request) =>
          me(onFastify.authOf(request)),
        )
      },
      { prefix: '/api' },
    )
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: portOf(app.server), close: () => app.close() }
  },
)

hostLoginContract(
  'Hono, whose middleware finds the session',
  (context: Context<{ Variables: { owner: () => Owner } }>) => context.get('owner')(),
  (server) => {
    const app = new Hono<{ Variables: { owner: () => Owner } }>()
    app.use(async (c, next) => {
      c.set('owner', () => ownerIn(c.req.header('cookie')))
      await next()
    })
    app.use(onHono.mount(server))
    app.get('/', onHono.page(server), (c) => c.text(onHono.pageOf(c).jwtToken()))
    app.use('/api/*', onHono.rest(server))
    app.get('/api/me', onHono.requireApiAuth(), (c) => c.json(me(onHono.authOf(c))))
    return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
  },
)

hostLoginContract(
  'node:http',
  (request: IncomingMessage) => ownerIn(request.headers.cookie),
  (server) => {
    const { chain, mount, page, pageOf, rest, requireApiAuth, authOf } = onNode
    const api = chain(rest(server), requireApiAuth(), (request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(me(authOf(request))))
    })
    const home = chain(page(server), (request, response) =>
      response.end(pageOf(request).jwtToken()),
    )
    const routes: Readonly<Record<string, onNode.Middleware>> = { '/': home, '/api/me': api }
    const app = chain(mount(server), (request, response, next) => {
      const route = routes[request.url ?? '']
      if (route) route(request, response, next)
      else next()
    })
    return listening(createServer(app).listen(0, '127.0.0.1'))
  },
)

hostLoginContract(
  'fetch',
  (request: Request) => ownerIn(request.headers.get('cookie')),
  (server) => {
    const guarded = onFetch.requireApiAuth()(
      async (request: Request) => Response.json(me(onFetch.authOf(request))),
      {} as ClassMethodDecoratorContext,
    )
    const fetch = async (request: Request, { incoming }: { incoming: { socket: Connection } }) => {
      const { pathname } = new URL(request.url)
      const connection = { remoteAddress: incoming.socket.remoteAddress }
      if (server.handles(pathname)) return server.fetch(request, connection)
      if (pathname === '/') {
        const { jwtToken } = await onFetch.page(server, request, connection)
        return new Response(jwtToken())
      }
      if (pathname !== '/api/me') return new Response('There is nothing here.', { status: 404 })
      return (await onFetch.rest(server, request, connection)) ?? guarded.call(undefined, request)
    }
    return listening(serve({ fetch: fetch as never, port: 0, hostname: '127.0.0.1' }) as Server)
  },
)
