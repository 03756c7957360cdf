import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpointsOf } from '../support/endpoints.ts'
import { everything } from '../support/observed-server.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'

let app: TestServer
let session: LoggedIn
beforeAll(async () => {
  app = await startServer({
    basePath: '/app',
    deviceAuthorization: true,
    dynamicRegistration: 'open',
    accessTokenFormat: 'jwt',
    openidConnect: true,
  })
  session = await logIn(app)
})
afterAll(() => app.close())

const evil = 'https://evil.example'

/** Returns the CORS headers of a response. */
const said = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))

const ask = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
  fetch(`${app.issuer}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { origin: evil, ...init.headers },
  })

const preflight = (path: string, method: string, headers: Record<string, string> = {}) =>
  ask(path, {
    method: 'OPTIONS',
    headers: {
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
      ...headers,
    },
  })

/** Endpoints for scripts of any origin. */
const open = [
  ['/oauth/token', 'POST'],
  ['/oauth/revoke', 'POST'],
  ['/oauth/par', 'POST'],
  ['/oauth/device_authorization', 'POST'],
  ['/oauth/register', 'POST'],
  ['/oauth/register/x', 'DELETE'],
  ['/oauth/jwks', 'GET'],
  ['/oauth/userinfo', 'GET'],
  ['/oauth/ping', 'GET'],
  ['/oauth/info', 'GET'],
  ['/.well-known/oauth-authorization-server', 'GET'],
  ['/.well-known/oauth-protected-resource', 'GET'],
  ['/.well-known/openid-configuration', 'GET'],
  ['/openapi.json', 'GET'],
] as const

/** Paths for users, for pages of the server, and for programs that are not web pages. */
const closed = [
  ['/oauth/authorize?client_id=x', 'GET'],
  ['/oauth/authorize', 'POST'],
  ['/oauth/errors?error=x', 'GET'],
  ['/oauth/device', 'GET'],
  ['/oauth/device', 'POST'],
  ['/oauth/introspect', 'POST'],
  ['/login', 'GET'],
  ['/login', 'POST'],
  ['/logout', 'POST'],
  ['/account/settings/applications/', 'GET'],
  ['/account/settings/applications/clients/new/', 'POST'],
  ['/admin/overview/', 'GET'],
  ['/admin/applications/', 'GET'],
  ['/admin/tokens/', 'GET'],
  ['/oauth/style.css', 'GET'],
  ['/oauth/nothing', 'GET'],
  ['/health/live', 'GET'],
] as const

describe('HT-06 CORS', () => {
  test.each(open)('%s %s allows any origin, without credentials', async (path, method) => {
    const response = await ask(path, { method })
    expect(said(response)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'WWW-Authenticate,DPoP-Nonce,Retry-After',
    })
  })

  test.each(open)('%s %s allows a preflight for a day', async (path, method) => {
    const response = await preflight(path, method)
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(said(response)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining(method),
      'access-control-allow-headers': 'authorization,content-type',
      'access-control-expose-headers': 'WWW-Authenticate,DPoP-Nonce,Retry-After',
      'access-control-max-age': '86400',
    })
  })

  test.each(open)(
    '%s %s allows the requested headers, whatever they are [T1404]',
    async (path, method) => {
      for (const asked of ['x-requested-with', 'authorization, traceparent,baggage', 'x-1,dpop']) {
        const { headers } = await preflight(path, method, {
          'access-control-request-headers': asked,
        })
        expect(headers.get('access-control-allow-headers')).toBe(asked.replaceAll(' ', ''))
        expect(headers.get('access-control-allow-credentials')).toBeNull()
        expect(headers.get('vary')).toContain('Access-Control-Request-Headers')
      }
    },
  )

  test.each(open)('%s %s does not allow the origin null', async (path, method) => {
    const headers = { origin: 'null' }
    for (const response of [
      await ask(path, { method, headers }),
      await preflight(path, method, headers),
    ])
      expect(said(response)).not.toHaveProperty('access-control-allow-origin')
  })

  test.each(open)('%s returns 405 for OPTIONS without a preflight', async (path) => {
    const response = await ask(path, { method: 'OPTIONS' })
    expect([response.status, said(response)]).toEqual([405, {}])
  })

  test.each(closed)(
    '%s %s sends no CORS headers, with or without a preflight',
    async (path, method) => {
      const { cookie } = session
      for (const headers of [
        {},
        { cookie },
        { origin: 'null' },
        { origin: new URL(app.issuer).origin },
      ]) {
        expect(said(await ask(path, { method, headers }))).toEqual({})
        const asked = await preflight(path, method, headers)
        expect(said(asked)).toEqual({})
        expect([404, 405]).toContain(asked.status)
      }
    },
  )

  test('the list contains every endpoint that allows any origin [T3034]', () => {
    const listed = new Set(open.map(([path]) => path.replace(/\/x$/, '/:client_id')))
    const paths = endpointsOf(everything).flatMap(({ endpoint, path }) =>
      endpoint.cors === true ? path : [],
    )
    expect(paths.length).toBeGreaterThan(10)
    expect([...new Set(paths)].sort()).toEqual([...listed].sort())
  })

  test('adds no CORS headers to responses of the application', async () => {
    const token = await app.personalToken(['notes:read'])
    const headers = { authorization: `Bearer ${token}` }
    for (const path of ['/', '/api/public']) {
      expect(said(await ask(path))).toEqual({})
      expect(said(await preflight(path, 'GET'))).toEqual({})
    }
    expect(said(await ask('/api/notes', { headers }))).toEqual({})
    expect(said(await preflight('/api/notes', 'GET'))).toEqual({})
    expect(said(await ask('/api/notes'))).toMatchObject({ 'access-control-allow-origin': '*' })
  })
})
