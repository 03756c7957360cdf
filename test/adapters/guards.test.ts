import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import supertest from 'supertest'
import type { AuthorizationServer } from 'svc-oauth2server'
import * as onExpress from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import * as onFetch from 'svc-oauth2server/fetch'
import * as onHono from 'svc-oauth2server/hono'
import * as onNode from 'svc-oauth2server/node'
import { createTestServer } from 'svc-oauth2server/testing'
import { describe, expect, test } from 'vitest'
import { type Ask, type Guarded, guardsContract, part, site } from '../contracts/guards.ts'

const { default: express4 } = (await import('express4' as string)) as { default: typeof express }

// Applications with guards that the examples do not contain: a guard for any of several scopes, several guards, a guard
// without the REST extension, guards of a part of the application, and misplaced guards.

const inExpress =
  (framework: typeof express) =>
  (server: AuthorizationServer): Guarded => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onExpress
    const app = framework()
    const steps = [
      requireApiAuth(),
      requireOauthScopes('notes:read'),
      requireOauthScopes('notes:write'),
    ]
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const done: express.RequestHandler = (_req, res) => void res.json({})
    app.get('/misplaced', requireApiAuth({ allowAnonymous: true }), done)
    app.use('/part', rest(server, { resource: part }))
    app.get('/part/steps', steps, done)
    app.use('/own', rest(server, { resource: part, requireAudience: true }))
    app.get('/own/steps', steps, done)
    app.use('/site', (_req, res, next) => {
      res.set('access-control-allow-origin', site)
      next()
    })
    app.use(rest(server))
    app.route('/steps').post(requireOauthScopes('notes:share'), done).get(steps, done)
    app.get('/site', ...steps, done)
    app.get('/any', requireApiAuth(), any, done)
    app.get('/all', requireOauthScopes('notes:read', 'notes:write'), done)
    app.get('/alone', any, done)
    return { ask: bySupertest(app), restLooksAhead: false }
  }

const apps: Readonly<Record<string, (server: AuthorizationServer) => Guarded>> = {
  'Express, by supertest': inExpress(express),
  'Express 4, by supertest': inExpress(express4),

  'node:http, by supertest': (server) => {
    const { chain, rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onNode
    const done: onNode.Middleware = (_request, response) => response.end('{}')
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const steps = [
      requireApiAuth(),
      chain(requireOauthScopes('notes:read'), requireOauthScopes('notes:write')),
    ]
    const ofSite: onNode.Middleware = (_request, response, next) => {
      response.setHeader('access-control-allow-origin', site)
      next()
    }
    const routes: Record<string, onNode.Middleware> = {
      '/misplaced': chain(requireApiAuth({ allowAnonymous: true }), done),
      '/steps': chain(rest(server), ...steps, done),
      '/part/steps': chain(rest(server, { resource: part }), ...steps, done),
      '/own/steps': chain(rest(server, { resource: part, requireAudience: true }), ...steps, done),
      '/site': chain(ofSite, rest(server), ...steps, done),
      '/any': chain(rest(server), requireApiAuth(), any, done),
      '/all': chain(rest(server), requireOauthScopes('notes:read', 'notes:write'), done),
      '/alone': chain(rest(server), any, done),
    }
    const ask = bySupertest(
      chain((request, response, next) => routes[request.url ?? '']?.(request, response, next)),
    )
    return { ask, restLooksAhead: true }
  },

  'Fastify, by inject': (server) => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onFastify
    const app = Fastify()
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const all = requireOauthScopes('notes:read', 'notes:write')
    const steps = {
      config: { of: 'the application' },
      onRequest: [requireApiAuth(), requireOauthScopes('notes:read')],
      preHandler: requireOauthScopes('notes:write'),
    }
    const handler = async () => ({})
    app.get('/misplaced', { onRequest: requireApiAuth({ allowAnonymous: true }) }, handler)
    app.register(async (api) => {
      api.addHook('onRequest', async (request, reply) => {
        if (request.url === '/site') reply.header('access-control-allow-origin', site)
      })
      await api.register(rest(server))
      api.get('/steps', steps, handler)
      api.post('/steps', { onRequest: requireOauthScopes('notes:share') }, handler)
      api.get('/site', steps, handler)
      api.get('/any', { preHandler: [requireApiAuth(), any] }, handler)
      api.get('/all', { onRequest: [requireApiAuth(), all] }, handler)
      api.get('/alone', { preValidation: any }, handler)
    })
    app.register(async (api) => {
      await api.register(rest(server, { resource: part }))
      api.get('/part/steps', steps, handler)
    })
    app.register(async (api) => {
      await api.register(rest(server, { resource: part, requireAudience: true }))
      api.get('/own/steps', steps, handler)
    })
    const ask: Ask = async (url, headers = {}, method = 'GET') => {
      const answer = await app.inject({ url, headers, method })
      return { status: answer.statusCode, headers: headersOf(answer.headers) }
    }
    return { ask, restLooksAhead: true }
  },

  'Hono, by request': (server) => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onHono
    const app = new Hono()
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const steps = [
      requireApiAuth(),
      requireOauthScopes('notes:read'),
      requireOauthScopes('notes:write'),
    ] as const
    app.get('/misplaced', requireApiAuth({ allowAnonymous: true }), (c) => c.json({}))
    const parts = new Hono().onError((error) => {
      throw error
    })
    parts.use(rest(server, { resource: part }))
    parts.get('/steps', ...steps, (c) => c.json({}))
    app.route('/part', parts)
    app.use('/own/*', rest(server, { resource: part, requireAudience: true }))
    app.get('/own/steps', ...steps, (c) => c.json({}))
    app.use('/site', async (c, next) => {
      c.header('access-control-allow-origin', site)
      await next()
    })
    for (const path of ['/steps', '/site', '/any', '/all', '/alone']) app.use(path, rest(server))
    app.get('/steps', ...steps, (c) => c.json({}))
    app.post('/steps', requireOauthScopes('notes:share'), (c) => c.json({}))
    app.get('/site', ...steps, (c) => c.json({}))
    app.get('/any', requireApiAuth(), any, (c) => c.json({}))
    app.get('/all', requireOauthScopes('notes:read', 'notes:write'), (c) => c.json({}))
    app.get('/alone', any, (c) => c.json({}))
    // This route matches all paths, but the routes before it handle the guarded paths.
    app.get('*', requireOauthScopes('notes:share'), (c) => c.json({}))
    const ask: Ask = async (path, headers = {}, method = 'GET') =>
      app.request(path, { headers, method })
    return { ask, restLooksAhead: true }
  },

  'fetch, by itself': (server) => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onFetch
    const done = async () => Response.json({})
    const guarded = (...guards: onFetch.HandlerGuard[]) =>
      guards.reduceRight(
        (handler, guard) => guard(handler),
        done as onFetch.Handler<unknown, Request, [], Promise<Response>>,
      )
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const steps = guarded(
      requireApiAuth(),
      requireOauthScopes('notes:read'),
      requireOauthScopes('notes:write'),
    )
    const routes: Record<string, ReturnType<typeof guarded>> = {
      '/misplaced': guarded(requireApiAuth({ allowAnonymous: true })),
      '/steps': steps,
      '/part/steps': steps,
      '/own/steps': steps,
      '/site': steps,
      '/any': guarded(requireApiAuth(), any),
      '/all': guarded(requireOauthScopes('notes:read', 'notes:write')),
      '/alone': guarded(any),
    }
    const answer = async (path: string, request: Request): Promise<Response> => {
      const options = {
        ...(/^\/(?:part|own)\//.test(path) ? { resource: part } : {}),
        requireAudience: path.startsWith('/own/'),
      }
      const refusal = path === '/misplaced' ? undefined : await rest(server, request, {}, options)
      const given = refusal ?? (await routes[path]?.call(undefined, request)) ?? Response.error()
      if (path === '/site') given.headers.set('access-control-allow-origin', site)
      return given
    }
    const ask: Ask = async (path, headers = {}, method = 'GET') => {
      const request = new Request(`http://localhost${path}`, { headers, method })
      // The application converts an unhandled error to a response.
      return answer(path, request).catch(() => new Response(null, { status: 500 }))
    }
    return { ask, restLooksAhead: false }
  },
}

const bySupertest = (app: Parameters<typeof supertest>[0]): Ask => {
  return async (path, headers = {}, method = 'GET') => {
    const asked = method === 'HEAD' ? supertest(app).head(path) : supertest(app).get(path)
    const answer = await asked.set(headers)
    return { status: answer.status, headers: headersOf(answer.headers) }
  }
}

const headersOf = (headers: Readonly<Record<string, unknown>>): Headers =>
  new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]))

for (const [title, build] of Object.entries(apps)) guardsContract(title, build)

describe('creating a guard', () => {
  test.each([onExpress, onFastify, onHono, onNode, onFetch])(
    'throws without a scope or with an invalid scope',
    ({ requireOauthScopes, requireAnyOauthScope }) => {
      for (const scopes of [[], [''], [undefined], [['notes:read']]])
        for (const make of [requireOauthScopes, requireAnyOauthScope])
          expect(() => make(...(scopes as string[]))).toThrow(TypeError)
    },
  )

  test('throws for a resource that the server does not protect', async () => {
    const server = await createTestServer({ resources: [{ resource: part }] })
    const why = `There is no resource ${part}/. The resources of the server are: http://localhost, ${part}.`
    for (const { rest } of [onExpress, onFastify, onHono, onNode])
      expect(() => rest(server, { resource: `${part}/` })).toThrow(new TypeError(why))
    const request = new Request('http://localhost/')
    await expect(onFetch.rest(server, request, {}, { resource: `${part}/` })).rejects.toThrow(why)
    await server.close()
  })
})

test.each([express, express4])(
  'Express: a REST extension on the route lists the scopes of the route for an invalid token',
  async (framework) => {
    const { rest, requireApiAuth, requireOauthScopes } = onExpress
    const server = await createTestServer()
    const app = framework()
    const guards = [requireApiAuth(), requireOauthScopes('user:email')]
    const done: express.RequestHandler = (_req, res) => void res.json({})
    app.get('/at', rest(server), guards, done)
    app.use('/before', rest(server))
    app.get('/before', guards, done)
    app.get('/before/open', done)
    const ask = bySupertest(app)
    const refused = async (path: string) => {
      const { status, headers } = await ask(path, { authorization: 'Bearer bad' })
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('error="invalid_token"'),
      ])
      return headers.get('www-authenticate')
    }
    expect(await refused('/at')).toContain('scope="user:email"')
    expect(await refused('/before')).not.toContain('scope=')
    // This path has no guard, so the challenge must not contain a scope.
    expect(await refused('/before/open')).not.toContain('scope=')
    await server.close()
  },
)

test('Fastify: without await, the REST extension refuses callers, but the challenge omits the scopes of later guards', async () => {
  const server = await createTestServer()
  const app = Fastify()
  app.register(async (api) => {
    api.register(onFastify.rest(server))
    const guards = [onFastify.requireApiAuth(), onFastify.requireOauthScopes('user:email')]
    api.get('/', { onRequest: guards }, async () => ({}))
  })
  const answer = await app.inject({ url: '/' })
  expect(answer.statusCode).toBe(401)
  expect(answer.headers['www-authenticate']).not.toContain('scope=')
  await server.close()
})
