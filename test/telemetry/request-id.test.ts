import express from 'express'
import { type AuthorizationServerOptions, type Endpoint, StoreUnavailable } from 'svc-oauth2server'
import { mount } from 'svc-oauth2server/express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const passedOn: Endpoint = {
  path: () => '/passed-on',
  methods: ['GET'],
  errors: 'json',
  // Returns a `fetch` response, whose headers are immutable.
  handle: () => fetch('data:text/plain,there'),
}
const options: Partial<AuthorizationServerOptions> = {
  logLevel: 'debug',
  extensions: [{ name: 'test', endpoints: [passedOn] }],
  aroundStore: (operation, run) => {
    if (operation.name === 'tokens.findByAccess') throw new StoreUnavailable('down')
    return run()
  },
}

let app: TestServer
beforeAll(async () => {
  app = await startServer(options)
})
afterAll(() => app.close())

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const idOf = async (headers: readonly string[], target = '/oauth/style.css') =>
  (await rawHttp(app, { target, headers })).headers.get('x-request-id')

describe('X-Request-Id', () => {
  test('is unique in every response', async () => {
    const targets = [
      ['GET', '/login', 200],
      ['HEAD', '/login', 200],
      ['POST', '/login', 400],
      ['GET', '/logout', 405],
      ['GET', '/oauth/nothing', 404],
      ['GET', '/account/settings/applications', 308],
      ['GET', '/passed-on', 200],
      ['GET', '/oauth/ping?access_token=abc', 503],
    ] as const
    const ids = new Set<string | null>()
    for (const [method, target, status] of targets) {
      const answer = await rawHttp(app, { method, target })
      expect([target, answer.status]).toEqual([target, status])
      const id = answer.headers.get('x-request-id')
      expect(id, target).toMatch(uuid)
      ids.add(id)
    }
    expect(ids.size).toBe(targets.length)
  })

  test('equals the value of a valid request header', async () => {
    for (const id of ['a', '7c2d-41.x_Z', 'x'.repeat(64)])
      expect(await idOf([`X-Request-Id: ${id}`])).toBe(id)
  })

  test.each([
    ['a long value', [`X-Request-Id: ${'x'.repeat(65)}`]],
    ['a very long value', [`X-Request-Id: ${'x'.repeat(12_000)}`]],
    ['two headers', ['X-Request-Id: a', 'X-Request-Id: b']],
    ['two headers with the same value', ['X-Request-Id: a', 'x-request-id: a']],
    ['an empty value', ['X-Request-Id:']],
    ['a value with a space', ['X-Request-Id: a b']],
    ['a value with a quote', ['X-Request-Id: a"b']],
    ['a value with markup', ['X-Request-Id: <script>']],
    ['a value with an encoded line break', ['X-Request-Id: a%0d%0aSet-Cookie:x']],
    ['a value with a tab', ['X-Request-Id: a\tb']],
    ['a value with a Latin-1 character', ['X-Request-Id: \u00E4\u0085']],
  ])('replaces an invalid request header: %s', async (_name, headers) => {
    expect(await idOf(headers)).toMatch(uuid)
  })

  test.each([
    ['a bare line feed', 'X-Request-Id: a\nSet-Cookie: x=y'],
    ['a bare carriage return', 'X-Request-Id: a\rSet-Cookie: x=y'],
    ['a folded line', 'X-Request-Id: a\r\n Set-Cookie: x=y'],
    ['a zero byte', 'X-Request-Id: a\0b'],
  ])('%s has no effect on the response', async (_name, header) => {
    const answer = await rawHttp(app, { target: '/oauth/style.css', headers: [header] })
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.headers.get('x-request-id') ?? '').toMatch(/^(?:$|[A-Za-z0-9._-]{1,64}$)/)
  })

  test('is in the log entries of its request', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `request-${index}`)
    const responses = await Promise.all(
      ids.map((id) =>
        fetch(`${app.issuer}/oauth/ping?access_token=abc`, { headers: { 'x-request-id': id } }),
      ),
    )
    expect(responses.map(({ headers }) => headers.get('x-request-id'))).toEqual(ids)
    for (const id of ids) {
      const events = app.log.filter(({ requestId }) => requestId === id).map(({ event }) => event)
      expect(events).toEqual(['request.unavailable', 'http.request'])
    }
  })

  test('has the value that the application set', async () => {
    const host = express()
    host.use((_request, response, next) => {
      response.setHeader('X-Request-Id', 'of-the-application')
      next()
    })
    host.use(mount(app.server))
    const http = host.listen(0)
    try {
      const { port } = http.address() as { port: number }
      const answer = await fetch(`http://localhost:${port}/login`, {
        headers: { 'x-request-id': 'of-the-client' },
      })
      expect(answer.headers.get('x-request-id')).toBe('of-the-application')
      expect(app.log.at(-1)).toMatchObject({ requestId: 'of-the-application', route: '/login' })
    } finally {
      http.close()
      http.closeAllConnections()
    }
  })

  test('is absent outside of requests', async () => {
    await app.server.sweep()
    app.server.refusalOf(new StoreUnavailable('down'))
    expect(app.log.at(-1)).toEqual({
      level: 'warn',
      event: 'request.unavailable',
      message: 'A request failed because a service that it needs is not available.',
      error: expect.any(StoreUnavailable),
    })
  })
})
