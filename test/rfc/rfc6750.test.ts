import express from 'express'
import { authOf, requireApiAuth, requireOauthScopes, rest } from 'svc-oauth2server/express'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RawRequest, rawHttp } from '../support/raw-http.ts'
import { serve } from '../support/rest-app.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'

let app: TestServer
let token: string
let session: LoggedIn
beforeAll(async () => {
  app = await startServer()
  token = await app.personalToken(['notes:read'])
  session = await logIn(app)
})
afterAll(() => app.close())

const bearer = (value: string) => ({ authorization: `Bearer ${value}` })

/** Returns the status and the error in the challenge, such as `401 invalid_token`; without an error, only the status. */
const outcome = ({ status, headers }: { status: number; headers: Headers }): string => {
  const error = /\berror="(\w+)"/.exec(headers.get('www-authenticate') ?? '')?.[1]
  return error === undefined ? String(status) : `${status} ${error}`
}

/** Returns the expected challenge, which includes the metadata URL (RFC 9728 §5.1). */
const challenge = (error = ''): string =>
  `Bearer realm="${app.issuer}"${error}, resource_metadata="${app.issuer}/.well-known/oauth-protected-resource"`

const get = async (path: string, value?: string): Promise<string> => {
  const response = await fetch(`${app.issuer}${path}`, {
    headers: value === undefined ? {} : bearer(value),
  })
  await response.body?.cancel()
  return outcome(response)
}

/** A guarded route of the application and an endpoint of the server, which both require a token. */
const resources = ['/api/me', '/oauth/ping']

describe.each(resources)('RFC 6750 §2.1 a token in the Authorization header, at %s', (target) => {
  const send = (authorization: string) =>
    rawHttp(app, { target, headers: [`Authorization: ${authorization}`] }).then(outcome)

  test.each<[string, () => string]>([
    ['the scheme Bearer', () => `Bearer ${token}`],
    ['the scheme in lower case', () => `bearer ${token}`],
    ['the scheme in upper case', () => `BEARER ${token}`],
    ['two spaces before the token', () => `Bearer  ${token}`],
    ['a trailing space', () => `Bearer ${token} `],
  ])('accepts %s [T099]', async (_, value) => {
    expect(await send(value())).toBe('200')
  })

  test.each<[string, () => string]>([
    ['a tab instead of a space', () => `Bearer\t${token}`],
    ['a missing space', () => `Bearer${token}`],
    ['a missing token', () => 'Bearer'],
    ['a second word after the token', () => `Bearer ${token} extra`],
    ['a missing scheme', () => token],
    ['an 8-bit character', () => `Bearer ${token}\xE9`],
    ['8-bit characters only', () => 'Bearer \xC3\xA9\xFF'],
    ['a trailing encoded NUL', () => `Bearer ${token}%00`],
    ['trailing padding', () => `Bearer ${token}==`],
    ['the first half of the token', () => `Bearer ${token.slice(0, token.length / 2)}`],
    ['the token twice', () => `Bearer ${token}${token}`],
    ['the token in upper case', () => `Bearer ${token.toUpperCase()}`],
    ['an SQL wildcard', () => 'Bearer %'],
    ['the token in quotes', () => `Bearer "${token}"`],
    ['a token of 10,000 characters', () => `Bearer ${'a'.repeat(10_000)}`],
  ])('returns 401 invalid_token for %s [T100]', async (_, value) => {
    expect(await send(value())).toBe('401 invalid_token')
  })

  test.each<[string, () => string]>([
    ['the scheme Token', () => `Token ${token}`],
    ['Basic with the token as the password', () => `Basic ${btoa(`:${token}`)}`],
  ])('returns 401 without an error code for %s', async (_, value) => {
    expect(await send(value())).toBe('401')
  })

  test('returns 400 invalid_request for two credentials with a comma between them [T108]', async () => {
    expect(await send(`Bearer ${token},Bearer ${token}`)).toBe('400 invalid_request')
  })

  test('rejects a token of 100 kB and a JWT of 1 MB, then accepts a valid token [T107]', async () => {
    for (const value of ['a'.repeat(100_000), `a.${'b'.repeat(1_000_000)}.c`]) {
      expect(await send(`Bearer ${value}`).catch(() => 'closed')).toMatch(/^(?:431|closed)$/)
    }
    expect(await send(`Bearer ${token}`)).toBe('200')
  })
})

describe('RFC 6750 §2.2 a token in the body [T101]', () => {
  const multipart = () => {
    const form = new FormData()
    form.set('access_token', token)
    return form
  }
  test.each<[string, () => RequestInit]>([
    ['a form', () => ({ body: new URLSearchParams({ access_token: token }) })],
    [
      'JSON',
      () => ({
        body: JSON.stringify({ access_token: token, text: 'x' }),
        headers: { 'content-type': 'application/json' },
      }),
    ],
    ['multipart data', () => ({ body: multipart() })],
  ])('returns 401 and a challenge without an error for a token in %s [T102]', async (_, init) => {
    for (const [path, scope] of [
      ['/api/notes', ', scope="notes:write"'],
      ['/oauth/ping', ''],
    ] as const) {
      const response = await fetch(`${app.issuer}${path}`, { method: 'POST', ...init() })
      expect(outcome(response)).toBe('401')
      expect(response.headers.get('www-authenticate')).toBe(challenge(scope))
    }
  })

  test('ignores a token in the body of a GET request', async () => {
    const body = `access_token=${token}`
    const headers = ['Content-Type: application/x-www-form-urlencoded']
    for (const target of resources)
      expect(outcome(await rawHttp(app, { target, headers, body }))).toBe('401')
  })
})

describe('RFC 6750 §2.3 a token in the query', () => {
  test.each<[string, string, () => string]>([
    ['as the only parameter', '200', () => `?access_token=${token}`],
    ['among other parameters', '200', () => `?a=b&access_token=${token}&c=d`],
    ['in a parameter with an encoded name', '200', () => `?%61ccess_token=${token}`],
    [
      'with a part of the token encoded',
      '200',
      () => `?access_token=${token.replace(/^./, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
    ],
    ['that is empty', '401 invalid_token', () => '?access_token='],
    ['that is unknown', '401 invalid_token', () => '?access_token=bad'],
    ['with dots', '401 invalid_token', () => '?access_token=a.b.c'],
    ['with a trailing space', '401 invalid_token', () => `?access_token=${token}+`],
    ['with a trailing NUL', '401 invalid_token', () => `?access_token=${token}%00`],
    ['in quotes', '401 invalid_token', () => `?access_token=%22${token}%22`],
    [
      'that is repeated',
      '400 invalid_request',
      () => `?access_token=${token}&access_token=${token}`,
    ],
    ['in a parameter access_token[]', '401', () => `?access_token%5B%5D=${token}`],
    ['in a parameter access_token[x]', '401', () => `?access_token%5Bx%5D=${token}`],
    ['in a parameter access_tokens', '401', () => `?access_tokens=${token}`],
    ['in a parameter Access_Token', '401', () => `?Access_Token=${token}`],
  ])('for a token %s, returns %s [T098]', async (_, expected, query) => {
    for (const path of resources) expect(await get(`${path}${query()}`)).toBe(expected)
  })

  test('ignores a token in the fragment of the request target', async () => {
    for (const path of resources) {
      const response = await rawHttp(app, { target: `${path}#access_token=${token}` })
      expect([400, 401]).toContain(response.status)
    }
  })

  test('§2.3 sends the headers no-store and no-referrer [T104]', async () => {
    for (const query of [`?access_token=${token}`, '?access_token=bad', '']) {
      for (const path of ['/api/me', '/api/notes', '/api/public', '/oauth/ping', '/oauth/info']) {
        const { headers } = await fetch(`${app.issuer}${path}${query}`)
        expect(headers.get('cache-control'), path).toMatch(/\bno-store\b/)
        expect(headers.get('referrer-policy'), path).toBe('no-referrer')
        expect(headers.get('location')).toBeNull()
      }
    }
  })

  test('§5.3 does not log or return the token, even if the request fails [T111]', async () => {
    const failing = await startServer({
      aroundStore: ({ name }, operation) => {
        if (name === 'tokens.findByAccess') throw new Error('The disk is on fire.')
        return operation()
      },
    })
    try {
      const response = await fetch(`${failing.issuer}/oauth/ping?access_token=${token}`)
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain(token)
      expect(failing.log).toContainEqual(expect.objectContaining({ event: 'request.failed' }))
      expect(logged(failing)).not.toContain(token)
    } finally {
      await failing.close()
    }
    for (const path of resources) {
      await get(`${path}?access_token=${token}&access_token=${token}`)
      const refused = await fetch(`${app.issuer}${path}?access_token=${token}x`)
      expect(await refused.text()).not.toContain(token)
    }
    expect(logged(app)).not.toContain(token)
  })

  test('ignores the token and omits "query" from the metadata if acceptQueryAccessToken is disabled [T103]', async () => {
    await using off = await startServer({ acceptQueryAccessToken: false })
    const own = await off.personalToken()
    for (const path of resources) {
      const url = `${off.issuer}${path}?access_token=${own}`
      expect(outcome(await fetch(url))).toBe('401')
      expect(outcome(await fetch(url, { headers: bearer(own) }))).toBe('200')
    }
    const open = await fetch(`${off.issuer}/api/public?access_token=bad`)
    expect(await open.json()).toEqual({ kind: 'anonymous', user: null })
    const metadata = await fetch(`${off.issuer}/.well-known/oauth-protected-resource`)
    expect(await metadata.json()).toMatchObject({ bearer_methods_supported: ['header'] })
  })
})

const logged = ({ log }: TestServer): string =>
  JSON.stringify(log, (_, value: unknown) =>
    value instanceof Error ? { message: value.message, stack: value.stack } : value,
  )

describe('RFC 6750 §3 the WWW-Authenticate challenge [T105]', () => {
  test.each<[string, () => RequestInit & { query?: string }, number, string]>([
    ['a missing credential', () => ({}), 401, ''],
    [
      'an invalid token',
      () => ({ headers: bearer('bad') }),
      401,
      ', error="invalid_token", error_description="The access token is not valid."',
    ],
    [
      'two credentials',
      () => ({ headers: bearer(token), query: `?access_token=${token}` }),
      400,
      ', error="invalid_request", error_description="Send exactly one credential."',
    ],
  ])('returns the complete challenge for %s [T076]', async (_, init, status, more) => {
    for (const path of resources) {
      const { query = '', ...rest } = init()
      const response = await fetch(`${app.issuer}${path}${query}`, rest)
      expect(response.status).toBe(status)
      expect(response.headers.get('www-authenticate')).toBe(challenge(more))
      expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
      expect(response.headers.get('cache-control')).toMatch(/\bno-store\b/)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('set-cookie')).toBeNull()
    }
  })

  test('returns JSON to a request for HTML, and does not redirect to the login', async () => {
    for (const path of resources) {
      const headers = { accept: 'text/html', cookie: 'oauth2server_session=x' }
      const response = await fetch(`${app.issuer}${path}`, { headers, redirect: 'manual' })
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({ status: 401 })
    }
  })
})

describe('RFC 6750 §3.1 the error invalid_token', () => {
  const issue = async (input = {}) => {
    const client = await TestClient.register(app, new UserAgent(), input)
    const { access_token } = await client.tokens()
    expect(await get('/api/me', access_token)).toBe('200')
    return { client, access: access_token }
  }

  test('rejects a token of a deleted client [T109]', async () => {
    const { client, access } = await issue()
    await app.server.clients.delete(client.clientId)
    for (const path of resources) expect(await get(path, access)).toBe('401 invalid_token')
  })

  test('decision §5.3 rejects a token of a client with an inactive owner until reactivation', async () => {
    const owner = await app.server.users.create({ email: 'owner@example.org', password: null })
    const { access } = await issue({ userId: owner.id })
    await app.server.users.setActive(owner.id, false)
    for (const path of resources) expect(await get(path, access)).toBe('401 invalid_token')
    await app.server.users.setActive(owner.id, true)
    expect(await get('/api/me', access)).toBe('200')
  })

  test('decision §5.3 rejects a token of an inactive or deleted user', async () => {
    const user = await app.server.users.create({ email: 'user-d@example.org', password: null })
    const { accessToken } = await app.server.tokens.createPersonal('Test', user.id)
    await app.server.users.setActive(user.id, false)
    for (const path of resources) expect(await get(path, accessToken)).toBe('401 invalid_token')
    await app.server.users.setActive(user.id, true)
    expect(await get('/api/me', accessToken)).toBe('200')
    await app.server.users.delete(user.id)
    for (const path of resources) expect(await get(path, accessToken)).toBe('401 invalid_token')
  })

  test('accepts an access token for exactly expires_in seconds, and a personal token indefinitely [T074]', async () => {
    await using short = await startServer({ tokenExpiresIn: 10 })
    const client = await TestClient.register(short, new UserAgent())
    const { access_token, expires_in } = await client.tokens()
    const personal = await short.personalToken()
    const status = async (value: string) =>
      outcome(await fetch(`${short.issuer}/api/me`, { headers: bearer(value) }))
    expect(expires_in).toBe(10)
    short.advance(9)
    expect(await status(access_token)).toBe('200')
    short.advance(1)
    expect(await status(access_token)).toBe('401 invalid_token')
    short.advance(100 * 365 * 86_400)
    expect(await status(personal)).toBe('200')
  })

  test('does not accept a code, refresh token, client secret or session ID as an access token [T084]', async () => {
    const client = await TestClient.register(app, new UserAgent())
    const code = await client.code()
    const { refresh_token } = await client.tokens()
    for (const value of [
      code,
      refresh_token,
      client.clientSecret,
      client.clientId,
      session.identifier,
    ])
      expect(await get('/api/me', value)).toBe('401 invalid_token')
  })
})

describe('RFC 6750 §3.1 the error insufficient_scope', () => {
  /** Starts a separate application whose routes have the given guards. */
  const guarded = async (
    ...routes: readonly (readonly [path: string, ...express.RequestHandler[]])[]
  ) => {
    const host = express()
    host.use('/api', rest(app.server))
    for (const [path, ...guards] of routes) {
      host.all(path, ...guards, (req, res) => {
        res.json({ kind: authOf(req).kind })
      })
    }
    return serve(host)
  }

  test('requires all scopes of a resource, and lists them with insufficient_scope [T075]', async () => {
    await using host = await guarded(
      ['/api/both', requireApiAuth(), requireOauthScopes('notes:read', 'notes:write')],
      [
        '/api/twice',
        requireApiAuth(),
        requireOauthScopes('notes:read'),
        requireOauthScopes('notes:write'),
      ],
    )
    const ask = (path: string, value: string) =>
      fetch(`${host.issuer}${path}`, { headers: bearer(value) })
    for (const scopes of [[], ['notes:read'], ['notes:write'], ['user:email']]) {
      const response = await ask('/api/both', await app.personalToken(scopes))
      expect(outcome(response)).toBe('403 insufficient_scope')
      expect(response.headers.get('www-authenticate')).toContain('scope="notes:read notes:write"')
      expect(await response.json()).toEqual({
        error: 'insufficient_scope',
        error_description: expect.any(String),
      })
    }
    for (const scopes of [['notes:read'], ['notes:write']]) {
      const response = await ask('/api/twice', await app.personalToken(scopes))
      expect(outcome(response)).toBe('403 insufficient_scope')
      expect(response.headers.get('www-authenticate')).toContain('scope="notes:read notes:write"')
    }
    const all = await app.personalToken(['notes:write', 'notes:read'])
    for (const path of ['/api/both', '/api/twice']) expect((await ask(path, all)).status).toBe(200)
  })

  test('compares scopes exactly, without prefixes, case folding or Object.prototype members [T492]', async () => {
    const similarScopes = [
      'notes',
      'notes:rea',
      'notes:reads',
      'NOTES:READ',
      'constructor',
      '__proto__',
      'length',
      '0',
    ]
    await using host = await guarded(
      ...similarScopes.map(
        (scope, index) => [`/api/${index}`, requireApiAuth(), requireOauthScopes(scope)] as const,
      ),
    )
    for (const index of similarScopes.keys()) {
      const response = await fetch(`${host.issuer}/api/${index}`, { headers: bearer(token) })
      expect(outcome(response)).toBe('403 insufficient_scope')
    }
  })

  test('decision §3 does not require scopes from a session [T756]', async () => {
    const response = await session.agent.fetch(`${app.issuer}/api/notes`, {
      headers: bearer(session.jwt),
    })
    expect(response.status).toBe(200)
  })

  test('rejects anonymous callers at a guard that checks only scopes [T635]', async () => {
    await using host = await guarded(
      ['/api/scopes', requireOauthScopes('notes:read')],
      ['/api/mixed', requireApiAuth({ allowAnonymous: true }), requireOauthScopes('notes:read')],
    )
    for (const path of ['/api/scopes', '/api/mixed']) {
      expect(outcome(await fetch(`${host.issuer}${path}`))).toBe('401')
      const cookieOnly = { cookie: session.cookie, 'user-agent': browser }
      expect((await fetch(`${host.issuer}${path}`, { headers: cookieOnly })).status).toBe(400)
      expect(outcome(await fetch(`${host.issuer}${path}`, { headers: bearer(token) }))).toBe('200')
    }
  })

  test.each<[string, readonly unknown[]]>([
    ['missing arguments', []],
    ['an empty scope', ['']],
    ['an empty second scope', ['notes:read', '']],
    ['a list', [['notes:read']]],
    ['undefined', [undefined]],
  ])('requireOauthScopes throws a TypeError for %s', (_, scopes) => {
    expect(() => requireOauthScopes(...(scopes as string[]))).toThrow(TypeError)
  })

  test.each([
    ['requireApiAuth()', requireApiAuth()],
    ['requireApiAuth({ allowAnonymous: true })', requireApiAuth({ allowAnonymous: true })],
    ["requireOauthScopes('notes:read')", requireOauthScopes('notes:read')],
  ])('%s throws at each request if no middleware rest() precedes it [T748]', async (_, guard) => {
    const reached = vi.fn()
    const host = express()
    host.get('/unresolved', guard, (_req, res) => {
      reached()
      res.end()
    })
    host.use('/api', rest(app.server))
    host.use(((error, _req, res, _next) => {
      res.status(500).json({ message: error.message })
    }) satisfies express.ErrorRequestHandler)
    await using served = await serve(host)
    for (const headers of [{}, bearer(token)]) {
      const response = await fetch(`${served.issuer}/unresolved`, { headers })
      expect(response.status).toBe(500)
      expect(await response.json()).toEqual({ message: expect.stringContaining('rest(server)') })
    }
    expect(reached).not.toHaveBeenCalled()
  })
})

describe('BR-08 other methods and request targets', () => {
  const raw = (request: RawRequest) => rawHttp(app, request)

  test('requires a token for HEAD requests too, and returns no body', async () => {
    for (const [target, scope] of [
      ['/api/me', ''],
      ['/api/notes', ', scope="notes:read"'],
      ['/oauth/ping', ''],
      ['/oauth/info', ''],
    ] as const) {
      const refused = await raw({ method: 'HEAD', target })
      expect(outcome(refused)).toBe('401')
      expect(refused.headers.get('www-authenticate')).toBe(challenge(scope))
      expect(refused.text).toBe('')
      const headers = [`Authorization: Bearer ${token}`]
      const response = await raw({ method: 'HEAD', target, headers })
      expect(outcome(response)).toBe('200')
      expect(response.text).toBe('')
    }
    const invalid = {
      method: 'HEAD',
      target: '/api/public',
      headers: ['Authorization: Bearer bad'],
    }
    expect(outcome(await raw(invalid))).toBe('401 invalid_token')
  })

  test('returns no user data for OPTIONS', async () => {
    for (const target of ['/api/me', '/api/notes', '/oauth/ping', '/oauth/info']) {
      const { text, headers } = await raw({
        method: 'OPTIONS',
        target,
        headers: [`Authorization: Bearer ${token}`],
      })
      expect(text).not.toMatch(/personal_token|pong|"id"/)
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test.each([
    '/api/me/',
    '//api/me',
    '/API/ME',
    '/api/%6de',
    '/api//me',
    '/api/../api/me',
    '/api/me;x',
    '/api/me%00',
    '/api/./me',
    'http://localhost/api/me',
    'http://evil.example/api/me',
    'https://evil.example:9/api/me?',
  ])('HT-07 returns no user data for %s without a credential', async (target) => {
    const { status, text } = await raw({ target })
    expect([400, 401, 404]).toContain(status)
    expect(text).not.toContain('"kind"')
  })

  test('ignores the host of an absolute request target', async () => {
    const target = `http://evil.example/api/me?access_token=${token}`
    expect(JSON.parse((await raw({ target })).text)).toMatchObject({ kind: 'personal_token' })
    const twice = await raw({ target, headers: [`Authorization: Bearer ${token}`] })
    expect(outcome(twice)).toBe('400 invalid_request')
  })
})

describe('decision §2 the endpoints /oauth/ping and /oauth/info', () => {
  test.each(['GET', 'POST'])('%s /oauth/ping returns pong for a valid token', async (method) => {
    const response = await fetch(`${app.issuer}/oauth/ping`, { method, headers: bearer(token) })
    expect(await response.json()).toEqual({ ping: 'pong' })
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  test('/oauth/info returns the user and the scopes of a personal token, without a client', async () => {
    const response = await fetch(`${app.issuer}/oauth/info`, { headers: bearer(token) })
    expect(await response.json()).toEqual({
      user: { id: app.user.id },
      client: null,
      scopes: ['notes:read'],
    })
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('/oauth/info returns the e-mail address if user:email was granted, and only then [T1612]', async () => {
    const userOf = async (scopes: readonly string[]) => {
      const value = await app.personalToken(scopes)
      const response = await fetch(`${app.issuer}/oauth/info`, { headers: bearer(value) })
      return ((await response.json()) as { user: object }).user
    }
    const { id, email, emailVerified } = app.user
    expect(await userOf(['user:email'])).toEqual({ id, email, email_verified: emailVerified })
    expect(await userOf(['notes:read'])).toEqual({ id })
  })

  test('/oauth/info returns the user, the scopes, and the ID and name of the client', async () => {
    const owner = await app.server.users.create({ email: 'owner-2@example.org', password: null })
    const client = await TestClient.register(app, new UserAgent(), {
      name: 'Reader',
      userId: owner.id,
    })
    const { access_token } = await client.tokens()
    const response = await fetch(`${app.issuer}/oauth/info`, { headers: bearer(access_token) })
    expect(await response.json()).toEqual({
      user: { id: app.user.id },
      client: { client_id: client.clientId, name: 'Reader' },
      scopes: ['notes:read'],
    })
  })

  test('BR-07 returns the owner as the user of a client_credentials token', async () => {
    const owner = await app.server.users.create({ email: 'owner-3@example.org', password: null })
    const client = await app.client({
      name: String(app.user.id),
      userId: owner.id,
      defaultScopes: ['notes:read'],
    })
    const { body } = await tokenRequest(
      app.issuer,
      { grant_type: 'client_credentials' },
      { basic: client },
    )
    const headers = bearer(String(body.access_token))
    const info = await fetch(`${app.issuer}/oauth/info`, { headers })
    expect(await info.json()).toMatchObject({
      user: { id: owner.id },
      client: { client_id: client.clientId },
    })
    const me = await fetch(`${app.issuer}/api/me`, { headers })
    expect(await me.json()).toEqual({ id: owner.id, kind: 'access_token' })
  })

  test('BR-07 returns no user for a client_credentials token if the client has no owner [T694]', async () => {
    const client = await app.client({ userId: null, defaultScopes: ['notes:read'] })
    const { body } = await tokenRequest(
      app.issuer,
      { grant_type: 'client_credentials' },
      { basic: client },
    )
    const headers = bearer(String(body.access_token))
    expect(await (await fetch(`${app.issuer}/oauth/info`, { headers })).json()).toMatchObject({
      user: null,
    })
    expect(await (await fetch(`${app.issuer}/api/me`, { headers })).json()).toEqual({
      id: null,
      kind: 'access_token',
    })
    // The application refuses a token without a user, because notes belong to users.
    expect((await fetch(`${app.issuer}/api/notes`, { headers })).status).toBe(403)
  })

  test.each(['/oauth/ping', '/oauth/info'])(
    '%s rejects a session with 401, and a challenge without an error',
    async (path) => {
      const response = await session.agent.fetch(`${app.issuer}${path}`, {
        headers: bearer(session.jwt),
      })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(challenge())
      const cookieOnly = await session.agent.fetch(`${app.issuer}${path}`)
      expect(cookieOnly.status).toBe(400)
      expect(await cookieOnly.json()).toEqual({
        status: 400,
        message: 'Missing required header argument.',
        errors: [{ header: 'Authorization', type: 'Bearer' }],
      })
    },
  )
})
