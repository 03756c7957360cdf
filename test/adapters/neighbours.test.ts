import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express, { type RequestHandler } from 'express'
import { Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { secureHeaders } from 'hono/secure-headers'
import type { AuthorizationServer } from 'svc-oauth2server'
import * as onHono from 'svc-oauth2server/hono'
import type { Middleware } from 'svc-oauth2server/node'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formIn } from '../support/user-agent.ts'
import type { Listening } from './embed.ts'
import {
  mountedOnExpress,
  mountedOnFastify,
  mountedOnHono,
  mountedOnNest,
  mountedOnNode,
} from './hosts/mounted.ts'

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

const hono = (middleware: MiddlewareHandler) => mountedOnHono(server, middleware)

const setPolicy: RequestHandler = (_request, response, next) => {
  response.setHeaders(new Map(Object.entries(policy)))
  next()
}

const policies: Readonly<Record<string, () => Promise<Listening>>> = {
  Express: () => mountedOnExpress(server, setPolicy),
  'node:http': () => mountedOnNode(server, setPolicy as Middleware),
  'Nest on Express': () => mountedOnNest(server, new ExpressAdapter(), setPolicy),
  'Nest on Fastify': () => mountedOnNest(server, new FastifyAdapter(), setPolicy),
  Fastify: () =>
    mountedOnFastify(server, (app) =>
      app.addHook('onRequest', async (_request, reply) => void reply.headers(policy)),
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

const allowed = { origin: 'https://app.example', credentials: true }
/** Headers that middleware such as the package `cors` sets. */
const corsHeaders = {
  'access-control-allow-origin': allowed.origin,
  'access-control-allow-credentials': 'true',
}
const setCors: RequestHandler = (request, response, next) => {
  response.setHeaders(new Map(Object.entries(corsHeaders)))
  if (request.method === 'OPTIONS') response.writeHead(204).end()
  else next()
}

/** CORS middleware of each framework that allows the credentials of one origin. */
const corsBefore: Readonly<Record<string, () => Promise<Listening>>> = {
  Express: () => mountedOnExpress(server, setCors),
  'node:http': () => mountedOnNode(server, setCors as Middleware),
  'Nest on Express': () => mountedOnNest(server, new ExpressAdapter(), setCors),
  'Nest on Fastify': () => mountedOnNest(server, new FastifyAdapter(), setCors),
  Fastify: () =>
    mountedOnFastify(server, (app) =>
      app.addHook('onRequest', async (_request, reply) => void reply.headers(corsHeaders)),
    ),
  Hono: () => hono(cors(allowed)),
}

describe('CORS middleware before mount(server) that allows credentials', () => {
  test.each(Object.entries(corsBefore))(
    '%s lets scripts of its origin use the endpoints with credentials, and read no page [T4620]',
    async (_, start) => {
      const host = await start()
      const ask = async (path: string, method = 'GET', headers = {}) => {
        const init = { method, headers: { origin: allowed.origin, ...headers } }
        const response = await fetch(`http://127.0.0.1:${host.port}${path}`, init)
        await response.body?.cancel()
        return ['origin', 'credentials'].map((name) =>
          response.headers.get(`access-control-allow-${name}`),
        )
      }
      const preflight = { 'access-control-request-method': 'POST' }
      try {
        for (const [path, method, headers] of [
          ['/oauth/token', 'POST', {}],
          ['/oauth/token', 'OPTIONS', preflight],
          ['/.well-known/oauth-authorization-server', 'GET', {}],
        ] as const)
          expect([path, ...(await ask(path, method, headers))]).toEqual([
            path,
            allowed.origin,
            'true',
          ])
        for (const path of ['/login', '/oauth/authorize', '/oauth/errors?error=x'])
          expect([path, ...(await ask(path))]).toEqual([path, null, null])
        // A request without a header Origin takes another way through the server.
        const sent = await fetch(`http://127.0.0.1:${host.port}/oauth/token`, { method: 'POST' })
        await sent.body?.cancel()
        expect(['*', allowed.origin]).toContain(sent.headers.get('access-control-allow-origin'))
      } finally {
        await host.close()
      }
    },
  )
})

const parsers: Readonly<Record<string, readonly RequestHandler[]>> = {
  'express.json() and express.urlencoded()': [
    express.json(),
    express.urlencoded({ extended: true }),
  ],
  'express.text()': [express.text({ type: '*/*' })],
  'express.raw()': [express.raw({ type: '*/*' })],
}

const readers: Readonly<Record<string, () => Promise<Listening>>> = {
  ...Object.fromEntries(
    Object.entries(parsers).flatMap(([name, steps]) => [
      [`Express with ${name}`, () => mountedOnExpress(server, ...steps)],
      [`Nest on Express with ${name}`, () => mountedOnNest(server, new ExpressAdapter(), ...steps)],
      [`Nest on Fastify with ${name}`, () => mountedOnNest(server, new FastifyAdapter(), ...steps)],
    ]),
  ),
  'node:http with a property rawBody': () =>
    mountedOnNode(server, (request, _response, next) => {
      buffer(request).then((rawBody) => {
        Object.assign(request, { rawBody })
        next()
      }, next)
    }),
  'Fastify with a parser for every type': () =>
    mountedOnFastify(server, (app) => {
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
        done(null, body),
      )
    }),
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

// Each of these lets the body flow, or pauses it, before the server reads it.
const listeners: Record<string, () => Promise<Listening>> = {}
for (const [name, start] of Object.entries({
  Express: (...steps: readonly RequestHandler[]) => mountedOnExpress(server, ...steps),
  'node:http': (...steps: readonly RequestHandler[]) =>
    mountedOnNode(server, ...(steps as readonly Middleware[])),
  'Nest on Express': (...steps: readonly RequestHandler[]) =>
    mountedOnNest(server, new ExpressAdapter(), ...steps),
  'Nest on Fastify': (...steps: readonly RequestHandler[]) =>
    mountedOnNest(server, new FastifyAdapter(), ...steps),
})) {
  listeners[`${name} with middleware that listens to the body`] = () =>
    start((request, _response, next) => {
      request.on('data', () => undefined)
      next()
    })
  listeners[`${name} with middleware that pauses the body`] = () =>
    start((request, _response, next) => {
      request.pause()
      // Fixed time: the body arrives while it is paused.
      setTimeout(next, 10)
    })
  listeners[`${name} with the text of the body in rawBody`] = () =>
    start(express.text({ type: '*/*' }), (request, _response, next) => {
      Object.assign(request, { rawBody: request.body, body: undefined })
      next()
    })
}
Object.assign(listeners, {
  'Fastify with a hook that listens to the body': () =>
    mountedOnFastify(server, (app) =>
      app.addHook('preParsing', (_request, _reply, body, done) => {
        body.on('data', () => undefined)
        done(null, body)
      }),
    ),
  'Fastify with a hook that replaces the body': () =>
    mountedOnFastify(server, (app) =>
      app.addHook('preParsing', async (_request, _reply, body) =>
        Readable.from([await buffer(body)]),
      ),
    ),
  'Fastify with ignoreTrailingSlash': () =>
    mountedOnFastify(server, () => undefined, { routerOptions: { ignoreTrailingSlash: true } }),
})

describe('a body that flows before mount(server)', () => {
  test.each(Object.entries(listeners))(
    '%s reaches endpoints and pages as a whole [T4330]',
    async (_, start) => {
      const host = await start()
      const post = (path: string, type: string, body: string, headers = {}) =>
        fetch(`http://127.0.0.1:${host.port}${path}`, {
          method: 'POST',
          headers: { 'content-type': type, ...headers },
          body,
          redirect: 'manual',
        })
      const form = 'application/x-www-form-urlencoded'
      try {
        const user = await server.users.create({
          email: `${crypto.randomUUID()}@example.org`,
          password: 'correct horse 7',
        })
        const { client, clientSecret } = await server.clients.create({
          name: 'Machine',
          userId: user.id,
        })
        const fields = new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: client.clientId,
          client_secret: clientSecret,
        }).toString()
        // A request with the header Origin takes another way through the server.
        for (const headers of [{}, { origin: 'https://app.example' }])
          expect((await post('/oauth/token', form, fields, headers)).status).toBe(200)
        const metadata = JSON.stringify({ redirect_uris: ['https://c.example/cb'] })
        expect((await post('/oauth/register', 'application/json', metadata)).status).toBe(201)
        const page = await fetch(`http://127.0.0.1:${host.port}/login`)
        const [cookie = ''] = page.headers.getSetCookie().map((one) => one.split(';')[0])
        const { hidden } = formIn(await page.text())
        const login = { ...hidden, email: user.email ?? '', password: 'correct horse 7' }
        const text = new URLSearchParams(login).toString()
        const headers = { cookie, origin: server.issuer }
        expect((await post('/login', form, text, headers)).status).toBe(303)
      } finally {
        await host.close()
      }
    },
  )

  test('Fastify responds if a hook has discarded the body [T4331]', async () => {
    const host = await mountedOnFastify(server, (app) =>
      app.addHook('preParsing', async ({ raw }, _reply, body) => {
        await buffer(body)
        raw.headers['content-length'] = '5'
      }),
    )
    try {
      const body = new URLSearchParams({ grant_type: 'client_credentials' })
      const url = `http://127.0.0.1:${host.port}/oauth/token`
      const { status } = await fetch(url, { method: 'POST', body })
      expect(status).toBeGreaterThanOrEqual(400)
    } finally {
      await host.close()
    }
  })
})
