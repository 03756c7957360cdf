import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import supertest from 'supertest'
import { type AuthorizationServer, Scope } from 'svc-oauth2server'
import * as onExpress from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import * as onFetch from 'svc-oauth2server/fetch'
import * as onHono from 'svc-oauth2server/hono'
import * as onNode from 'svc-oauth2server/node'
import { actAs, createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

// The testing kit as applications use it, and by it what the examples do not show: guards of any scope,
// guards that stand alone, and guards that were put in the wrong place.

type Ask = (
  path: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ status: number; challenge: string | null }>

const apps: Readonly<Record<string, (server: AuthorizationServer) => Ask>> = {
  'Express, by supertest': (server) => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onExpress
    const app = express()
    app.get('/misplaced', requireApiAuth({ allowAnonymous: true }), (_req, res) => res.json({}))
    app.use(rest(server))
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    app.get('/any', requireApiAuth(), any, (_req, res) => res.json({}))
    const all = requireOauthScopes('notes:read', 'notes:write')
    app.get('/all', requireApiAuth(), all, (_req, res) => res.json({}))
    app.get('/alone', any, (_req, res) => res.json({}))
    return bySupertest(app)
  },
  'node:http, by supertest': (server) => {
    const { chain, rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onNode
    const done: onNode.Middleware = (_request, response) => response.end('{}')
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const routes: Record<string, onNode.Middleware> = {
      '/misplaced': chain(requireApiAuth({ allowAnonymous: true }), done),
      '/any': chain(rest(server), requireApiAuth(), any, done),
      '/all': chain(rest(server), requireOauthScopes('notes:read', 'notes:write'), done),
      '/alone': chain(rest(server), any, done),
    }
    return bySupertest(
      chain((request, response, next) => routes[request.url ?? '']?.(request, response, next)),
    )
  },
  'Fastify, by inject': (server) => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onFastify
    const app = Fastify()
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const all = requireOauthScopes('notes:read', 'notes:write')
    const handler = async () => ({})
    app.get('/misplaced', { onRequest: requireApiAuth({ allowAnonymous: true }) }, handler)
    app.register(async (api) => {
      api.register(rest(server))
      api.get('/any', { preHandler: [requireApiAuth(), any] }, handler)
      api.get('/all', { onRequest: [requireApiAuth(), all] }, handler)
      api.get('/alone', { preValidation: any }, handler)
    })
    return async (url, headers = {}) => {
      const answer = await app.inject({ url, headers })
      const challenge = answer.headers['www-authenticate']
      return {
        status: answer.statusCode,
        challenge: challenge === undefined ? null : `${challenge}`,
      }
    }
  },
  'Hono, by request': (server) => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onHono
    const app = new Hono()
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    app.get('/misplaced', requireApiAuth({ allowAnonymous: true }), (c) => c.json({}))
    app.use(rest(server))
    app.get('/any', requireApiAuth(), any, (c) => c.json({}))
    app.get('/all', requireOauthScopes('notes:read', 'notes:write'), (c) => c.json({}))
    app.get('/alone', any, (c) => c.json({}))
    return async (path, headers = {}) => answerOf(await app.request(path, { headers }))
  },
  'fetch, by itself': (server) => {
    const { rest, requireAnyOauthScope, requireApiAuth, requireOauthScopes } = onFetch
    const done = async () => Response.json({})
    // What the language does for a method that these decorators stand at.
    const decorated = (...decorators: onFetch.HandlerDecorator[]) =>
      decorators.reduceRight(
        (method, decorator) => decorator(method, {} as ClassMethodDecoratorContext),
        done as onFetch.Handler<unknown, [], Promise<Response>>,
      )
    const any = requireAnyOauthScope('notes:read', 'notes:write')
    const routes: Record<string, ReturnType<typeof decorated>> = {
      '/misplaced': decorated(requireApiAuth({ allowAnonymous: true })),
      '/any': decorated(requireApiAuth(), any),
      '/all': decorated(requireOauthScopes('notes:read', 'notes:write')),
      '/alone': decorated(any),
    }
    const answer = async (path: string, request: Request): Promise<Response> => {
      const refusal = path === '/misplaced' ? undefined : await rest(server, request)
      return refusal ?? routes[path]?.call(undefined, request) ?? Response.error()
    }
    return async (path, headers = {}) => {
      const request = new Request(`http://localhost${path}`, { headers })
      // What rejects is the application's to answer.
      const otherwise = () => new Response(null, { status: 500 })
      return answerOf(await answer(path, request).catch(otherwise))
    }
  },
}

const bySupertest = (app: Parameters<typeof supertest>[0]): Ask => {
  return async (path, headers = {}) => {
    const answer = await supertest(app).get(path).set(headers)
    return { status: answer.status, challenge: answer.headers['www-authenticate'] ?? null }
  }
}

const answerOf = async ({ status, headers }: Response) => ({
  status,
  challenge: headers.get('www-authenticate'),
})

let server: AuthorizationServer
beforeAll(async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  const scopes = ['notes:read', 'notes:write', 'notes:share'].map((id) => new Scope(id))
  server = await createTestServer({ scopes })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await server.close()
})

describe.each(Object.entries(apps))('%s', (_, build) => {
  let ask: Ask
  beforeAll(() => {
    ask = build(server)
  })
  const statuses = async (scopes: readonly string[]) => {
    const { headers } = await actAs(server, { scopes })
    return Promise.all(
      ['/any', '/all', '/alone'].map(async (path) => (await ask(path, headers)).status),
    )
  }

  test('any of the scopes is enough, or all are needed', async () => {
    expect(await statuses(['notes:read', 'notes:write'])).toEqual([200, 200, 200])
    expect(await statuses(['notes:write'])).toEqual([200, 403, 200])
    expect(await statuses(['notes:share'])).toEqual([403, 403, 403])
    expect(await statuses([])).toEqual([403, 403, 403])
  })

  test('a refusal names the scopes that would do', async () => {
    const { headers } = await actAs(server)
    for (const path of ['/any', '/all'])
      expect((await ask(path, headers)).challenge).toMatch(/, scope="notes:read notes:write", /)
  })

  test('a scope guard lets nobody through who is not authenticated', async () => {
    for (const path of ['/any', '/all', '/alone']) {
      const { status, challenge } = await ask(path)
      expect([status, challenge]).toEqual([401, expect.not.stringContaining('error=')])
    }
  })

  test('a guard before rest(server) lets nobody through: 500', async () => {
    const { headers } = await actAs(server)
    expect((await ask('/misplaced', headers)).status).toBe(500)
  })
})

test.each([onExpress, onFastify, onHono, onNode, onFetch])(
  'a guard that asks for no scope, or for none that is one, throws where it is made',
  ({ requireOauthScopes, requireAnyOauthScope }) => {
    for (const scopes of [[], [''], [undefined], [['notes:read']]])
      for (const make of [requireOauthScopes, requireAnyOauthScope])
        expect(() => make(...(scopes as string[]))).toThrow(TypeError)
  },
)
