import { type AroundStore, StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RawRequest, type RawResponse, rawHttp } from '../support/raw-http.ts'
import { browser, type LoggedIn } from '../support/session.ts'
import { authorizeUrl } from '../support/user-agent.ts'
import {
  type AttackServer,
  basic,
  expectJson,
  formOf,
  type HttpResponse,
  isOnNodes,
  scopes,
  startAttackServer,
} from './support/attack-server.ts'

const form = 'application/x-www-form-urlencoded'

let it: AttackServer
let person: LoggedIn
beforeAll(async () => {
  it = await startAttackServer()
  person = await it.browser('a')
})
afterAll(() => it?.close())

const asConf = () => basic(it.clients.conf.clientId, it.clients.conf.clientSecret)

/** The endpoints for confidential clients. Each function returns the fields of a successful request. */
const endpoints: Record<string, () => Promise<Record<string, string>>> = {
  '/oauth/token': async () => ({
    grant_type: 'authorization_code',
    code: await it.code(),
    redirect_uri: it.clients.conf.redirectUri,
    code_verifier: it.verifier,
  }),
  '/oauth/revoke': async () => ({ token: (await it.grant()).accessToken }),
  '/oauth/introspect': async () => ({ token: (await it.grant()).accessToken }),
  '/oauth/par': async () =>
    Object.fromEntries(
      [...new URL(it.authorizeUrl()).searchParams].filter(([name]) => name !== 'client_id'),
    ),
}
const targets = Object.keys(endpoints)
const fieldsOf = (target: string): Promise<Record<string, string>> =>
  (endpoints[target] ?? (async () => ({})))()

const succeeded = (status: number): boolean => status === 200 || status === 201

const post = (
  target: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<HttpResponse> =>
  it.request(target, {
    method: 'POST',
    body: Buffer.from(body),
    headers: { authorization: asConf(), 'content-type': form, ...headers },
  })

/** Expects that the rejected requests of `work` do not change the state. */
const unchanged = async (work: () => Promise<void>): Promise<void> => {
  const before = await it.state()
  await work()
  expect(await it.state()).toEqual(before)
}

describe('HT-01 Content types and body location', () => {
  const taken = [
    form,
    'APPLICATION/X-WWW-Form-UrlEncoded',
    `${form};charset=utf-8`,
    `${form}; charset=UTF-8`,
    `${form}; charset="utf-8"`,
    `${form};charset=iso-8859-1`,
    `${form}\t;charset=utf-8`,
    `${form};boundary=x`,
    // Whitespace around a header value is not part of the value (RFC 9110 §5.5).
    `  ${form}  `,
  ]
  const refused = [
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    '',
    `${form}X`,
    `x${form}`,
    `${form};charset=utf-16`,
    `${form};charset=utf-7`,
    `${form}; charset =utf-8`,
    `${form} junk;charset=utf-8`,
    `${form};charset=utf-8;charset=utf-16`,
    `${form};boundary="x`,
    `${form}, application/json`,
    `application/json, ${form}`,
    `application/json;${form}`,
    'application/*',
    '*/*',
  ]
  const ask = async (target: string, fields: Record<string, string>, types: readonly string[]) => {
    const response = await rawHttp(it.server, {
      method: 'POST',
      target,
      headers: [`Authorization: ${asConf()}`, ...types.map((type) => `Content-Type: ${type}`)],
      body: formOf(fields),
    })
    return response
  }

  test.each(targets)('%s accepts a UTF-8 form with a content type in any case', async (target) => {
    for (const type of taken) {
      const { status } = await ask(target, await fieldsOf(target), [type])
      expect(succeeded(status), type).toBe(true)
    }
  })

  test.each(targets)('%s rejects other content types and a repeated header', async (target) => {
    const fields = await fieldsOf(target)
    await unchanged(async () => {
      for (const types of [
        ...refused.map((type) => [type]),
        [],
        [form, 'application/json'],
        ['application/json', form],
        [form, form],
      ]) {
        const { status, text } = await ask(target, fields, types)
        expect([400, 415], types.join(' and ')).toContain(status)
        expect(JSON.parse(text).error).toBe('invalid_request')
      }
    })
    expect(succeeded((await ask(target, fields, [form])).status)).toBe(true)
  })

  test.each([...targets, '/oauth/device_authorization'])(
    '%s rejects other methods with 405, and does not read the query',
    async (target) => {
      const fields = await fieldsOf(target)
      const { clientId: client_id, clientSecret: client_secret } = it.clients.conf
      const query = formOf({ ...fields, client_id, client_secret })
      await unchanged(async () => {
        for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
          const response = await it.request(`${target}?${query}`, {
            method,
            headers: { authorization: asConf() },
          })
          expect([response.status, response.headers.get('allow')], method).toEqual([405, 'POST'])
        }
        const all = await it.request(`${target}?${query}`, {
          method: 'POST',
          body: '',
          headers: { 'content-type': form },
        })
        expect([400, 401]).toContain(all.status)
        const some = await post(`${target}?${formOf(fields)}`, '')
        expect(some.status).toBe(400)
      })
    },
  )
})

describe('HT-02 Duplicate and empty parameters at POST endpoints', () => {
  const known: Record<string, readonly string[]> = {
    '/oauth/token': [
      'grant_type',
      'code',
      'redirect_uri',
      'code_verifier',
      'client_id',
      'client_secret',
      'scope',
      'refresh_token',
    ],
    '/oauth/revoke': ['token', 'token_type_hint', 'client_id', 'client_secret'],
    '/oauth/introspect': ['token', 'token_type_hint', 'client_id', 'client_secret'],
    '/oauth/par': [
      'response_type',
      'redirect_uri',
      'scope',
      'state',
      'code_challenge',
      'code_challenge_method',
      'client_id',
      'client_secret',
      'dpop_jkt',
      'prompt',
    ],
  }

  test.each(targets)(
    '%s returns invalid_request for a repeated known parameter',
    async (target) => {
      const fields: Record<string, string> = await fieldsOf(target)
      await unchanged(async () => {
        for (const name of known[target] ?? []) {
          const { [name]: own = 'x', ...rest } = fields
          for (const other of [own, `${own}x`, '']) {
            const twice = formOf({ ...rest, [name]: [own, other] })
            expectJson(await post(target, twice), 400, 'invalid_request')
            // A percent-encoded spelling is the same name.
            const letter = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
            const written = `${formOf({ ...rest, [name]: own })}&${letter}=${other}`
            expectJson(await post(target, written), 400, 'invalid_request')
          }
        }
      })
      expect(succeeded((await post(target, formOf(fields))).status)).toBe(true)
    },
  )

  test('/oauth/device_authorization returns invalid_request for a repeated parameter', async () => {
    for (const name of ['client_id', 'scope']) {
      const twice = formOf({ client_id: it.clients.conf.clientId, [name]: ['x', 'x'] })
      expectJson(await post('/oauth/device_authorization', twice), 400, 'invalid_request')
    }
  })

  test.each(targets)('%s ignores unknown parameters, even if they are repeated', async (target) => {
    const more = [
      'foo=a&foo=b',
      'a[]=1&a[]=2',
      'a.b=c',
      'token[]=x&code[]=x&scope[]=x&redirect_uri[0]=x',
      '__proto__=x&__proto__=y',
      '=x&=y',
      '&&&',
      'flag',
      'flag&flag',
      'a;b=c',
    ].join('&')
    const body = `&${more}&${formOf(await fieldsOf(target))}&`
    expect(succeeded((await post(target, body)).status)).toBe(true)
  })

  test('treats an empty parameter as omitted [T022]', async () => {
    const { refreshToken } = await it.grant()
    const fields = await fieldsOf('/oauth/token')
    for (const empty of ['scope=', 'scope', 'refresh_token=', 'client_secret=&client_id='])
      expect((await it.refresh(refreshToken, {}, { append: `&${empty}` })).status).not.toBe(500)
    for (const name of ['grant_type', 'code', 'code_verifier']) {
      const { status, body } = await post('/oauth/token', formOf({ ...fields, [name]: '' }))
      expect(status).toBe(400)
      expect(body.error).toMatch(/^invalid_(?:request|grant)$/)
    }
    for (const target of ['/oauth/revoke', '/oauth/introspect'])
      for (const body of ['token=', 'token', '', 'token_type_hint=access_token'])
        expectJson(await post(target, body), 400, 'invalid_request')
    expect((await post('/oauth/token', formOf({ ...fields, scope: '' }))).status).toBe(200)
  })

  test('accepts only & as the separator', async () => {
    const fields = await fieldsOf('/oauth/token')
    const { code = '' } = fields
    await unchanged(async () => {
      for (const separator of [';', '%26', '\n', ','])
        expect((await post('/oauth/token', formOf(fields).replaceAll('&', separator))).status).toBe(
          400,
        )
    })
    expect((await it.token({ code })).status).toBe(200)
  })
})

describe('HT-04 Encoding of spaces, plus signs and other characters', () => {
  test('decodes + and %20 in a scope as a space, and rejects %2B', async () => {
    const { r, w } = scopes
    const scopeOf = async (written: string) => {
      const response = await it.authorize({ scope: undefined }, { append: `&scope=${written}` })
      if (response.query.error !== undefined) return response.query.error
      return (await it.token({ code: response.query.code })).body.scope
    }
    expect(await scopeOf(`${r}+${w}`)).toBe(`${r} ${w}`)
    expect(await scopeOf(`${r}%20${w}`)).toBe(`${r} ${w}`)
    expect(await scopeOf(`${r}%2B${w}`)).toBe('invalid_scope')
    expect(await scopeOf(`${r}%252B${w}`)).toBe('invalid_scope')
    const { refreshToken } = await it.grant({ scope: `${r} ${w}` })
    const narrowed = await it.refresh(refreshToken, {}, { append: `&scope=${r}+${w}` })
    expect(narrowed.body.scope).toBe(`${r} ${w}`)
  })

  test.each(['a+b', 'a b', 'a%2Bb', 'é', '%', '100%', '&=#?/', 'a%20b', '😀', '"<>\\^`{|}'])(
    'returns the state %j unchanged',
    async (state) => {
      const granted = await it.authorize({ state })
      expect([granted.query.state, granted.query.error]).toEqual([state, undefined])
      const refused = await it.authorize({ state, scope: 'bogus' })
      expect([refused.query.state, refused.query.error]).toEqual([state, 'invalid_scope'])
      expect(granted.location).toMatch(/^[\x21-\x7E]+$/)
    },
  )

  test.each([
    'https://client.example/cb?x=a+b',
    'https://client.example/cb?x=a%2Bb',
    'https://client.example/cb?x=a%20b',
    'https://client.example/cb?x=%C3%A9',
    'https://client.example/cb?x=%c3%a9&y=',
    'https://client.example/cb?a=b&c',
    'https://client.example/a%2Fb',
  ])('compares and sends the redirect URI %s unchanged', async (redirectUri) => {
    const client = await it.client({ redirectUris: [redirectUri] })
    const response = await it.authorize({}, { client })
    expect(
      response.location?.startsWith(`${redirectUri}${redirectUri.includes('?') ? '&' : '?'}`),
    ).toBe(true)
    const { code } = response.query
    // Another spelling of the URL is a different redirect URI.
    for (const other of [
      redirectUri.replace('+', '%20'),
      redirectUri.replace('%20', '+'),
      redirectUri.replace('%C3', '%c3'),
      redirectUri.replace('%2F', '/'),
      decodeURIComponent(redirectUri),
    ].filter((spelling) => spelling !== redirectUri)) {
      expectJson(await it.token({ code, redirect_uri: other }, { client }), 400, 'invalid_grant')
      const asked = await it.authorize({ redirect_uri: other }, { client })
      expect(asked.status).toBe(400)
    }
    expect((await it.token({ code }, { client })).status).toBe(200)
  })

  test('decodes a secret exactly once in Basic and in a body', async () => {
    const client = await it.client({ grantTypes: ['client_credentials'] })
    const machine = { grant_type: 'client_credentials' }
    const { clientId, clientSecret } = client
    const escaped = [...clientSecret]
      .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
      .join('')
    const byBasic = async (secret: string) => {
      const authorization = `Basic ${btoa(`${clientId}:${secret}`)}`
      return (await it.token(machine, { client, auth: 'none', headers: { authorization } })).status
    }
    expect(await byBasic(clientSecret)).toBe(200)
    expect(await byBasic(escaped)).toBe(200)
    for (const wrong of [
      `${clientSecret}+`,
      `${clientSecret}%20`,
      `+${clientSecret}`,
      `${clientSecret}%2B`,
      escaped.replaceAll('%', '%25'),
    ])
      expect(await byBasic(wrong), wrong).toBe(401)
    const inBody = (secret: string) =>
      it.request('/oauth/token', {
        method: 'POST',
        headers: { 'content-type': form },
        body: `grant_type=client_credentials&client_id=${clientId}&client_secret=${secret}`,
      })
    expect((await inBody(escaped)).status).toBe(200)
    for (const wrong of [`${clientSecret}+`, `${clientSecret}%2B`, escaped.replaceAll('%', '%25')])
      expectJson(await inBody(wrong), 401, 'invalid_client')
  })
})

describe('HT-05 Cache and security headers of every response [T069]', () => {
  const get = (path: string, headers: Record<string, string> = {}) => it.request(path, { headers })
  const withSession = (path: string, init: RequestInit = {}) =>
    it.request(path, { agent: person.agent, ...init })
  const settings = '/account/settings/applications/'

  const responses: Record<string, () => Promise<HttpResponse>> = {
    'token, success': async () => it.token({ code: await it.code() }),
    'token, error': () => it.token({ code: 'x' }),
    'token, 401': () =>
      it.token({ code: 'x' }, { client: { ...it.clients.conf, clientSecret: 'x' } }),
    'token, 405': () => get('/oauth/token'),
    'token, 413': () => post('/oauth/token', `a=${'x'.repeat(70_000)}`),
    'PAR, success': async () => post('/oauth/par', formOf(await fieldsOf('/oauth/par'))),
    'PAR, error': () => post('/oauth/par', 'scope=bogus'),
    'device, success': () =>
      post('/oauth/device_authorization', `client_id=${it.clients.conf.clientId}`),
    'device, error': () => post('/oauth/device_authorization', 'client_id=x'),
    'register, success': () =>
      it.request('/oauth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"redirect_uris":["https://client.example/cb"]}',
      }),
    'register, error': () =>
      it.request('/oauth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }),
    'introspect, success': async () =>
      post('/oauth/introspect', formOf(await fieldsOf('/oauth/introspect'))),
    'introspect, error': () => post('/oauth/introspect', ''),
    'revoke, success': async () => post('/oauth/revoke', formOf(await fieldsOf('/oauth/revoke'))),
    'revoke, error': () => post('/oauth/revoke', ''),
    'consent page': () => it.authorize({ prompt: 'consent' }, { submit: null }),
    'code redirect': () => it.authorize({ prompt: 'consent' }),
    'error redirect': () => it.authorize({ scope: 'bogus' }),
    'implicit redirect': () => {
      const over = { response_type: 'token', code_challenge: undefined }
      return it.authorize({ ...over, code_challenge_method: undefined }, { client: 'imp' })
    },
    'error page': () => it.authorize({ client_id: 'nope' }),
    'redirect to the error page': () => get('/oauth/authorize?client_id=nope'),
    'redirect to the login': () =>
      get(new URL(it.authorizeUrl()).pathname + new URL(it.authorizeUrl()).search),
    'login page': () => get('/login'),
    'login that failed': () =>
      it.request('/login', { method: 'POST', body: new URLSearchParams({ email: 'x' }) }),
    'settings page': () => withSession(settings),
    'settings page, logged out': () => get(settings),
    'settings page, 404': () => withSession(`${settings}clients/nope/`),
    'settings page, 403': () =>
      withSession(`${settings}clients/new/`, {
        method: 'POST',
        body: new URLSearchParams({ name: 'x' }),
      }),
    'new client': () =>
      withSession(`${settings}clients/new/`, {
        method: 'POST',
        body: new URLSearchParams({
          csrf_token: person.csrfToken,
          name: 'Made in the settings',
          redirect_uris: 'https://client.example/cb',
        }),
      }),
    'device page': () => withSession('/oauth/device'),
    ping: async () => it.ping((await it.grant()).accessToken),
    'ping, 401': () => it.ping('x'),
    'ping, nothing': () => get('/oauth/ping'),
    'ping, 400': () => get('/oauth/ping?access_token=a&access_token=b'),
    info: async () =>
      get('/oauth/info', { authorization: `Bearer ${(await it.grant()).accessToken}` }),
    '404': () => get('/oauth/nothing'),
  }

  /** Expects the headers that every response of the server must have. */
  const expectHeaders = ({ status, headers, text }: HttpResponse) => {
    expect(headers.get('cache-control')).toMatch(/\bno-store\b/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    for (const name of ['x-powered-by', 'etag', 'last-modified', 'server'])
      expect(headers.get(name), name).toBeNull()
    const type = headers.get('content-type')
    if (text !== '')
      expect(type).toMatch(/^(?:application\/json(?:;|$)|text\/html; charset=utf-8$)/i)
    if (type?.startsWith('text/html')) {
      expect(headers.get('x-frame-options')).toBe('DENY')
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('unsafe')
    }
    if (status >= 300 && status < 400) expect(status).toBe(303)
  }

  test.each(Object.keys(responses))('sends the required headers: %s', async (name) => {
    const response = await (responses[name] ?? (() => get('/')))()
    expectHeaders(response)
    if (name.startsWith('token')) expect(response.headers.get('pragma')).toBe('no-cache')
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    // A challenge for a missing credential contains no error (RFC 6750 §3.1).
    if (response.status >= 400 && isJson && name !== 'ping, nothing')
      expect(response.body.error).toMatch(/^[a-z_]+$/)
  })

  test.each([
    ['503', () => new StoreUnavailable('gone')],
    ['500', () => new Error('SQLITE_CORRUPT')],
  ] as const)('sends the required headers with a %s response', async (status, newError) => {
    let failing: string | undefined
    const aroundStore: AroundStore = ({ name }, run) => {
      if (name === failing) throw newError()
      return run()
    }
    await using broken = await startAttackServer({ aroundStore })
    const ask = async (operation: string, work: () => Promise<HttpResponse>) => {
      failing = operation
      const response = await work()
      failing = undefined
      expect(response.status).toBe(Number(status))
      expectHeaders(response)
      if (status === '503') expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    const { agent } = await broken.browser('a')
    await ask('tokens.findByAccess', () => broken.ping('x'))
    await ask('clients.find', () => broken.token({ code: 'x' }))
    await ask('sessions.find', () => broken.request('/login', { agent }))
    await ask('sessions.find', () => broken.request(settings, { agent }))
    await ask('clients.find', () => broken.request('/oauth/authorize?client_id=x', { agent }))
  })

  test('sends public resources with their content type and nosniff', async () => {
    for (const [path, type] of [
      ['/oauth/style.css', /^text\/css/],
      ['/oauth/page.js', /^text\/javascript/],
      ['/.well-known/oauth-authorization-server', /^application\/json/],
      ['/.well-known/oauth-protected-resource', /^application\/json/],
    ] as const) {
      const { status, headers } = await get(path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toMatch(type)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-powered-by')).toBeNull()
    }
  })

  // The proxy of the application terminates TLS, so the proxy must send HSTS.
  test('does not send HSTS', async () => {
    expect((await get('/login')).headers.get('strict-transport-security')).toBeNull()
  })
})

describe('HT-06 CORS [T548]', () => {
  const interactive = [
    ['GET', '/oauth/authorize?client_id=x'],
    ['POST', '/oauth/authorize'],
    ['GET', '/login'],
    ['POST', '/login'],
    ['POST', '/logout'],
    ['GET', '/oauth/errors?error=x'],
    ['GET', '/oauth/device'],
    ['POST', '/oauth/device'],
    ['POST', '/oauth/introspect'],
    ['GET', '/account/settings/applications/'],
    ['POST', '/account/settings/applications/clients/new/'],
    ['GET', '/admin/applications/'],
  ] as const
  const open = [
    ['POST', '/oauth/token'],
    ['POST', '/oauth/revoke'],
    ['POST', '/oauth/par'],
    ['POST', '/oauth/device_authorization'],
    ['POST', '/oauth/register'],
    ['GET', '/oauth/ping'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/oauth-protected-resource'],
  ] as const
  const origins = () => ['https://evil.example', 'null', new URL(it.issuer).origin]
  const said = ({ headers }: HttpResponse) =>
    [...headers].filter(([name]) => name.startsWith('access-control-'))
  const ask = (method: string, path: string, origin: string, more: Record<string, string> = {}) =>
    it.request(path, {
      method,
      headers: { origin, cookie: person.cookie, 'user-agent': browser, ...more },
    })
  const question = (method: string, path: string, origin: string) =>
    ask('OPTIONS', path, origin, {
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,dpop',
    })

  test.each(interactive)('%s %s sends no CORS headers', async (method, path) => {
    for (const origin of origins()) {
      expect(said(await ask(method, path, origin))).toEqual([])
      const asked = await question(method, path, origin)
      expect(said(asked)).toEqual([])
      expect([404, 405]).toContain(asked.status)
    }
  })

  test.each(open)(
    '%s %s allows any origin except null, without credentials',
    async (method, path) => {
      for (const origin of origins())
        for (const response of [
          await ask(method, path, origin),
          await question(method, path, origin),
        ]) {
          const { headers } = response
          expect(headers.get('access-control-allow-credentials')).toBeNull()
          expect(headers.get('access-control-allow-origin')).toBe(origin === 'null' ? null : '*')
        }
      const asked = await question(method, path, 'https://evil.example')
      expect([asked.status, asked.text]).toEqual([204, ''])
      expect(asked.headers.get('access-control-allow-methods')).toContain(method)
      expect(asked.headers.get('access-control-allow-headers')).not.toMatch(/cookie|\*/i)
    },
  )

  test('never returns the origin of a request in a CORS header of the REST application', async () => {
    const { accessToken } = await it.grant()
    for (const path of ['/', '/api/public', '/api/me'])
      for (const origin of origins()) {
        const authorization = `Bearer ${accessToken}`
        for (const response of [
          await ask('GET', path, origin),
          await ask('GET', path, origin, { authorization }),
        ]) {
          expect(response.headers.get('access-control-allow-credentials')).toBeNull()
          expect([null, '*']).toContain(response.headers.get('access-control-allow-origin'))
        }
      }
  })
})

describe('HT-07 Paths, methods and error bodies [T096]', () => {
  const send = (request: RawRequest): Promise<RawResponse> => rawHttp(it.server, request)

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
    '/oauth/./token',
    '/oauth\\token',
    '\\oauth\\token',
    'http://evil.example/oauth/token',
    '/oauth/token?',
    '/oauth/token#x',
  ])('treats POST %s as the token endpoint or as unknown', async (target) => {
    const headers = [`Content-Type: ${form}`]
    const { clientId, clientSecret } = it.clients.m2m
    const ask = (secret: string) =>
      send({
        method: 'POST',
        target,
        headers,
        body: `grant_type=client_credentials&client_id=${clientId}&client_secret=${secret}`,
      })
    const [wrong, right] = [await ask('wrong'), await ask(clientSecret)]
    expect([308, 400, 401, 404, 405]).toContain(wrong.status)
    expect([200, 308, 400, 404, 405]).toContain(right.status)
    expect(right.status === 200).toBe(wrong.status === 401)
    // A redirect may only lead to the canonical URL of this server.
    if (right.status === 308) expect(right.headers.get('location')).toMatch(/^\/oauth\/token/)
  })

  test.each([
    '/api/me',
    '//api/me',
    '/API/ME',
    '/api/me/',
    '/api/%6de',
    '/api/me;x',
    '/api/x/../me',
    '/api//me',
    '/api/me%2F',
    '/oauth/ping/',
    '/oauth/%70ing',
    '/OAUTH/ping',
    '/oauth/x/../ping',
    '/account/settings/applications',
    '//account/settings/applications/',
    '/Account/Settings/Applications/',
    '/account/settings/%61pplications/',
  ])('returns no protected content at %s without a credential', async (target) => {
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const { status, text, headers } = await send({ method, target })
      expect([303, 308, 400, 401, 403, 404, 405, 204, 200]).toContain(status)
      if (status === 303) expect(headers.get('location')).toMatch(/^\/login\?/)
      // An empty response to OPTIONS only reveals that the path exists.
      if (status === 200)
        expect([method, text]).toEqual(['OPTIONS', expect.stringMatching(/^[A-Z, ]*$/)])
    }
  })

  test('returns 404 outside of its path if it is mounted under a path', async () => {
    await using deep = await startAttackServer({ basePath: '/app' })
    expect((await deep.token({ grant_type: 'client_credentials' }, { client: 'm2m' })).status).toBe(
      200,
    )
    const { origin } = new URL(deep.issuer)
    for (const path of ['/oauth/token', '/login', '/oauth/ping', '/account/settings/applications/'])
      expect((await deep.request(`${origin}${path}`, { method: 'POST' })).status).toBe(404)
    expect(
      (await deep.request(`${origin}/application/oauth/token`, { method: 'POST' })).status,
    ).toBe(404)
    expect((await deep.request(`${origin}/appoauth/token`, { method: 'POST' })).status).toBe(404)
  })

  // This server has one node, because a hook is a function and cannot be sent to other processes.
  test.each(['text/html', 'application/json', '*/*'])(
    'returns 500 without details of an internal error to a client that accepts %s',
    async (accept) => {
      const hook = () => {
        throw new Error('SQLITE_CORRUPT: select secret from /var/lib/x at index.ts:1:1')
      }
      await using broken = await startAttackServer({ saveToken: hook })
      const code = await broken.code()
      const response = await broken.token({ code }, { headers: { accept } })
      expect(response.status).toBe(500)
      expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
      expect(response.body).toEqual({
        error: 'server_error',
        error_description: expect.any(String),
      })
      expect(response.text).not.toMatch(/SQLITE|select|\/var\/lib|index\.ts|node_modules|\bat /)
      expect(response.text).not.toContain(code)
      expect(broken.server.log.filter(({ event }) => event === 'request.failed')).toHaveLength(1)
    },
  )

  const nasty = ['"', '\\', '\r\n', '\u0000', 'é', '😀', '\u202E', '<script>', '%00', '\u007F']
  test.each(nasty)(
    'returns only allowed characters in error_description for %j [T054]',
    async (text) => {
      const responses = [
        await it.token({ grant_type: text }),
        await it.token({ code: text }),
        await it.token({ code: 'x', code_verifier: text }),
        await it.token({ code: 'x', redirect_uri: text }),
        await it.token({ grant_type: 'client_credentials', scope: text }, { client: 'm2m' }),
        await it.refresh(text),
        await post('/oauth/revoke', formOf({ token: text, token_type_hint: text })),
        await post('/oauth/introspect', formOf({ token: text })),
        await post('/oauth/par', formOf({ response_type: text, scope: text })),
        await post(
          '/oauth/device_authorization',
          formOf({ client_id: it.clients.conf.clientId, scope: text }),
        ),
        await it.request('/oauth/register', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ redirect_uris: [text], client_name: text, scope: text }),
        }),
      ]
      for (const { status, body } of responses) {
        expect(status).toBeLessThan(500)
        if (status < 400) continue
        expect(body.error).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
        expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
      }
      const url = authorizeUrl(it.issuer, {
        client_id: it.clients.conf.clientId,
        redirect_uri: it.clients.conf.redirectUri,
        scope: text,
      })
      const { headers } = await person.agent.fetch(url)
      const description = new URL(headers.get('location') ?? '', it.issuer).searchParams.get(
        'error_description',
      )
      expect(description ?? 'x').toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
    },
  )

  test.each(
    [
      '*',
      '',
      '?',
      '/%',
      '/oauth/%zz',
      '/oauth/%FF',
      '/oauth/constructor',
      `/${'a'.repeat(9_000)}`,
    ].map((value) => [JSON.stringify(value.slice(0, 30)), value] as const),
  )('returns 4xx for the target %s', async (_, target) => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'TRACE']) {
      // Node closes the connection if a request has no target.
      const response = await send({ method, target }).catch(() => ({ status: 400, text: '' }))
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(response.status).toBeLessThan(500)
      expect(response.text).not.toMatch(/\bat .*:\d+:\d+|node_modules/)
    }
  })

  test('returns 405 for an unknown method', async () => {
    for (const method of ['PROPFIND', 'TRACE', 'LOCK']) {
      const { status, headers } = await send({ method, target: '/oauth/token' })
      expect(status).toBe(405)
      expect(headers.get('allow')).toBe('POST')
    }
    expect(isOnNodes || it.server.log.every(({ event }) => event !== 'request.failed')).toBe(true)
  })
})
