import { createServer, type RequestListener, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { serve } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { AuthorizationServer } from 'svc-oauth2server'
import * as onExpress from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import * as onHono from 'svc-oauth2server/hono'
import * as onNode from 'svc-oauth2server/node'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Listening, listening } from './embed.ts'

// Middleware of the application that runs before `mount(server)`, in every adapter: it sets a security policy of its own,
// or reads the body.

let server: AuthorizationServer
beforeAll(async () => {
  server = await createTestServer({ dynamicRegistration: 'open' })
})
afterAll(() => server.close())

/** Headers that middleware such as helmet sets. */
const policy = {
  'content-security-policy': "default-src 'self'; form-action 'none'; frame-ancestors 'self'",
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'unsafe-url',
  'cache-control': 'public, max-age=60',
  'x-of-host': '1',
}

const hono = (middleware: MiddlewareHandler) => {
  const app = new Hono().use(middleware, onHono.mount(server))
  return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
}

const http = async (listener: RequestListener): Promise<Listening> =>
  listening(createServer(listener).listen(0, '127.0.0.1'))

const fastify = async (app: ReturnType<typeof Fastify>): Promise<Listening> => {
  await app.register(onFastify.mount(server)).listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  return { port, close: () => app.close() }
}

const policies: Readonly<Record<string, () => Promise<Listening>>> = {
  Express: () =>
    http(
      express()
        .use((_request, response, next) => {
          response.set(policy)
          next()
        })
        .use(onExpress.mount(server)),
    ),
  'node:http': () =>
    http(
      onNode.chain((_request, response, next) => {
        response.setHeaders(new Map(Object.entries(policy)))
        next()
      }, onNode.mount(server)),
    ),
  Fastify: () =>
    fastify(
      Fastify().addHook(
        'onRequest',
        async (_request, reply) => void reply.headers(policy),
      ) as never,
    ),
  'Hono, before the response': () =>
    hono(async (c, next) => {
      for (const [name, value] of Object.entries(policy)) c.header(name, value)
      await next()
    }),
  'Hono, in the response so far': () =>
    hono(async (c, next) => {
      for (const [name, value] of Object.entries(policy)) c.res.headers.set(name, value)
      await next()
    }),
  'Hono, after the response': () =>
    hono(async (c, next) => {
      await next()
      for (const [name, value] of Object.entries(policy)) c.header(name, value)
    }),
  'Hono with secureHeaders()': () => {
    const secure = secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'self'"], formAction: ["'none'"] },
      referrerPolicy: 'unsafe-url',
    })
    return hono(async (c, next) => {
      c.header('x-of-host', '1')
      await secure(c, next)
    })
  },
}

describe('a policy of the application before mount(server)', () => {
  test.each(Object.entries(policies))(
    '%s keeps the policy of the pages, and the other headers of the application [T3911]',
    async (_, start) => {
      const host = await start()
      try {
        for (const path of ['/login', '/oauth/errors?error=x', '/oauth/ping']) {
          const alone = await server.fetch(new Request(`http://localhost${path}`))
          const { headers } = await fetch(`http://127.0.0.1:${host.port}${path}`)
          for (const name of ['content-security-policy', 'referrer-policy', 'cache-control'])
            if (alone.headers.has(name))
              // The nonce of a page differs in each response.
              expect([path, name, withoutNonce(headers.get(name))]).toEqual([
                path,
                name,
                withoutNonce(alone.headers.get(name)),
              ])
          expect(headers.get('x-of-host')).toBe('1')
        }
      } finally {
        await host.close()
      }
    },
  )
})

const withoutNonce = (value: string | null): string | undefined =>
  value?.replaceAll(/'nonce-[^']+'/g, '')

const readers: Readonly<Record<string, () => Promise<Listening>>> = {
  'Express with express.json() and express.urlencoded()': () =>
    http(
      express()
        .use(express.json(), express.urlencoded({ extended: true }))
        .use(onExpress.mount(server)),
    ),
  'Express with express.text()': () =>
    http(
      express()
        .use(express.text({ type: '*/*' }))
        .use(onExpress.mount(server)),
    ),
  'Express with express.raw()': () =>
    http(
      express()
        .use(express.raw({ type: '*/*' }))
        .use(onExpress.mount(server)),
    ),
  'node:http with a property rawBody': () =>
    http(
      onNode.chain((request, _response, next) => {
        buffer(request).then((rawBody) => {
          Object.assign(request, { rawBody })
          next()
        }, next)
      }, onNode.mount(server)),
    ),
  'Fastify with a parser for every type': () => {
    const app = Fastify()
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    return fastify(app)
  },
  'Hono with c.req.text()': () =>
    hono(async ({ req }, next) => {
      await req.text()
      await next()
    }),
  'Hono with c.req.json() and c.req.parseBody()': () =>
    hono(async ({ req }, next) => {
      if (req.header('content-type') === 'application/json') await req.json()
      else await req.parseBody()
      await next()
    }),
}

describe('a body parser before mount(server)', () => {
  test.each(Object.entries(readers))(
    '%s registers a client, and issues a token for a form [T3912]',
    async (_, start) => {
      const host = await start()
      const post = (path: string, type: string, body: string) =>
        fetch(`http://127.0.0.1:${host.port}${path}`, {
          method: 'POST',
          headers: { 'content-type': type },
          body,
        })
      try {
        const metadata = { redirect_uris: ['https://c.example/cb'], client_name: 'Größe 日本' }
        const registered = await post(
          '/oauth/register',
          'application/json',
          JSON.stringify(metadata),
        )
        expect(registered.status).toBe(201)
        const { client_id, client_secret, client_name } = (await registered.json()) as Record<
          string,
          string
        >
        expect(client_name).toBe(metadata.client_name)
        const form = new URLSearchParams({ token: 'x', client_id, client_secret } as never)
        const type = 'application/x-www-form-urlencoded'
        expect((await post('/oauth/revoke', type, form.toString())).status).toBe(200)
      } finally {
        await host.close()
      }
    },
  )

  test('fetch says what to change if the body was already read [T3913]', async () => {
    const request = new Request('http://localhost/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    await request.text()
    const entries: unknown[] = []
    const other = await createTestServer({ log: ({ error }) => entries.push(error) })
    expect((await other.fetch(request)).status).toBe(500)
    expect(String(entries.at(-1))).toContain('Pass request.clone()')
    await other.close()
  })

  test('Hono says what to change if the body was read from c.req.raw [T3914]', async () => {
    const failed: unknown[] = []
    const app = new Hono().use(async ({ req }, next) => {
      await req.raw.text()
      await next()
    }, onHono.mount(server))
    app.onError((error, c) => {
      failed.push(error)
      return c.text('', 500)
    })
    const body = new URLSearchParams({ grant_type: 'client_credentials' })
    await app.request('/oauth/token', { method: 'POST', body })
    expect(String(failed)).toContain('move mount(server) before')
  })
})
