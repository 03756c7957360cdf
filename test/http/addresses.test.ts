import type { Endpoint } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressesOf } from '../../src/http/request-target.ts'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'

/** Creates an endpoint that returns the path parameters. */
const endpoint = (
  path: string,
  names: readonly string[],
  { methods = ['GET'], errors = 'page' }: Partial<Pick<Endpoint, 'methods' | 'errors'>> = {},
): Endpoint => ({
  path: ({ settingsPrefix }) => `${settingsPrefix}${path}`,
  methods,
  errors,
  async handle(request) {
    if (request.method === 'POST') await request.form()
    return Response.json({ at: path, values: names.map((name) => request.param(name)) })
  },
})

const things = {
  name: 'things',
  endpoints: [
    endpoint('/things/:thing/', ['thing']),
    endpoint('/things/new/', []),
    endpoint('/things/:thing/parts/:part/', ['thing', 'part'], { methods: ['GET', 'POST'] }),
    endpoint('/list/', [], { methods: ['GET', 'POST'] }),
    endpoint('/data/:id', ['id'], { errors: 'json' }),
    endpoint('/wrong/:id/', ['other']),
  ],
}

let app: TestServer
let root: string
beforeAll(async () => {
  app = await startServer({ extensions: [things], basePath: '/app', settingsPrefix: '/me' })
  root = '/app/me'
})
afterAll(() => app.close())

const send = (target: string, headers: readonly string[] = [], method = 'GET') =>
  rawHttp(app, { target, headers, method })

const html = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const json = 'Accept: application/json'

describe('a path with parameters', () => {
  test.each<[target: string, at: string, values: readonly string[]]>([
    ['/things/1/', '/things/:thing/', ['1']],
    ['/things/new/', '/things/new/', []],
    ['/things/a%20b/', '/things/:thing/', ['a b']],
    ['/things/a+b/', '/things/:thing/', ['a+b']],
    ['/things/%C3%A9/', '/things/:thing/', ['é']],
    ['/things/a%2Fb/', '/things/:thing/', ['a/b']],
    ['/things/..a%2Fnew/', '/things/:thing/', ['..a/new']],
    ['/things/%2561/', '/things/:thing/', ['%61']],
    ['/things/%25/', '/things/:thing/', ['%']],
    ['/things/%3Ax/', '/things/:thing/', [':x']],
    ['/things/:thing/', '/things/:thing/', [':thing']],
    ['/things/__proto__/', '/things/:thing/', ['__proto__']],
    [
      '/things/constructor/parts/toString/',
      '/things/:thing/parts/:part/',
      ['constructor', 'toString'],
    ],
    ['/things/1/parts/2/?thing=3&part=4', '/things/:thing/parts/:part/', ['1', '2']],
    ['/data/5', '/data/:id', ['5']],
  ])('routes %s to %s with the parameters %j', async (target, at, values) => {
    const response = await send(`${root}${target}`)
    expect(response.status).toBe(200)
    const text = Buffer.from(response.text, 'latin1').toString()
    expect(JSON.parse(text)).toEqual({ at, values })
  })

  test.each([
    '/things/%/',
    '/things/%zz/',
    '/things/%E0%A4%A/',
    '/things/%C3/',
    '/things/%FF/parts/1/',
    '/things/a%00b/',
    '/things/a%0Ab/',
    '/things//',
    '/things/',
    '/things/1/other/',
    '/things/1/parts//',
    '/data/%zz',
    '/data/',
    '/list/more',
  ])('returns 404 for %s', async (target) => {
    const response = await send(`${root}${target}`)
    expect(response.status).toBe(404)
    expect(app.log.filter(({ event }) => event === 'request.failed')).toEqual([])
  })

  test('throws for a parameter that the path pattern does not contain', async () => {
    expect((await send(`${root}/wrong/1/`)).status).toBe(500)
    expect(app.log.at(-1)).toMatchObject({ event: 'request.failed' })
  })
})

describe('a path without its slash', () => {
  test.each([
    ['/list', '/list/'],
    ['/list?a=b&c=%2F', '/list/?a=b&c=%2F'],
    ['/things/new', '/things/new/'],
    ['/things/1', '/things/1/'],
    ['/things/a%2Fb', '/things/a%2Fb/'],
    ['/things/1/parts/2?x', '/things/1/parts/2/?x'],
  ])('%s redirects to %s', async (target, location) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const response = await send(`${root}${target}`, [], method)
      expect(response.status).toBe(308)
      expect(response.headers.get('location')).toBe(`${root}${location}`)
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })

  test('does not redirect other paths', async () => {
    for (const target of ['/things', '/data', '/other'])
      expect((await send(`${root}${target}`)).status).toBe(404)
  })
})

describe('errors of pages', () => {
  test.each([
    ['a wrong method', 405, () => send(`${root}/list/`, [html], 'DELETE')],
    ['a body that is not a form', 400, () => send(`${root}/list/`, [html], 'POST')],
    ['an unknown path', 404, () => send(`${root}/things/1/other/`, [html])],
    ['a malformed path', 404, () => send(`${root}/things/%/`, [html])],
  ])('for %s, returns %i with a page to a browser', async (_, status, ask) => {
    const response = await ask()
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('set-cookie')).toBeNull()
    expect(response.text).toContain('href="/app/"')
  })

  test.each([
    ['a wrong method', 405, () => send(`${root}/list/`, [json], 'DELETE')],
    ['a body that is not a form', 400, () => send(`${root}/list/`, [json], 'POST')],
    ['an unknown path', 404, () => send(`${root}/things/1/other/`, [json])],
    ['a malformed path', 404, () => send(`${root}/things/%/`, [json])],
    ['a wrong method without an Accept header', 405, () => send(`${root}/list/`, [], 'DELETE')],
  ])('for %s, returns %i with JSON to a script', async (_, status, ask) => {
    const response = await ask()
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(response.text)).toEqual({
      error: 'invalid_request',
      error_description: expect.any(String),
    })
  })

  test('lists the allowed methods for a wrong method', async () => {
    for (const accept of [html, json]) {
      const response = await send(`${root}/list/`, [accept], 'PUT')
      expect(response.headers.get('allow')).toBe('GET, HEAD, POST')
      expect(response.text).toContain('Allowed: GET, HEAD, POST.')
    }
  })

  test('returns JSON to a browser at endpoints without pages', async () => {
    const response = await send(`${root}/data/1`, [html], 'POST')
    expect(response.status).toBe(405)
    expect(response.headers.get('content-type')).toBe('application/json')
  })

  test('displays the problem in the reader’s language, and the error description of the protocol in English', async () => {
    const response = await send(`${root}/list/`, [html, 'Accept-Language: de'], 'POST')
    expect(response.text).toContain('Was gesendet wurde, ist nicht lesbar.')
    expect(response.text).toContain('The content type must be application/x-www-form-urlencoded.')
  })

  test('returns 413 for a body that is too large', async () => {
    const response = await new UserAgent({ accept: 'text/html' }).fetch(`${app.issuer}/me/list/`, {
      method: 'POST',
      body: new URLSearchParams({ x: 'x'.repeat(70_000) }),
    })
    expect(response.status).toBe(413)
    expect(await response.text()).toContain('The request is too large.')
  })
})

describe('the paths that a host passes to the server', () => {
  test('include everything below a directory, but no sibling of the directory', () => {
    const { handles, addresses } = app.server
    // The root of the settings is a redirect of the server. The application may have other pages below it.
    for (const path of [
      '',
      '/',
      '/list',
      '/list/',
      '/list/more',
      '/things/x',
      '/things/x/y/z',
      '/data/1',
    ])
      expect(handles(`${root}${path}`), path).toBe(true)
    for (const path of ['/listing', '/things', '/dat', '/other'])
      expect(handles(`${root}${path}`), path).toBe(false)
    expect(handles('/app/')).toBe(false)
    expect(addresses).toEqual(
      expect.arrayContaining([
        '/app/oauth/*',
        `${root}/list`,
        `${root}/list/*`,
        `${root}/things/*`,
      ]),
    )
  })

  test('contain each path once, and / only for the start page itself', () => {
    const { list, handles } = addressesOf(
      ['/a/', '/a/b/', '/a/:id/', '/a/b/:id', '/oauth/x', '/login', '/'],
      { roots: ['/'], prefix: '/oauth/' },
    )
    expect([...list].sort()).toEqual(['/', '/a', '/a/*', '/login', '/oauth/*'])
    expect(handles('/x')).toBe(false)
  })
})
