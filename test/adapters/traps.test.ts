import type { Server } from 'node:http'
import { connect, createServer } from 'node:http2'
import { text } from 'node:stream/consumers'
import { serve } from '@hono/node-server'
import express, { type RequestHandler } from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import supertest from 'supertest'
import type { AuthorizationServer } from 'svc-oauth2server'
import * as onExpress from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import * as onHono from 'svc-oauth2server/hono'
import * as onNode from 'svc-oauth2server/node'
import { actAs, createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listening, portOf } from './embed.ts'

// Cases that only one framework can cause. The adapter contract covers cases of all frameworks.

let server: AuthorizationServer
let authorization: string
beforeAll(async () => {
  server = await createTestServer()
  const { user } = await actAs(server)
  const { client, clientSecret } = await server.clients.create({ name: 'C', userId: user.id })
  authorization = `Basic ${btoa(`${client.clientId}:${clientSecret}`)}`
})
afterAll(() => server.close())

const form = 'application/x-www-form-urlencoded'
const grant = 'grant_type=client_credentials'

describe('Express', () => {
  // Reads the body without storing it.
  const drain: RequestHandler = (request, _response, next) => {
    request.resume().once('end', () => next())
  }

  test('reports an error if a body was read but not stored, and accepts a request without a body', async () => {
    const failed: unknown[] = []
    const app = express().use(drain).use(onExpress.mount(server))
    app.use(((error, _request, response, _next) => {
      failed.push(error)
      response.status(500).end()
    }) satisfies express.ErrorRequestHandler)
    expect((await supertest(app).get('/login')).status).toBe(200)
    expect(failed).toEqual([])
    const headers = { authorization, 'content-type': form }
    expect((await supertest(app).post('/oauth/token').set(headers).send(grant)).status).toBe(500)
    expect(String(failed[0])).toContain('before mount(server)')
  })

  const tokenStatus = async (parser: RequestHandler, body: string) => {
    const app = express().use(parser).use(onExpress.mount(server))
    const headers = { authorization, 'content-type': form }
    return (await supertest(app).post('/oauth/token').set(headers).send(body)).status
  }

  test.each<[string, RequestHandler]>([
    ['raw', express.raw({ type: form })],
    ['text', express.text({ type: form })],
    ['a simple form', express.urlencoded({ extended: false })],
    ['a nested form', express.urlencoded({ extended: true })],
  ])('reads a body that was parsed as %s, and detects repeated parameters', async (_, parser) => {
    expect(await tokenStatus(parser, grant)).toBe(200)
    expect(await tokenStatus(parser, `${grant}&${grant}`)).toBe(400)
  })

  test('preserves headers and cookies that the application has set', async () => {
    const app = express()
      .use((_req, res, next) => {
        res.cookie('theme', 'dark').set('x-host', '1')
        next()
      })
      .use(onExpress.mount(server))
      .get('/', onExpress.page(server), (_req, res) => res.json({}))
    for (const [path, cookies] of [
      ['/', 2],
      ['/login', 2],
      ['/oauth/ping', 1],
    ] as const) {
      const { headers } = await supertest(app).get(path)
      expect([path, headers['x-host']]).toEqual([path, '1'])
      expect(headers['set-cookie']).toHaveLength(cookies)
    }
  })
})

describe('Fastify', () => {
  const built = async (build: (app: FastifyInstance) => unknown): Promise<FastifyInstance> => {
    const app = Fastify()
    await build(app)
    await app.ready()
    return app
  }

  test('preserves headers and cookies that hooks of the application have set', async () => {
    const app = await built((app) =>
      app
        .addHook('onRequest', async (_request, reply) => {
          reply.header('set-cookie', 'theme=dark').header('x-host', '1')
        })
        .register(onFastify.mount(server))
        .get('/', { onRequest: onFastify.page(server) }, async () => ({})),
    )
    for (const [url, cookies] of [
      ['/', 2],
      ['/login', 2],
      ['/oauth/ping', 1],
    ] as const) {
      const { headers } = await app.inject(url)
      expect([url, headers['x-host']]).toEqual([url, '1'])
      expect([headers['set-cookie']].flat()).toHaveLength(cookies)
    }
  })

  test('serves the path of the issuer after registration in a scope, with or without a prefix', async () => {
    const inShop = await createTestServer({ issuer: 'http://localhost/shop' })
    for (const prefix of ['', '/', '/shop', '/shop/']) {
      const app = await built((app) =>
        app.register(async (scope) => void scope.register(onFastify.mount(inShop)), { prefix }),
      )
      const statuses = await Promise.all(
        ['/shop/oauth/style.css', '/shop/login', '/oauth/style.css', '/shop/shop/login'].map(
          async (url) => (await app.inject(url)).statusCode,
        ),
      )
      expect(statuses).toEqual([200, 200, 404, 404])
    }
    const elsewhere = Fastify().register(onFastify.mount(inShop), { prefix: '/sho' })
    await expect(elsewhere.ready()).rejects.toThrow('not under the prefix /sho')
    await inShop.close()
  })

  test('reports at start-up a path that the application also uses', async () => {
    const app = Fastify().get('/login', async () => ({}))
    await expect(app.register(onFastify.mount(server)).ready()).rejects.toThrow('/login')
  })
})

describe('Hono', () => {
  const ask = async (
    middleware: MiddlewareHandler,
    path: string,
    init: RequestInit = {},
  ): Promise<Response> => {
    const app = new Hono()
    app.use(middleware, onHono.mount(server), onHono.rest(server))
    app.post('/api', onHono.requireApiAuth(), async (c) => c.text(await c.req.text()))
    app.get('/cached', (c) => c.text('', 200, { 'cache-control': 'max-age=60' }))
    const http = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
    const { close } = await listening(http)
    try {
      const answer = await fetch(`http://localhost:${portOf(http)}${path}`, init)
      return new Response(await answer.text(), answer)
    } finally {
      await close()
    }
  }

  const reading = (how: 'parseBody' | 'formData' | 'text' | 'arrayBuffer'): MiddlewareHandler => {
    return async ({ req }, next) => {
      await req[how]()
      await next()
    }
  }

  test.each<[string, MiddlewareHandler]>([
    ['parseBody()', reading('parseBody')],
    ['formData()', reading('formData')],
    ['text()', reading('text')],
    ['arrayBuffer()', reading('arrayBuffer')],
    ['bodyLimit()', bodyLimit({ maxSize: 1000 })],
  ])('reads a body that %s has already read, and detects repeated parameters', async (_, by) => {
    const token = (body: string) =>
      ask(by, '/oauth/token', {
        method: 'POST',
        headers: { authorization, 'content-type': form },
        body,
      })
    expect((await token(grant)).status).toBe(200)
    expect((await token(`${grant}&${grant}`)).status).toBe(400)
  })

  test('identifies the caller in a guard even if middleware has replaced the request', async () => {
    const { headers } = await actAs(server)
    const body = new Blob(['chunked']).stream()
    const init = { method: 'POST', headers, body, duplex: 'half' }
    const app: MiddlewareHandler = async (_c, next) => next()
    expect((await ask(app, '/api', init as RequestInit)).status).toBe(200)
    const again = { ...init, body: new Blob(['chunked']).stream() }
    const limited = await ask(bodyLimit({ maxSize: 1000 }), '/api', again as RequestInit)
    expect([limited.status, await limited.text()]).toEqual([200, 'chunked'])
  })

  test('preserves the caching headers of the application', async () => {
    const { headers } = await actAs(server)
    const answer = await ask(async (_c, next) => next(), '/cached', { headers })
    expect(answer.headers.get('cache-control')).toBe('max-age=60')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })
})

describe('HTTP/2', () => {
  test('reads request headers without the pseudo-headers', async () => {
    const host = await createTestServer({ loginUrl: '/enter', resourceOwner: () => id })
    const { id } = await host.users.create({ email: 'a@example.org', password: null })
    const { jwtToken } = await host.pageSession({
      cookie: null,
      address: '',
      userAgent: '',
      raw: {},
    })
    const app = onNode.chain(onNode.rest(host), onNode.requireApiAuth(), (request, response) =>
      response.end(onNode.authOf(request).kind),
    )
    const http = createServer((request, response) => app(request as never, response as never))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const client = connect(`http://localhost:${portOf(http as never)}`)
    const answer = client.request({ ':path': '/', authorization: `Bearer ${jwtToken()}` })
    expect(await text(answer)).toBe('session')
    client.close()
    http.close()
    await host.close()
  })
})
