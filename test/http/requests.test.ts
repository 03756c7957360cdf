import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RawRequest, type RawResponse, rawHttp } from '../support/raw-http.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { authorizeUrl, newPkce, tokenRequest } from '../support/user-agent.ts'

let app: TestServer
let session: LoggedIn
let client: { clientId: string; clientSecret: string }
beforeAll(async () => {
  app = await startServer()
  session = await logIn(app)
  client = await app.client({ defaultScopes: ['notes:read'] })
})
afterAll(() => app.close())

const send = (request: RawRequest): Promise<RawResponse> => rawHttp(app, request)
const urlencoded = 'Content-Type: application/x-www-form-urlencoded'

describe('decision §2 methods', () => {
  test('SS-02 ignores confirm in the query of a GET, and does not issue codes for HEAD and other methods', async () => {
    const { challenge } = newPkce()
    const url = authorizeUrl(app.issuer, {
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const page = await session.agent.fetch(`${url}&confirm=yes&csrf_token=${session.csrfToken}`)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('name="confirm" value="yes"')
    // With a stored consent, a GET would issue a code without displaying the consent page.
    const granted = await session.agent.authorize(app, url)
    expect(granted.searchParams.has('code')).toBe(true)
    expect((await session.agent.fetch(url)).headers.get('location')).toContain('code=')
    for (const method of ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await session.agent.fetch(url, { method })
      expect(response.status).toBe(method === 'HEAD' ? 200 : 405)
      expect(response.headers.get('location')).toBeNull()
      expect(await response.text()).not.toContain('code=')
    }
  })
})

describe('decision §2 URLs of disabled features', () => {
  let bare: TestServer
  beforeAll(async () => {
    bare = await startServer({
      revocation: false,
      introspection: false,
      pushedAuthorizationRequests: 'off',
    })
  })
  afterAll(() => bare.close())

  test.each([
    '/oauth/revoke',
    '/oauth/introspect',
    '/oauth/register',
    '/oauth/register/x',
    '/oauth/par',
    '/oauth/device_authorization',
    '/oauth/device',
    '/oauth/jwks',
    '/oauth/leaked',
    '/account/settings/nothing/',
    '/metrics',
  ])('%s returns 404 to anonymous callers, sessions and clients', async (target) => {
    const { cookie, csrfToken } = await logIn(bare)
    const { clientId, clientSecret } = await bare.client()
    const who = [
      [],
      [`Cookie: ${cookie}`, `User-Agent: ${browser}`],
      [`Authorization: Basic ${btoa(`${clientId}:${clientSecret}`)}`],
    ]
    for (const headers of who) {
      expect((await rawHttp(bare, { target, headers })).status).toBe(404)
      const body = `token=x&csrf_token=${csrfToken}`
      const form = { method: 'POST', target, headers: [...headers, urlencoded], body }
      expect((await rawHttp(bare, form)).status).toBe(404)
    }
  })

  test('are missing in the metadata', async () => {
    const response = await fetch(`${bare.issuer}/.well-known/oauth-authorization-server`)
    const metadata = (await response.json()) as Record<string, unknown>
    const addresses = Object.keys(metadata).filter((name) => /_endpoint$|_uri$/.test(name))
    expect(addresses.sort()).toEqual(['authorization_endpoint', 'token_endpoint'])
    expect(JSON.stringify(metadata)).not.toMatch(/revo|introspect|regist|pushed|device|jwks/)
  })
})

describe('the Host header', () => {
  const hosts = [
    'evil.example',
    'evil.example:99999',
    'evil.example/path',
    '@evil.example',
    'evil.example@localhost',
    'localhost#evil.example',
    'localhost?evil.example',
    'evil example',
    'evil.example\\',
    '[::evil',
    'évil.example',
    'evil.example, localhost',
    '',
  ]
  test.each(hosts)('does not appear in a response if it is %j', async (host) => {
    const targets = [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource',
      `/oauth/authorize?client_id=${client.clientId}&response_type=code`,
      '/oauth/authorize?client_id=x',
      '/oauth/ping',
      '/api/me',
      '/login',
      '/',
    ]
    for (const target of targets) {
      const response = await send({ target, headers: [`Host: ${host}`] })
      expect(response.status).toBeLessThan(500)
      expect(`${response.text}${JSON.stringify([...response.headers])}`).not.toContain('evil')
      if (target.startsWith('/.well-known') && response.status === 200)
        expect(response.text).toContain(`"${app.issuer}`)
    }
  })

  test('is optional in HTTP/1.0, and causes no 5xx if it is repeated', async () => {
    const { host } = new URL(app.issuer)
    const two = await send({ target: '/login', headers: [`Host: ${host}`, 'Host: evil.example'] })
    expect(two.status).toBeLessThan(500)
    expect(two.text).not.toContain('evil')
    expect((await send({ target: '/login', version: '1.0' })).status).toBe(200)
    expect((await send({ target: '/api/me', version: '1.0' })).status).toBe(401)
  })
})

describe('decision §6.4 bodies', () => {
  const posts = ['/login', '/logout', '/oauth/token', '/oauth/authorize']

  test('rejects an endless body in small chunks as soon as the maximum size is exceeded', async () => {
    const body = '400\r\n'.concat('a'.repeat(1024), '\r\n').repeat(70)
    const headers = [urlencoded, 'Transfer-Encoding: chunked']
    expect((await send({ method: 'POST', target: '/oauth/token', headers, body })).status).toBe(413)
  })

  test('DS-01 returns 431 for oversize headers and URLs, and then accepts the next request', async () => {
    const long = 'a'.repeat(17_000)
    for (const request of [
      { target: `/login?next=/${long}` },
      { target: '/login', headers: [`Cookie: a=${long}`] },
      { target: '/api/me', headers: [`X-Forwarded-For: ${'1,'.repeat(50_000)}`] },
    ])
      expect((await send(request)).status).toBe(431)
    expect((await send({ target: '/login' })).status).toBe(200)
  })

  test('returns no 5xx for invalid UTF-8, NUL and lone surrogates in a form', async () => {
    for (const body of [
      'email=%ff%fe&password=%ff',
      'email=a%00b&password=x',
      'email=\xFF\xFE',
      'email=%ED%A0%80',
      '=',
      '&&&',
      '%',
      'a=%zz',
    ])
      for (const target of posts) {
        const response = await send({ method: 'POST', target, headers: [urlencoded], body })
        expect(response.status).toBeLessThan(500)
      }
  })
})

describe('DS-02 validates every input quickly', () => {
  const many = 'a'.repeat(60_000)
  const bait = [
    `${many}!`,
    `${'a@'.repeat(30_000)}`,
    `${'/'.repeat(60_000)}x`,
    ' '.repeat(60_000),
    `${'%41'.repeat(20_000)}%`,
    '\u00A0'.repeat(20_000),
  ]
  const within = async (work: () => Promise<unknown>): Promise<void> => {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    // Linear parsing takes a few milliseconds; quadratic parsing would take many seconds.
    expect((user + system) / 1000).toBeLessThan(1_000)
  }

  test('validates long forms quickly', async () => {
    for (const value of bait) {
      for (const name of [
        'email',
        'next',
        'csrf_token',
        'scope',
        'redirect_uri',
        'client_id',
        'state',
        'grant_type',
        'code_verifier',
      ]) {
        const body = `${name}=${value.includes('%') ? value : encodeURIComponent(value)}`.slice(
          0,
          65_000,
        )
        await within(() =>
          send({ method: 'POST', target: '/oauth/token', headers: [urlencoded], body }),
        )
        await within(() => send({ method: 'POST', target: '/login', headers: [urlencoded], body }))
      }
    }
  })

  test('validates long headers and queries quickly', async () => {
    const value = 'a'.repeat(12_000)
    const spaces = ' '.repeat(12_000)
    for (const line of [
      `Cookie: ${value};`,
      `Cookie: ${'oauth2server_session=;'.repeat(500)}`,
      `Cookie: ${'; '.repeat(6_000)}`,
      `Authorization: Bearer ${value}!`,
      `Authorization: Bearer${spaces}x y`,
      `Authorization: Bearer ${'a.'.repeat(6_000)}`,
      `Authorization: Basic ${value}=!`,
      `X-Forwarded-For: ${'::1,'.repeat(3_000)}`,
      `User-Agent: ${value}`,
      `Content-Type: application/x-www-form-urlencoded${spaces};x`,
    ])
      for (const target of ['/api/me', '/oauth/token', '/login'])
        await within(() =>
          send({ method: target === '/oauth/token' ? 'POST' : 'GET', target, headers: [line] }),
        )
    for (const query of [
      `${'a&'.repeat(5_000)}`,
      `access_token=${value}`,
      `${'%41'.repeat(4_000)}%`,
      `a=${value}<`,
    ])
      await within(() => send({ target: `/api/me?${query}` }))
  })
})

describe('DS-06 names of members of Object.prototype', () => {
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '__defineGetter__',
  ]

  test('are ignored as names of JSON members at the REST application', async () => {
    const token = await app.personalToken(['notes:write', 'notes:read'])
    const response = await fetch(`${app.issuer}/api/notes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"__proto__":{"text":"x","isAdmin":true},"constructor":{"prototype":{"x":1}}}',
    })
    expect(response.status).toBe(400)
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined()
  })

  test.each(names)('are treated as unknown values: %s', async (name) => {
    const { location, ...page } = await (async () => {
      const response = await session.agent.fetch(
        authorizeUrl(app.issuer, {
          client_id: client.clientId,
          redirect_uri: redirectUri,
          scope: name,
        }),
      )
      return { status: response.status, location: response.headers.get('location') ?? '' }
    })()
    expect(page.status).toBe(303)
    expect(new URL(location).searchParams.get('error')).toBe('invalid_scope')
    const type = await session.agent.fetch(
      authorizeUrl(app.issuer, {
        client_id: client.clientId,
        redirect_uri: redirectUri,
        response_type: name,
      }),
    )
    expect(new URL(type.headers.get('location') ?? '').searchParams.get('error')).toBe(
      'unsupported_response_type',
    )
    const unknown = await session.agent.fetch(authorizeUrl(app.issuer, { client_id: name }))
    expect(unknown.headers.get('location')).toMatch(/^\/oauth\/errors\?/)
    const grant = await tokenRequest(app.issuer, { grant_type: name }, { basic: client })
    expect([grant.status, grant.body.error]).toEqual([400, 'unsupported_grant_type'])
    const cookie = await send({
      target: '/',
      headers: [`Cookie: ${name}=x; oauth2server_session=${name}`],
    })
    expect(cookie.text).toContain('Nobody is logged in.')
  })
})
