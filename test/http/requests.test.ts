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

/** The headers of the logged-in browser. */
const asSession = (): readonly string[] => [`Cookie: ${session.cookie}`, `User-Agent: ${browser}`]

const send = (request: RawRequest): Promise<RawResponse> => rawHttp(app, request)
const urlencoded = 'Content-Type: application/x-www-form-urlencoded'

/** Every protocol path of a server with the default settings, with its methods. */
const endpoints = [
  ['/oauth/authorize', 'GET, HEAD, POST'],
  ['/oauth/token', 'POST'],
  ['/oauth/errors', 'GET, HEAD'],
  ['/oauth/ping', 'GET, HEAD, POST'],
  ['/oauth/info', 'GET, HEAD'],
  ['/oauth/style.css', 'GET, HEAD'],
  ['/oauth/page.js', 'GET, HEAD'],
  ['/oauth/session.js', 'GET, HEAD'],
  ['/oauth/revoke', 'POST'],
  ['/oauth/introspect', 'POST'],
  ['/oauth/par', 'POST'],
  ['/login', 'GET, HEAD, POST'],
  ['/logout', 'POST'],
  ['/.well-known/oauth-authorization-server', 'GET, HEAD'],
  ['/.well-known/oauth-protected-resource', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/health/live', 'GET, HEAD'],
  ['/health/ready', 'GET, HEAD'],
] as const

/** The paths that scripts of other sites may use. */
const open: readonly string[] = [
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/par',
  '/oauth/ping',
  '/oauth/info',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
  '/openapi.json',
]

describe('decision §2 methods', () => {
  test.each(endpoints)(
    '%s accepts %s, and returns 405 with Allow for other methods [T732]',
    async (target, allow) => {
      for (const method of [
        'GET',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'OPTIONS',
        'TRACE',
        'PROPFIND',
      ]) {
        const response = await send({ method, target, headers: [urlencoded] })
        if (allow.split(', ').includes(method)) {
          expect(response.status, method).not.toBe(405)
          continue
        }
        expect(response.status, method).toBe(405)
        expect(response.headers.get('allow')).toBe(allow)
        const isOpen = open.includes(target) && method !== 'OPTIONS'
        expect(response.headers.get('access-control-allow-origin')).toBe(isOpen ? '*' : null)
        expect(response.headers.get('cache-control')).toBe('no-store')
        expect(JSON.parse(response.text)).toMatchObject({ error: 'invalid_request' })
      }
    },
  )

  test.each([
    '/login',
    '/oauth/errors?error=x',
    '/oauth/style.css',
    '/.well-known/oauth-authorization-server',
    '/oauth/authorize?client_id=x',
  ])(
    'HEAD %s returns no body, and the headers of GET unless GET starts an authorization',
    async (target) => {
      const head = await send({ method: 'HEAD', target })
      expect(head.text).toBe('')
      if (target.startsWith('/oauth/authorize')) return
      const get = await send({ target })
      expect(head.status).toBe(get.status)
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
      expect(head.headers.get('content-security-policy')).toBe(
        get.headers.get('content-security-policy'),
      )
    },
  )

  const overrides = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']
  test.each(overrides)('SS-02 ignores the header %s', async (header) => {
    const get = await send({
      target: `/logout?_method=POST&csrf_token=${session.csrfToken}`,
      headers: [...asSession(), `${header}: POST`],
    })
    expect(get.status).toBe(405)
    const body = `grant_type=client_credentials&client_id=${client.clientId}&client_secret=${client.clientSecret}&_method=DELETE`
    const post = await send({
      method: 'POST',
      target: '/oauth/token?_method=PUT',
      headers: [urlencoded, `${header}: GET`],
      body,
    })
    expect(post.status).toBe(200)
    const removal = await send({
      target: '/api/notes/1?_method=DELETE',
      headers: [`${header}: DELETE`],
    })
    expect(removal.status).toBe(404)
  })

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

describe('HT-07 spellings of a URL', () => {
  test.each([
    '/oauth/token/',
    '//oauth/token',
    '/OAuth/Token',
    '/oauth//token',
    '/oauth/%74oken',
    '/oauth/token;x',
    '/oauth/token%00',
    '/oauth/token%2F',
    '/oauth%2Ftoken',
    '/oauth/x/../token',
    '/oauth/../oauth/token',
    '/x/../oauth/token',
    '/oauth/./token',
    '\\oauth\\token',
    '/oauth\\token',
    '/oauth/token#x',
    'http://evil.example/oauth/token',
    'http://evil.example:1/oauth/token?x',
    '/oauth/token?',
    '/oauth/token??',
  ])('%s requires the client secret or returns an error', async (target) => {
    const body = (secret: string) =>
      `grant_type=client_credentials&client_id=${client.clientId}&client_secret=${secret}`
    const wrong = await send({ method: 'POST', target, headers: [urlencoded], body: body('wrong') })
    expect([400, 401, 404, 405]).toContain(wrong.status)
    const right = await send({
      method: 'POST',
      target,
      headers: [urlencoded],
      body: body(client.clientSecret),
    })
    expect(right.status === 200).toBe(wrong.status === 401)
    expect([200, 400, 404, 405]).toContain(right.status)
  })

  test.each([
    '*',
    'evil.example:443',
    '',
    '?',
    '#',
    '/%',
    '/%zz',
    '/oauth/%',
    '/oauth/%zz',
    '/oauth/%FF',
    '/oauth/%c3%28',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/oauth/style.css/../../../package.json',
    `/${'a'.repeat(9_000)}`,
    `/oauth/${'%61'.repeat(3_000)}`,
    '/oauth/__proto__',
    '/oauth/constructor',
    '/toString',
  ])('returns 4xx for the target "%s"', async (target) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const { status, text } = await send({ method, target }).catch(() => ({
        status: 400,
        text: '',
      }))
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
      expect(text).not.toMatch(/\bat .*:\d+:\d+|node_modules/)
    }
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
  const kib64 = 65_536

  test.each([
    ['/login', kib64],
    ['/logout', kib64],
    ['/oauth/token', kib64],
    // The login adds the parameters of an authorization request to a URL, whose length is limited.
    ['/oauth/authorize', 16_384],
  ])('%s reads %i bytes, and returns 413 for a larger body', async (target, largest) => {
    const headers = [urlencoded]
    const fits = await send({
      method: 'POST',
      target,
      headers,
      body: `a=${'x'.repeat(largest - 2)}`,
    })
    expect([303, 400, 401, 403]).toContain(fits.status)
    const body = `a=${'x'.repeat(largest - 1)}`
    expect((await send({ method: 'POST', target, headers, body })).status).toBe(413)
    const chunked = [...headers, 'Transfer-Encoding: chunked']
    const inChunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    expect((await send({ method: 'POST', target, headers: chunked, body: inChunks })).status).toBe(
      413,
    )
    // The client announces a large body but sends three bytes. The server must not wait for the rest.
    const announced = [...headers, 'Content-Length: 100000000']
    expect((await send({ method: 'POST', target, headers: announced, body: 'a=b' })).status).toBe(
      413,
    )
  })

  test('rejects an endless body in small chunks as soon as the maximum size is exceeded', async () => {
    const body = '400\r\n'.concat('a'.repeat(1024), '\r\n').repeat(70)
    const headers = [urlencoded, 'Transfer-Encoding: chunked']
    expect((await send({ method: 'POST', target: '/oauth/token', headers, body })).status).toBe(413)
  })

  test.each(posts)('%s rejects more than 100 parameters', async (target) => {
    const body = (count: number) =>
      Array.from({ length: count }, (_, index) => `p${index}=`).join('&')
    const response = await send({ method: 'POST', target, headers: [urlencoded], body: body(101) })
    const isErrorView =
      response.status === 303 && response.headers.get('location')?.startsWith('/oauth/errors?')
    expect(response.status === 400 || isErrorView).toBe(true)
    expect(`${response.text}${response.headers.get('location')}`).toMatch(
      /More(?: |%20)than(?: |%20)100(?: |%20)parameters/,
    )
    const allowed = await send({ method: 'POST', target, headers: [urlencoded], body: body(100) })
    expect(`${allowed.text}${allowed.headers.get('location')}`).not.toMatch(/More(?: |%20)than/)
  })

  test.each(['gzip', 'deflate', 'br'])(
    'rejects Content-Encoding %s, so that a decompression bomb is never decompressed',
    async (encoding) => {
      for (const target of posts) {
        const headers = [urlencoded, `Content-Encoding: ${encoding}`]
        expect((await send({ method: 'POST', target, headers, body: 'a=b' })).status).toBe(400)
      }
    },
  )

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
  const nasty = [
    '__proto__[scope]=notes:write',
    '__proto__.isAdmin=true',
    'constructor.prototype.x=1',
    'constructor[prototype][x]=1',
    '__proto__=x',
    '__proto__=y',
    ...names.map((name) => `${name}=polluted`),
  ].join('&')

  test('are ignored as names of parameters', async () => {
    for (const target of ['/login', '/oauth/errors', '/oauth/authorize', '/oauth/ping', '/'])
      await send({ target: `${target}?${nasty}` })
    for (const target of ['/login', '/logout', '/oauth/authorize', '/oauth/token']) {
      const { status } = await send({ method: 'POST', target, headers: [urlencoded], body: nasty })
      expect(status).toBeLessThan(500)
    }
    const { status } = await tokenRequest(
      app.issuer,
      { grant_type: 'client_credentials', '__proto__[scope]': 'x', constructor: 'y' },
      { basic: client },
    )
    expect(status).toBe(200)
    const bare: Record<string, unknown> = {}
    for (const name of ['scope', 'x', 'isAdmin', 'polluted']) expect(bare[name]).toBeUndefined()
    expect(Object.prototype.toString).toBeTypeOf('function')
  })

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
