import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RawRequest, type RawResponse, rawHttp } from '../support/raw-http.ts'
import type { LoggedIn } from '../support/session.ts'
import { authorizeUrl } from '../support/user-agent.ts'
import {
  type AttackServer,
  basic,
  expectJson,
  formOf,
  type HttpResponse,
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

/** The fields of a token request that succeeds. */
const tokenFields = async (): Promise<Record<string, string>> => ({
  grant_type: 'authorization_code',
  code: await it.code(),
  redirect_uri: it.clients.conf.redirectUri,
  code_verifier: it.verifier,
})

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

describe('HT-02 Empty parameters and separators at POST endpoints', () => {
  test('treats an empty parameter as omitted [T022]', async () => {
    const { refreshToken } = await it.grant()
    const fields = await tokenFields()
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
    const fields = await tokenFields()
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

describe('HT-05 Cache and security headers of redirects to a client', () => {
  test.each<[string, () => Promise<HttpResponse>]>([
    ['a code', () => it.authorize({ prompt: 'consent' })],
    ['an error', () => it.authorize({ scope: 'bogus' })],
    [
      'a token',
      () => {
        const over = { response_type: 'token', code_challenge: undefined }
        return it.authorize({ ...over, code_challenge_method: undefined }, { client: 'imp' })
      },
    ],
  ])('with %s', async (_, ask) => {
    const { status, headers } = await ask()
    expect(status).toBe(303)
    expect(headers.get('cache-control')).toMatch(/\bno-store\b/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
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
    '/oauth/../oauth/token',
    '/x/../oauth/token',
    '/oauth/./token',
    '/oauth\\token',
    '\\oauth\\token',
    'http://evil.example/oauth/token',
    'http://evil.example:1/oauth/token?x',
    '/oauth/token?',
    '/oauth/token??',
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
      '/oauth/__proto__',
      '/oauth/constructor',
      '/toString',
      `/${'a'.repeat(9_000)}`,
      `/oauth/${'%61'.repeat(3_000)}`,
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
})
