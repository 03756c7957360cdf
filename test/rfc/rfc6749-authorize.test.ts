import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientInput, InvalidField, Scope, StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOf } from '../support/internals.ts'
import { rawHttp } from '../support/raw-http.ts'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'
import { redirectUri, startServer, type TestServer, testScopes } from '../support/server.ts'
import {
  authorizeUrl,
  formIn,
  ping,
  refusal,
  responseTo,
  TestClient,
  UserAgent,
} from '../support/user-agent.ts'

let app: TestServer
/** A browser whose user is logged in, for all tests of this file. */
let agent: UserAgent
let conf: TestClient

beforeAll(async () => {
  app = await startServer()
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent)
})
afterAll(() => app.close())

const register = (...given: TestClientInput): Promise<TestClient> =>
  TestClient.register(app, agent, ...given)
type TestClientInput =
  Parameters<typeof TestClient.register> extends [unknown, unknown, ...infer R] ? R : never

/** Asserts that a response redirects to the error view of this server. Returns the `error` parameter. */
const localError = async (response: Response): Promise<string | null> => {
  const location = response.headers.get('location')
  expect(response.status).toBe(303)
  expect(response.headers.get('cache-control')).toBe('no-store')
  const target = new URL(location ?? '', app.issuer)
  expect(target.origin + target.pathname).toBe(`${app.issuer}/oauth/errors`)
  const view = await agent.fetch(target)
  expect(view.status).toBe(400)
  expect(await view.text()).toContain('invalid_request')
  return target.searchParams.get('error')
}

const errorAt = async (client: TestClient, given: Record<string, string | undefined>) => {
  const answer = responseTo(client, await client.ask(given))
  expect(answer.iss).toBe(app.issuer)
  expect(answer.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  return answer
}

describe('decision §4.1 requests with an invalid client or redirect URI', () => {
  let two: TestClient
  let none: TestClient
  let orphan: TestClient
  beforeAll(async () => {
    two = await register({ redirectUris: [redirectUri, 'https://client.example/other'] })
    none = await register({ redirectUris: [] })
    const owner = await app.server.users.create({
      email: 'gone@example.org',
      password: null,
      active: false,
    })
    orphan = await register({ userId: owner.id })
  })

  const evil = 'https://evil.example/cb'
  const cases: Record<string, () => string> = {
    'unknown client': () => conf.url({ client_id: 'nope', redirect_uri: evil }),
    'empty client_id': () => conf.url({ client_id: '', redirect_uri: evil }),
    'missing client_id': () => conf.url({ client_id: undefined, redirect_uri: evil }),
    'array-shaped client_id': () =>
      `${conf.url({ client_id: undefined })}&client_id[]=${conf.clientId}`,
    'client_id in lower and upper case': () =>
      conf.url({ client_id: conf.clientId.toLowerCase() + conf.clientId.toUpperCase() }),
    'client_id with a trailing space': () => conf.url({ client_id: `${conf.clientId} ` }),
    'client_id with a trailing NUL': () => conf.url({ client_id: `${conf.clientId}\0` }),
    'client_id of 4 kB': () => conf.url({ client_id: 'x'.repeat(4096) }),
    'client_id __proto__': () => conf.url({ client_id: '__proto__' }),
    'client of an inactive owner': () => orphan.url(),
    'unregistered redirect URI': () => conf.url({ redirect_uri: evil }),
    'malformed redirect URI': () => conf.url({ redirect_uri: 'no URI at all' }),
    'array-shaped redirect_uri': () =>
      `${two.url({ redirect_uri: undefined })}&redirect_uri[0]=${redirectUri}`,
    'missing redirect URI for a client with two registered URIs': () =>
      two.url({ redirect_uri: undefined }),
    'missing redirect URI for a client without registered URIs': () =>
      none.url({ redirect_uri: undefined }),
    'empty redirect URI for a client with two registered URIs': () => two.url({ redirect_uri: '' }),
    'redirect URI for a client without registered URIs': () => none.url(),
  }

  test.each(Object.entries(cases))(
    'redirects to the error view, not to the client, for: %s [T033]',
    async (_case, url) => {
      expect(await localError(await new UserAgent().fetch(url()))).toBe('invalid_request')
      expect(await localError(await agent.fetch(url()))).toBe('invalid_request')
      const [address, body] = url().split('?')
      const posted = await agent.fetch(address ?? '', {
        method: 'POST',
        body: new URLSearchParams(body),
      })
      expect(await localError(posted)).toBe('invalid_request')
    },
  )

  test('decision §5.2 rejects the hidden client of a personal token', async () => {
    const token = await app.server.tokens.createPersonal('PAT', app.user.id, {
      scopes: ['notes:read'],
    })
    const own = conf.url({ client_id: token.clientId, redirect_uri: undefined })
    expect(await localError(await agent.fetch(own))).toBe('invalid_request')
    expect(await localError(await agent.fetch(conf.url({ client_id: token.clientId })))).toBe(
      'invalid_request',
    )
  })

  test('decision §2 ignores the query of a POST request [T020]', async () => {
    const { client_id, ...rest } = Object.fromEntries(new URL(conf.url()).searchParams)
    const inQuery = await agent.fetch(`${app.issuer}/oauth/authorize?client_id=${client_id}`, {
      method: 'POST',
      body: new URLSearchParams(rest),
    })
    expect(await localError(inQuery)).toBe('invalid_request')
    const doubled = await agent.fetch(`${conf.url()}&scope=notes:write`, {
      method: 'POST',
      body: new URL(conf.url({ prompt: 'consent' })).searchParams,
    })
    expect(doubled.status).toBe(200)
    expect(await doubled.text()).not.toContain('notes:write')
  })

  test('decision §2 shows error and error_description as text in the error view [T037]', async () => {
    const view = await agent.fetch(
      `${app.issuer}/oauth/errors?error=${encodeURIComponent('<script>x</script>')}&error_description=${encodeURIComponent('"><img src=x>')}`,
    )
    const html = await view.text()
    expect(view.status).toBe(400)
    expect(html).toContain('&lt;script&gt;x&lt;/script&gt;')
    expect(html).not.toContain('<script>')
    expect(html).not.toContain('<img')
  })
})

describe('decision §4.2 exact comparison of redirect URIs', () => {
  const suffixes = [
    '/',
    '?x=1',
    '?',
    '#',
    '#f',
    '/../x',
    '/%2e%2e/x',
    '..;/x',
    '%00',
    '%20',
    ' ',
    '\n',
    '/FAKEPATH',
    '%2FFAKEPATH',
    '%252FFAKEPATH',
    '/../FAKEPATH',
    '/..%2FFAKEPATH',
    '/%2e%2e/FAKEPATH',
    '/%2e%2e%2FFAKEPATH',
    '/..%252FFAKEPATH',
    '/FAKEPATH/..',
    '/FAKEPATH/../',
    '/;/../../FAKEPATH',
    '/%3B/../../FAKEPATH',
    '%0A%0D/../../FAKEPATH',
    '\n\r/../../FAKEPATH',
    '%09/../../FAKEPATH',
    '%23/../../FAKEPATH',
    '%3F/../../FAKEPATH',
    '\\..\\FAKEPATH',
    '@evil.example',
  ]
  const others = [
    'https://client.example/CB',
    'http://client.example/cb',
    'HTTPS://client.example/cb',
    'https://client.example:443/cb',
    'https://CLIENT.example/cb',
    'https://a.client.example/cb',
    'https://client.example.evil.example/cb',
    'https://user@client.example/cb',
    'https://client.example@evil.example/cb',
    'https://client.example\\@evil.example/cb',
    'https://client.example/%63b',
    'https://client.example/',
    'https://client.example/c',
    'https:/client.example/cb',
    '//client.example/cb',
    '/cb',
    ' https://client.example/cb',
    '\thttps://client.example/cb',
    'https://cl\u0131ent.example/cb',
  ]
  /** A client whose first redirect URI is a prefix of its second, to detect a comparison by prefix. */
  let nested: TestClient
  beforeAll(async () => {
    nested = await register({ redirectUris: [redirectUri, 'https://client.example/cb/deep'] })
  })
  test.each([...suffixes.map((suffix) => redirectUri + suffix), ...others])(
    'RFC 9700 §2.1 rejects %j, which differs from the registered URI [T034]',
    async (uri) => {
      for (const client of [conf, nested]) {
        const { status, headers } = await agent.fetch(client.url({ redirect_uri: uri }))
        expect(status).toBe(303)
        expect(headers.get('location')).toMatch(
          /^\/oauth\/errors\?error=invalid_request&[\x21-\x7E]+$/,
        )
      }
    },
  )

  test.each([
    'https://client.example/cb?a=1',
    'https://client.example/cb?a=%2F&b=+c&c=%2B&d=%20&e=%C3%A9',
    'https://client.example/cb?',
    'https://client.example/cb?a=1&',
    'https://client.example/a/../cb',
    'https://CLIENT.example:443/cb',
    'https://client.example',
    'http://localhost:8080/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:9/cb',
  ])('decision §4.2 redirects to %s verbatim, with the parameters appended [T029]', async (uri) => {
    const client = await register({ redirectUris: [uri] })
    const page = await agent.browse(client.url())
    const answer = await agent.submit(page, { confirm: 'yes' })
    const location = answer.headers.get('location') ?? ''
    expect(location.startsWith(uri)).toBe(true)
    expect(location.slice(uri.length)).toMatch(
      /^[?&]?code=[A-Za-z0-9]{43}&state=xyz&iss=http%3A%2F%2Flocalhost%3A\d+$/,
    )
    expect(location.split('?').length).toBe(2)
    const code = new URL(location).searchParams.get('code') ?? ''
    expect((await client.redeem(code)).status).toBe(200)
  })

  test.each(forbiddenRedirectUris)(
    'decision §4.2 refuses to register the redirect URI %j [T027]',
    async (uri) => {
      const before = await conf.app.server.clients.find(conf.clientId)
      for (const redirectUris of [[uri], [redirectUri, uri]]) {
        await expect(app.client({ redirectUris })).rejects.toThrow(
          expect.objectContaining({ name: 'InvalidField', field: 'redirect_uris' }),
        )
        await expect(app.server.clients.update(conf.clientId, { redirectUris })).rejects.toThrow(
          InvalidField,
        )
      }
      expect((await app.server.clients.find(conf.clientId))?.redirectUris).toEqual(
        before?.redirectUris,
      )
    },
  )

  test('RFC 6749 §3.1.2.3 uses the only registered redirect URI if both requests omit redirect_uri [T035]', async () => {
    const code = await conf.code({ redirect_uri: undefined })
    expect(refusal(await conf.redeem(code, { redirect_uri: `${redirectUri}/` }))).toBe(
      '400 invalid_grant',
    )
    expect((await conf.redeem(code, { redirect_uri: undefined })).status).toBe(200)
    const again = await conf.code({ redirect_uri: '' })
    expect((await conf.redeem(again)).status).toBe(200)
  })
})

describe('decision §4.1 errors that are sent to the registered redirect URI', () => {
  const limited: Record<string, TestClient> = {}
  beforeAll(async () => {
    limited.code = await register({ responseTypes: ['code'] })
    limited.token = await register({ responseTypes: ['token'] })
    limited.machine = await register({ grantTypes: ['client_credentials'] })
    limited.reader = await register({ allowedScopes: ['notes:read'] })
  })

  const cases: [string, string, Record<string, string | undefined>, string?][] = [
    ['invalid_request', 'a missing response_type (§4.1.2.1)', { response_type: undefined }],
    ['invalid_request', 'an empty response_type (§3.1)', { response_type: '' }],
    ['unsupported_response_type', 'response_type bogus (§4.1.2.1)', { response_type: 'bogus' }],
    ['unsupported_response_type', 'response_type "code token"', { response_type: 'code token' }],
    ['unsupported_response_type', 'response_type id_token', { response_type: 'id_token' }],
    ['unsupported_response_type', 'response_type CODE in upper case', { response_type: 'CODE' }],
    ['unsupported_response_type', 'response_type __proto__', { response_type: '__proto__' }],
    ['unauthorized_client', 'a response type that the client did not register', {}, 'token'],
    ['unauthorized_client', 'a client that did not register the grant type', {}, 'machine'],
    ['invalid_scope', 'an unknown scope (§4.1.2.1)', { scope: 'bogus' }],
    ['invalid_scope', 'a known and an unknown scope (§3.3)', { scope: 'notes:read bogus' }],
    ['invalid_scope', 'an internal scope (decision §4.5)', { scope: 'test:scope' }],
    ['invalid_scope', 'a scope outside allowed_scopes', { scope: 'notes:write' }, 'reader'],
    ['invalid_scope', 'a scope in upper case (§3.3)', { scope: 'NOTES:READ' }],
    ['invalid_scope', 'a tab in the scope (§3.3)', { scope: 'notes:read\tnotes:write' }],
    ['invalid_scope', 'a line feed in the scope (§3.3)', { scope: 'notes:read\nnotes:write' }],
    ['invalid_scope', 'a quote in the scope (§3.3)', { scope: 'notes:read"x' }],
    ['invalid_scope', 'a backslash in the scope (§3.3)', { scope: 'notes:read\\' }],
    ['invalid_scope', 'a plus sign in the scope (§3.3)', { scope: 'notes:read+notes:write' }],
    ['invalid_scope', 'a non-ASCII character in the scope', { scope: 'notes:r\u00e9ad' }],
    ['invalid_scope', '200 unknown scopes (§3.3)', { scope: 'abcdefg '.repeat(200) }],
    ['invalid_scope', 'the scope __proto__', { scope: '__proto__' }],
    ['invalid_scope', 'the scope constructor', { scope: 'constructor' }],
    ['invalid_request', 'prompt none with another value', { prompt: 'none consent' }],
    ['request_not_supported', 'a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['invalid_request', 'response_mode fragment for a code', { response_mode: 'fragment' }],
    ['invalid_request', 'response_mode web_message', { response_mode: 'web_message' }],
    ['invalid_request', 'response_mode bogus', { response_mode: 'bogus' }],
    ['invalid_request', 'a control character in response_type', { response_type: 'code\u0000' }],
  ]

  test.each(cases)('RFC 6749 returns %s for %s [T026]', async (error, _why, given, client = '') => {
    const asking = limited[client] ?? conf
    expect(await errorAt(asking, { ...given, state: 'a b&c' })).toEqual({
      error,
      error_description: expect.any(String),
      state: 'a b&c',
      iss: app.issuer,
    })
    expect(await errorAt(asking, { ...given, state: undefined })).not.toHaveProperty('state')
  })

  const implicit: [string, string, Record<string, string | undefined>, string?][] = [
    ['unauthorized_client', 'a response type that the client did not register', {}, 'code'],
    ['invalid_scope', 'an unknown scope', { scope: 'bogus' }],
    ['invalid_request', 'response_mode query', { response_mode: 'query' }],
    ['invalid_request', 'response_mode bogus', { response_mode: 'bogus' }],
  ]
  test.each(implicit)(
    'RFC 6749 §4.2.2.1 for response type token, returns %s in query and fragment for %s [T768]',
    async (error, _why, given, client = '') => {
      const asking = limited[client] ?? conf
      const answer = await asking.ask({ response_type: 'token', state: 'a b', ...given })
      const expected = {
        error,
        error_description: expect.any(String),
        state: 'a b',
        iss: app.issuer,
      }
      expect(responseTo(asking, answer, 'query')).toEqual(expected)
      expect(responseTo(asking, answer, 'fragment')).toEqual(expected)
    },
  )

  test.each(['code', 'token'])(
    'RFC 6749 §4.1.2.1, §4.2.2.1 returns access_denied if the user denies a request for a %s [T056]',
    async (response_type) => {
      const client = await register()
      const answer = await client.ask({ response_type, state: 's' }, 'no')
      const expected = {
        error: 'access_denied',
        error_description: expect.any(String),
        state: 's',
        iss: app.issuer,
      }
      expect(responseTo(client, answer)).toEqual(expected)
      if (response_type === 'token')
        expect(responseTo(client, answer, 'fragment')).toEqual(expected)
      else expect(answer.hash).toBe('')
      // The denial must not be stored as a consent, so the consent page is shown again.
      const { url, status } = await agent.browse(client.url({ response_type }))
      expect([status, new URL(url).origin]).toEqual([200, app.issuer])
    },
  )

  test.each([{ scope: 'bogus' }, { response_type: undefined }, { code_challenge: 'short' }])(
    'RFC 9700 §4.11.2 redirects an invalid request to the login page, and after the login to the client: %j [T016]',
    async (given) => {
      const visitor = new UserAgent()
      const first = await visitor.fetch(conf.url({ ...given, state: 'a&b=c%26#d' }))
      expect(first.status).toBe(303)
      const login = new URL(first.headers.get('location') ?? '', app.issuer)
      expect(login.origin + login.pathname).toBe(`${app.issuer}/login`)
      const answer = responseTo(
        conf,
        await visitor.authorize(app, conf.url({ ...given, state: 'a&b=c%26#d' })),
      )
      expect(answer).toMatchObject({
        error: expect.stringMatching(/^invalid_/),
        state: 'a&b=c%26#d',
      })
    },
  )

  test('returns temporarily_unavailable to the client if the store fails after redirect URI validation [T057]', async () => {
    let fails = false
    await using failing = await startServer({
      aroundStore: async (operation, run) => {
        if (fails && operation.name === 'consents.findOfSession') throw new StoreUnavailable('down')
        return run()
      },
    })
    const client = await TestClient.register(failing, new UserAgent())
    await client.code()
    fails = true
    const answer = responseTo(client, await client.ask())
    expect(answer).toMatchObject({ error: 'temporarily_unavailable', state: 'xyz' })
    fails = false
    expect(await client.code()).toMatch(/^[A-Za-z0-9]{43}$/)
  })

  test('decision §6.4 returns 503 without a redirect if the store fails before redirect URI validation', async () => {
    let fails = false
    await using failing = await startServer({
      aroundStore: async (operation, run) => {
        if (fails && operation.name === 'clients.find') throw new StoreUnavailable('down')
        return run()
      },
    })
    const client = await TestClient.register(failing, new UserAgent())
    fails = true
    const response = await client.agent.fetch(client.url())
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(response.headers.get('location')).toBeNull()
  })

  test('RFC 6749 §4.1.2.1 returns unsupported_response_type for a disabled response type [T761]', async () => {
    await using strict = await startServer({ allowedResponseTypes: ['code'] })
    const client = await TestClient.register(strict, new UserAgent())
    const answer = await client.ask({ response_type: 'token' })
    expect(responseTo(client, answer).error).toBe('unsupported_response_type')
    expect((await client.ask()).searchParams.has('code')).toBe(true)
  })

  test('RFC 6749 §4.1.2.1 rejects response type code if the authorization_code grant is disabled', async () => {
    await using strict = await startServer({ allowedGrantTypes: ['client_credentials'] })
    const client = await TestClient.register(strict, new UserAgent())
    expect(responseTo(client, await client.ask()).error).toBe('unsupported_response_type')
  })
})

describe('RFC 6749 §4.1.2 the opaque state parameter', () => {
  const percentHeavy = '%25'.repeat(2048)
  const states: [string, string, string | undefined][] = [
    ['an injected header', 'a%0d%0aSet-Cookie:x=1', 'a\r\nSet-Cookie:x=1'],
    ['a bidirectional control character and an emoji', '%E2%80%AE%F0%9F%98%80', '\u202E\u{1F600}'],
    ['invalid UTF-8', '%ff', '\uFFFD'],
    ['a plus sign and percent signs', 'a+b%2Bc%26d%3De%23f', 'a b+c&d=e#f'],
    ['NUL', '%00', '\0'],
    ['an encoded percent sign', '%2525', '%25'],
    ['a raw backslash', 'a\\b', 'a\\b'],
    ['a raw quote', "a'b", "a'b"],
    ['an empty value, which is omitted', '', undefined],
    ['2 KiB of letters', 'x'.repeat(2048), 'x'.repeat(2048)],
    ['2 KiB of encoded bytes', percentHeavy, '%'.repeat(2048)],
  ]
  test.each(states)('returns the decoded state: %s [T052]', async (_what, sent, received) => {
    const url = `${conf.url({ state: undefined })}&state=${sent}`
    const known = await agent.authorize(app, url)
    expect(responseTo(conf, known).state).toBe(received)
    expect(known.href).toMatch(/^[\x21-\x7E]+$/)
  })

  test.each(states)(
    'returns the decoded state after a login: %s',
    async (_what, sent, received) => {
      const url = `${conf.url({ state: undefined })}&state=${sent}`
      const visitor = await new UserAgent().authorize(app, url)
      expect(responseTo(conf, visitor).state).toBe(received)
    },
  )

  test('returns the state of a POST with unusual encodings unchanged after a login', async () => {
    const visitor = new UserAgent()
    const { state: _, ...rest } = Object.fromEntries(new URL(conf.url()).searchParams)
    const posted = await visitor.fetch(`${app.issuer}/oauth/authorize`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams(rest)}&state=\u00e9#\u{1F600} x\\y"z`,
    })
    const login = new URL(posted.headers.get('location') ?? '', app.issuer)
    const answer = await visitor.authorize(app, login)
    expect(responseTo(conf, answer).state).toBe('\u00e9#\u{1F600} x\\y"z')
  })

  test('omits state from the response if the request has no state [T053]', async () => {
    expect(responseTo(conf, await conf.ask({ state: undefined }))).not.toHaveProperty('state')
  })

  test.each([5_000, 8_192])(
    'attacks AZ-15 returns invalid_request without the state for a state of %d characters',
    async (length) => {
      const answer = await conf.ask({ state: 'x'.repeat(length) })
      expect(responseTo(conf, answer)).toEqual({
        error: 'invalid_request',
        error_description: expect.any(String),
        iss: app.issuer,
      })
    },
  )

  test('returns a 4xx status for a URL of 20 kB', async () => {
    const { status } = await rawHttp(app, {
      target: `/oauth/authorize?state=${'x'.repeat(20_000)}`,
    })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  })
})

describe('decision §4.4 the parameter prompt', () => {
  const shows = async (url: string, who = agent): Promise<string> => {
    const page = await who.browse(url)
    const location = page.headers.get('location')
    await page.body?.cancel()
    if (location !== null) return new URL(location).searchParams.get('error') ?? 'code'
    return page.address.includes('/login') ? 'login' : 'consent'
  }

  test.each<[string | undefined, string]>([
    [undefined, 'code'],
    ['', 'code'],
    ['none', 'code'],
    ['consent', 'consent'],
    ['login', 'login'],
    ['consent login', 'login'],
    ['unknown', 'code'],
  ])('with a remembered consent and prompt=%s, continues with: %s', async (prompt, shown) => {
    await conf.code()
    expect(await shows(conf.url({ prompt }))).toBe(shown)
  })

  test('returns login_required to the client for prompt=none if nobody is logged in', async () => {
    const answer = await new UserAgent().authorize(app, conf.url({ prompt: 'none', state: 's' }))
    expect(responseTo(conf, answer)).toEqual({
      error: 'login_required',
      error_description: expect.any(String),
      state: 's',
      iss: app.issuer,
    })
  })

  test('returns consent_required for prompt=none if the user has not consented', async () => {
    const client = await register()
    expect(responseTo(client, await client.ask({ prompt: 'none' })).error).toBe('consent_required')
    await client.code()
    expect(await shows(client.url({ prompt: 'none' }))).toBe('code')
    expect(await shows(client.url({ prompt: 'none', scope: 'notes:read notes:write' }))).toBe(
      'consent_required',
    )
  })

  test('requires one new login for prompt=login, then continues', async () => {
    const client = await register()
    await client.code()
    const again = new UserAgent()
    await again.logIn(app)
    const url = client.url({ prompt: 'login', state: 's' })
    expect(await shows(url, again)).toBe('login')
    expect(responseTo(client, await again.authorize(app, url))).toMatchObject({
      code: expect.any(String),
      state: 's',
    })
  })

  test('requires only one login for prompt=login if the user is not logged in', async () => {
    for (const prompt of ['login', 'login consent']) {
      const client = await register()
      const visitor = new UserAgent()
      const login = await visitor.browse(client.url({ prompt }))
      expect(login.address).toContain('/login')
      const { email } = app.user
      const answer = await visitor.submit(login, { email, password: app.password })
      const page = await visitor.browse(new URL(answer.headers.get('location') ?? '', app.issuer))
      expect([page.status, new URL(page.address).pathname]).toEqual([200, '/oauth/authorize'])
    }
  })

  test('for "prompt=login consent", requires a new login and then shows the consent page again', async () => {
    const client = await register()
    await client.code()
    const again = new UserAgent()
    await again.logIn(app)
    const login = await again.browse(client.url({ prompt: 'login consent' }))
    expect(login.address).toContain('/login')
    const { email } = app.user
    const answer = await again.submit(login, { email, password: app.password })
    const page = await again.browse(new URL(answer.headers.get('location') ?? '', app.issuer))
    expect(page.status).toBe(200)
    expect(page.address).toContain('/oauth/authorize')
    expect(formIn(await page.text()).hidden).toHaveProperty('authorization_request')
  })
})

describe('decision §4.4 the consent form and the stored request', () => {
  const pages = async (client: TestClient, given = {}) => {
    const page = await agent.browse(client.url({ prompt: 'consent', ...given }))
    return formIn(await page.text())
  }
  const post = (
    fields: Record<string, string> | string,
    { who = agent, query = '', headers = {} as Record<string, string> } = {},
  ): Promise<Response> =>
    who.fetch(`${app.issuer}/oauth/authorize${query}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
    })
  const codeIn = (response: Response): string | null =>
    new URL(response.headers.get('location') ?? '', app.issuer).searchParams.get('code')

  test('puts only the one-time ID into the consent form', async () => {
    const { action, hidden } = await pages(conf)
    expect(action).toBe('/oauth/authorize')
    expect(Object.keys(hidden).sort()).toEqual(['authorization_request', 'csrf_token'])
    expect(hidden.authorization_request).toMatch(/^[A-Za-z0-9]{43}$/)
  })

  test('shows the client, its owner, the user, every scope and the redirect target on the consent page [T079]', async () => {
    const owner = await app.newUser({ email: 'owner-of-the-shown-client@example.org' })
    const client = await register({
      name: 'A <b>client</b>',
      website: 'https://client.example/',
      userId: owner.id,
    })
    const html = await (await agent.browse(client.url({ scope: 'notes:read user:email' }))).text()
    for (const text of [
      'A &lt;b&gt;client&lt;/b&gt;',
      'Read your notes',
      'notes:read',
      'user:email',
      'client.example',
      'owner-of-the-shown-client@example.org',
      app.user.email,
    ]) {
      expect(html).toContain(text)
    }
    expect(html).not.toContain('notes:write')
    expect(html).not.toContain('<b>client')
  })

  test('ignores form fields that contradict the stored request', async () => {
    const evil = await register({ redirectUris: ['https://evil.example/cb'] })
    const changes = {
      scope: 'notes:read notes:write',
      'scopes[]': 'notes:write',
      scopes: 'notes:write',
      response_type: 'token',
      client_id: evil.clientId,
      redirect_uri: evil.redirectUri,
      state: 'other',
      iss: 'https://evil.example',
      code_challenge: evil.pkce.challenge,
    }
    const { hidden } = await pages(conf)
    const answer = await post(
      { ...hidden, ...changes, confirm: 'yes' },
      { query: `?${new URLSearchParams(changes)}` },
    )
    const target = new URL(answer.headers.get('location') ?? '')
    expect(responseTo(conf, target)).toEqual({
      code: expect.any(String),
      state: 'xyz',
      iss: app.issuer,
    })
    expect(target.hash).toBe('')
    const { status, body } = await conf.redeem(target.searchParams.get('code') ?? '')
    expect([status, body.scope]).toEqual([200, 'notes:read'])
  })

  test('rejects a decision after ten minutes', async () => {
    const late = await pages(conf)
    app.advance(601)
    const answer = await post({ ...late.hidden, confirm: 'yes' })
    expect([answer.status, codeIn(answer)]).toEqual([400, null])
    const inTime = await pages(conf)
    app.advance(599)
    expect((await post({ ...inTime.hidden, confirm: 'yes' })).status).toBe(303)
  })

  test('rejects a second decision that differs from the first', async () => {
    for (const [first, second] of [
      ['yes', 'no'],
      ['no', 'yes'],
    ] as const) {
      const { hidden } = await pages(conf)
      expect((await post({ ...hidden, confirm: first })).status).toBe(303)
      const again = await post({ ...hidden, confirm: second })
      expect([again.status, again.headers.get('location')]).toEqual([400, null])
    }
  })

  test('accepts only one of 20 concurrent submissions, and returns its response to all of them', async () => {
    const { hidden } = await pages(conf)
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => post({ ...hidden, confirm: 'yes' })),
    )
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 303))
    expect(new Set(responses.map(({ headers }) => headers.get('location'))).size).toBe(1)
  })

  test('rejects a form that was shown to another user or in another session', async () => {
    await app.newUser({ email: 'user-m@example.org' })
    const other = new UserAgent()
    const twin = new UserAgent()
    await other.logIn({ ...app, user: { ...app.user, email: 'user-m@example.org' } })
    await twin.logIn(app)
    const theirs = formIn(await (await other.browse(conf.url())).text())
    const mine = await pages(conf)
    for (const [who, fields] of [
      // The first user submits the second user's form with each CSRF token. Then another session of the first user and
      // an anonymous browser submit the first user's form.
      [agent, { ...theirs.hidden, csrf_token: mine.hidden.csrf_token ?? '' }],
      [agent, theirs.hidden],
      [twin, { ...mine.hidden, csrf_token: (await twinToken(twin)) ?? '' }],
      [new UserAgent(), mine.hidden],
    ] as const) {
      const answer = await post({ ...fields, confirm: 'yes' }, { who })
      expect([answer.status, answer.headers.get('location')]).toEqual([403, null])
    }
    // The rejected forms did not consume the stored requests.
    expect((await post({ ...theirs.hidden, confirm: 'yes' }, { who: other })).status).toBe(303)
    expect((await post({ ...mine.hidden, confirm: 'yes' })).status).toBe(303)
  })
  const twinToken = async (twin: UserAgent) =>
    formIn(await (await twin.browse(conf.url({ prompt: 'consent' }))).text()).hidden.csrf_token

  test('RFC 6749 §10.12 returns 403 and the same form if the CSRF token is missing or wrong', async () => {
    const visitor = new UserAgent()
    const foreign = formIn(await (await visitor.browse(`${app.issuer}/login`)).text())
    const { hidden } = await pages(conf)
    const id = hidden.authorization_request ?? ''
    for (const token of [undefined, '', 'x', foreign.hidden.csrf_token]) {
      const fields = { authorization_request: id, confirm: 'yes' }
      const answer = await post(token === undefined ? fields : { ...fields, csrf_token: token })
      expect(answer.status).toBe(403)
      expect(formIn(await answer.text()).hidden).toEqual(hidden)
    }
    expect((await post({ ...hidden, confirm: 'yes' })).status).toBe(303)
  })

  test.each([
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site', origin: 'null' },
    { 'sec-fetch-site': 'same-site', origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ])('decision §6.3 rejects a form that another site sent: %j', async (headers) => {
    const { hidden } = await pages(conf)
    expect((await post({ ...hidden, confirm: 'yes' }, { headers })).status).toBe(403)
    expect((await post({ ...hidden, confirm: 'yes' })).status).toBe(303)
  })

  test.each([{}, { origin: 'null' }, { 'sec-fetch-site': 'same-origin', origin: 'null' }])(
    'decision §6.3 accepts a form that a page of this server sent: %j',
    async (headers) => {
      const { hidden } = await pages(conf)
      const own = { ...headers, ...('origin' in headers ? {} : { origin: app.issuer }) }
      expect((await post({ ...hidden, confirm: 'yes' }, { headers: own })).status).toBe(303)
    },
  )

  test.each([
    [{ confirm: '' }, 400],
    [{ confirm: 'maybe' }, 400],
    [{ confirm: 'YES' }, 400],
    [{ confirm: 'yes', authorization_request: '' }, 400],
    [{ confirm: 'yes', authorization_request: 'x'.repeat(43) }, 400],
    [{ confirm: 'yes', authorization_request: '\0' }, 400],
  ] as const)(
    'rejects an invalid decision without consuming the request: %j',
    async (fields, status) => {
      const { hidden } = await pages(conf)
      expect((await post({ ...hidden, ...fields })).status).toBe(status)
      expect((await post({ ...hidden, confirm: 'yes' })).status).toBe(303)
    },
  )

  test('rejects a form with two decisions', async () => {
    const { hidden } = await pages(conf)
    const both = `${new URLSearchParams(hidden)}&confirm=yes&confirm=no`
    expect((await post(both)).status).toBe(400)
    expect((await post({ ...hidden, confirm: 'no' })).status).toBe(303)
  })

  test('attacks SS-01 rejects an empty body and a body that contains only the decision', async () => {
    const bare = await post({ confirm: 'yes' }, { query: `?${conf.url().split('?')[1]}` })
    expect([bare.status, bare.headers.get('location')]).toEqual([403, null])
    const empty = await agent.fetch(conf.url(), { method: 'POST' })
    expect([empty.status, empty.headers.get('location')]).toEqual([400, null])
  })

  test('attacks AZ-02 rejects a decision if the redirect URI is no longer registered', async () => {
    const client = await register()
    const { hidden } = await pages(client)
    await app.server.clients.update(client.clientId, {
      redirectUris: ['https://client.example/new'],
    })
    const answer = await post({ ...hidden, confirm: 'yes' })
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })

  test('decision §4.5 returns invalid_scope for a scope that the client lost after the page was shown', async () => {
    const client = await register()
    const { hidden } = await pages(client, { scope: 'notes:read notes:write' })
    await app.server.clients.update(client.clientId, { allowedScopes: ['notes:read'] })
    const answer = await post({ ...hidden, confirm: 'yes' })
    expect(responseTo(client, new URL(answer.headers.get('location') ?? '')).error).toBe(
      'invalid_scope',
    )
  })

  test.each<[string, Partial<ClientInput>]>([
    ['became public', { isConfidential: false }],
    ['lost the grant type', { grantTypes: ['client_credentials'] }],
    ['lost the response type', { responseTypes: ['token'] }],
    ['changed its name', { name: 'Something else' }],
    ['changed its website', { website: 'https://elsewhere.example/' }],
  ])(
    'rejects a decision about a client that %s after the page was shown',
    async (_what, changes) => {
      const client = await register()
      const { hidden } = await pages(client)
      await app.server.clients.update(client.clientId, changes)
      const answer = await post({ ...hidden, confirm: 'yes' })
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    },
  )

  test('rejects a decision about a client that an administrator verified after the page was shown', async () => {
    const client = await register()
    const { hidden } = await pages(client)
    await app.server.clients.mark(client.clientId, { isVerified: true })
    const answer = await post({ ...hidden, confirm: 'yes' })
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })

  test.each(['consents.insert', 'transients.put'])(
    'returns temporarily_unavailable to the client if the store operation %s fails after the decision was consumed',
    async (operationName) => {
      let fails = false
      await using failing = await startServer({
        aroundStore: async (operation, run) => {
          if (fails && operation.name === operationName) throw new StoreUnavailable('down')
          return run()
        },
      })
      const client = await TestClient.register(failing, new UserAgent())
      await client.agent.logIn(failing)
      const page = await client.agent.browse(client.url())
      fails = true
      const answer = await client.agent.submit(page, { confirm: 'yes' })
      expect(responseTo(client, new URL(answer.headers.get('location') ?? ''))).toMatchObject({
        error: 'temporarily_unavailable',
        state: 'xyz',
      })
      fails = false
      expect(await client.code()).toMatch(/^[A-Za-z0-9]{43}$/)
    },
  )

  test('issues no code to a client that was deleted after the page was shown', async () => {
    const client = await register()
    const { hidden } = await pages(client)
    await app.server.clients.delete(client.clientId)
    const answer = await post({ ...hidden, confirm: 'yes' })
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })
})

describe('decision §4.5 requested and granted scopes', () => {
  const granted = async (client: TestClient, scope: string | undefined) =>
    (await client.tokens({ scope })).scope

  test.each([undefined, ''])(
    'shows and grants the default_scopes of the client if scope is %j [T044]',
    async (scope) => {
      const client = await register({ defaultScopes: ['notes:write', 'user:email'] })
      const page = await (await agent.browse(client.url({ scope }))).text()
      for (const shown of ['notes:write', 'user:email']) expect(page).toContain(shown)
      expect(page).not.toContain('notes:read')
      expect((await granted(client, scope)).split(' ').sort()).toEqual([
        'notes:write',
        'user:email',
      ])
    },
  )

  test('grants OAUTH2SERVER_DEFAULT_SCOPES (default: none) if scope and default_scopes are missing [T045]', async () => {
    const client = await register()
    const tokens = await client.tokens({ scope: undefined })
    expect(tokens.scope).toBe('')
    expect(await ping(app, tokens.access_token)).toBe(200)
    await using other = await startServer({ defaultScopes: ['notes:read'] })
    const theirs = await TestClient.register(other, new UserAgent())
    expect((await theirs.tokens({ scope: undefined })).scope).toBe('notes:read')
    const own = await TestClient.register(other, theirs.agent, { defaultScopes: ['notes:write'] })
    expect((await own.tokens({ scope: undefined })).scope).toBe('notes:write')
  })

  test('accepts a scope outside default_scopes', async () => {
    const client = await register({ defaultScopes: ['notes:read'] })
    expect(await granted(client, 'notes:write')).toBe('notes:write')
  })

  test('limits requests to allowed_scopes, or to all public scopes if allowed_scopes is null [T085]', async () => {
    const limited = await register({ allowedScopes: ['notes:read', 'user:email'] })
    expect(await granted(limited, 'user:email notes:read')).toBe('user:email notes:read')
    expect((await errorAt(limited, { scope: 'notes:read notes:write' })).error).toBe(
      'invalid_scope',
    )
    const open = await register()
    const all = 'user:email notes:read notes:write'
    expect(await granted(open, all)).toBe(all)
  })

  test('limits default_scopes to allowed_scopes [T086]', async () => {
    const client = await register({
      allowedScopes: ['notes:read'],
      defaultScopes: ['notes:read', 'notes:write'],
    })
    expect(await granted(client, undefined)).toBe('notes:read')
  })

  test('rejects an internal scope even if the client lists it [T720]', async () => {
    const client = await register({
      allowedScopes: ['test:scope', 'notes:read'],
      defaultScopes: ['test:scope', 'notes:read'],
    })
    expect((await errorAt(client, { scope: 'test:scope' })).error).toBe('invalid_scope')
    expect(await granted(client, undefined)).toBe('notes:read')
    const token = await app.server.tokens.createPersonal('internal', app.user.id, {
      scopes: ['test:scope'],
    })
    expect(token.scopes).toEqual(['test:scope'])
  })

  test('RFC 6749 §3.3 removes duplicate scopes and spaces [T046]', async () => {
    const client = await register()
    expect(await granted(client, ' notes:read  notes:read   notes:write notes:read ')).toBe(
      'notes:read notes:write',
    )
  })

  test('supports a scope named like a member of Object.prototype', async () => {
    await using odd = await startServer({
      scopes: [...testScopes.slice(1), new Scope('constructor')],
    })
    const client = await TestClient.register(odd, new UserAgent())
    expect((await client.tokens({ scope: 'constructor' })).scope).toBe('constructor')
    expect(responseTo(client, await client.ask({ scope: 'toString' })).error).toBe('invalid_scope')
  })
})

describe('decision §4.7 remembered consent', () => {
  const asks = async (client: TestClient, given: Record<string, string> = {}): Promise<boolean> => {
    const page = await client.agent.browse(client.url(given))
    const isPage = page.headers.get('location') === null
    const html = await page.text()
    if (isPage) expect(formIn(html).hidden).toHaveProperty('authorization_request')
    return isPage
  }

  test('remembers consent per user and confidential client, for the same or fewer scopes [T655]', async () => {
    const client = await register()
    expect(await asks(client, { scope: 'notes:read user:email' })).toBe(true)
    await client.code({ scope: 'notes:read user:email' })
    expect(await asks(client, { scope: 'user:email notes:read' })).toBe(false)
    expect(await asks(client, { scope: 'notes:read' })).toBe(false)
    expect(await asks(client, { scope: '' })).toBe(false)
    expect(await asks(client, { scope: 'notes:read notes:write' })).toBe(true)
    expect(await asks(client, { scope: 'notes:write' })).toBe(true)
    expect(await asks(client, { scope: 'notes:read', response_type: 'token' })).toBe(false)
    // The parameter approval_prompt of other servers must not skip the page.
    expect(await asks(client, { scope: 'notes:write', approval_prompt: 'auto' })).toBe(true)

    expect(await asks(await register())).toBe(true)
    const email = 'user-c@example.org'
    await app.newUser({ email })
    const other = new UserAgent()
    await other.logIn({ ...app, user: { ...app.user, email } })
    expect((await other.browse(client.url())).status).toBe(200)
  })

  test('still remembers a consent after the user consents to fewer scopes', async () => {
    const client = await register()
    await client.code({ scope: 'notes:read notes:write' })
    await client.code({ scope: 'notes:read', prompt: 'consent' })
    expect(await asks(client, { scope: 'notes:read notes:write' })).toBe(false)
  })

  test('after a consent is withdrawn, asks again and rejects the code that was issued before', async () => {
    const client = await register()
    const code = await client.code()
    await storeOf(app.server).consents.delete(app.user.id, client.clientId)
    expect(await asks(client)).toBe(true)
    expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
  })

  test.each([redirectUri, 'http://127.0.0.1/cb'])(
    'always asks for consent for a public client with redirect URI %s [T077]',
    async (uri) => {
      const client = await register({ isConfidential: false, redirectUris: [uri] })
      for (let round = 0; round < 2; round += 1) {
        expect(await asks(client)).toBe(true)
        await client.code()
      }
      expect(responseTo(client, await client.ask({ prompt: 'none' })).error).toBe(
        'consent_required',
      )
    },
  )
})

describe('decision §4.3 client_secret in an authorization request', () => {
  test('ignores the secret, and never logs, stores or returns it [T652]', async () => {
    for (const secret of [conf.clientSecret, 'sure-not-the-right-one']) {
      const url = conf.url({ client_secret: secret, prompt: 'consent' })
      const visitor = new UserAgent()
      const first = await visitor.fetch(url)
      expect(first.headers.get('location')).toMatch(/^\/login\?next=/)
      expect(first.headers.get('location')).not.toContain(secret)
      const login = await visitor.browse(url)
      const html = await login.clone().text()
      expect(html).not.toContain(secret)
      // The login page retains all other parameters.
      expect(formIn(html).hidden.next).toContain('state=xyz')

      const page = await agent.browse(url)
      expect(await page.clone().text()).not.toContain(secret)
      const answer = await agent.submit(page, { confirm: 'yes' })
      expect(responseTo(conf, new URL(answer.headers.get('location') ?? ''))).toHaveProperty('code')
      expect(answer.headers.get('location')).not.toContain(secret)
      expect((await conf.ask({ client_secret: secret, scope: 'bogus' })).href).not.toContain(secret)
      expect(JSON.stringify(app.log)).not.toContain(secret)
      for (const file of await readdir(app.folder))
        expect((await readFile(join(app.folder, file))).includes(secret), file).toBe(false)
    }
  })

  test.each(['client%5Fsecret', 'client_secre%74', '%63lient_secret'])(
    'removes a secret in the query or body whose name is encoded as %s [T733]',
    async (name) => {
      const secret = 'sure-not-the-right-one'
      const hidden = await new UserAgent().fetch(`${conf.url()}&${name}=${secret}`)
      expect(hidden.headers.get('location')).toMatch(/^\/login\?next=/)
      expect(hidden.headers.get('location')).not.toContain(secret)
      const posted = await new UserAgent().fetch(`${app.issuer}/oauth/authorize`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `${conf.url().split('?')[1]}&${name}=${secret}`,
      })
      expect(posted.headers.get('location')).toMatch(/^\/login\?next=/)
      expect(posted.headers.get('location')).not.toContain(secret)
    },
  )
})

describe('RFC 6749 §4.2 the implicit grant', () => {
  test.each([true, false])(
    'returns the access token only in the fragment (the client is confidential: %s) [T061]',
    async (isConfidential) => {
      const client = await register({ isConfidential })
      const page = await agent.browse(client.url({ response_type: 'token', state: 'a b' }))
      const response = await agent.submit(page, { confirm: 'yes' })
      expect(response.headers.get('cache-control')).toBe('no-store')
      const answer = new URL(response.headers.get('location') ?? '')
      expect(answer.search).toBe('')
      expect(responseTo(client, answer, 'fragment')).toEqual({
        access_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
        token_type: 'Bearer',
        expires_in: '3600',
        scope: 'notes:read',
        state: 'a b',
        iss: app.issuer,
      })
    },
  )

  test('decision §5.6 applies OAUTH2_PROVIDER_TOKEN_EXPIRES_IN to implicit tokens', async () => {
    await using short = await startServer({ tokenExpiresIn: 100 })
    const client = await TestClient.register(short, new UserAgent())
    const answer = await client.ask({ response_type: 'token' })
    const { access_token = '', expires_in } = responseTo(client, answer, 'fragment')
    expect(expires_in).toBe('100')
    short.advance(99)
    expect(await ping(short, access_token)).toBe(200)
    short.advance(1)
    expect(await ping(short, access_token)).toBe(401)
  })

  test('§4.2.2 ignores PKCE parameters and accepts response_mode=fragment', async () => {
    const answer = await conf.ask({
      response_type: 'token',
      response_mode: 'fragment',
      code_challenge: conf.pkce.challenge,
      code_challenge_method: 'S256',
    })
    expect(responseTo(conf, answer, 'fragment')).toHaveProperty('access_token')
    expect(responseTo(conf, answer, 'fragment')).not.toHaveProperty('refresh_token')
    expect(responseTo(conf, await conf.ask({ response_mode: 'query' }))).toHaveProperty('code')
  })

  test('rejects a response type that was changed during the login (attacks AZ-14)', async () => {
    const client = await register({ responseTypes: ['code'] })
    const visitor = new UserAgent()
    const login = await visitor.browse(client.url())
    const { next = '' } = formIn(await login.clone().text()).hidden
    const answer = await visitor.submit(login, {
      email: app.user.email,
      password: app.password,
      next: next.replace('response_type=code', 'response_type=token'),
    })
    const page = await visitor.browse(new URL(answer.headers.get('location') ?? '', app.issuer))
    const target = new URL(page.headers.get('location') ?? '')
    expect(target.searchParams.get('error')).toBe('unauthorized_client')
    expect(target.href).not.toContain('access_token')
  })
})

describe('decision §4.6 grant types and response types of a client', () => {
  test('allows a client all configured types by default, or only the types that it registered', async () => {
    const open = await app.server.clients.find(conf.clientId)
    expect(open?.allowedGrantTypes).toEqual(app.server.settings.allowedGrantTypes)
    expect(open?.allowedResponseTypes).toEqual(app.server.settings.allowedResponseTypes)
    const limited = await register({ grantTypes: ['authorization_code'], responseTypes: ['code'] })
    const found = await app.server.clients.find(limited.clientId)
    expect(found?.allowedGrantTypes).toEqual(['authorization_code'])
    expect(found?.allowedResponseTypes).toEqual(['code'])
    await limited.code()
  })

  test('does not allow a client a registered type that the settings disable', async () => {
    const client = await register({ grantTypes: ['password', 'authorization_code'] })
    const found = await app.server.clients.find(client.clientId)
    expect(found?.allowedGrantTypes).toEqual(['authorization_code'])
  })
})

describe('methods, headers and limits of the authorization endpoint', () => {
  const headersOfRedirect = (response: Response) =>
    ['cache-control', 'pragma', 'referrer-policy', 'access-control-allow-origin'].map((name) =>
      response.headers.get(name),
    )

  test('RFC 9700 §4.12 redirects with 303, no-store and no-referrer [T522]', async () => {
    const client = await register()
    const page = await agent.browse(client.url())
    const granted = await agent.submit(page, { confirm: 'yes' })
    const denied = await agent.submit(await agent.browse(client.url({ prompt: 'consent' })), {
      confirm: 'no',
    })
    const remembered = await agent.fetch(client.url())
    const erroneous = await agent.fetch(client.url({ scope: 'bogus' }))
    const local = await agent.fetch(client.url({ redirect_uri: 'x' }))
    const login = await new UserAgent().fetch(client.url())
    for (const response of [granted, denied, remembered, erroneous, local, login]) {
      expect(response.status).toBe(303)
      expect(headersOfRedirect(response)).toEqual(['no-store', 'no-cache', 'no-referrer', null])
      expect(await response.text()).toBe('')
    }
  })

  test('decision §6.3 sends pages with a strict CSP that does not limit the redirects after a form [T094]', async () => {
    const page = await agent.browse(conf.url({ prompt: 'consent' }))
    const csp = page.headers.get('content-security-policy') ?? ''
    expect(csp).toContain("default-src 'none'")
    expect(csp).toContain("frame-ancestors 'none'")
    expect(csp).not.toContain('form-action')
    expect(csp).not.toContain('unsafe-inline')
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    const login = await new UserAgent().browse(conf.url())
    expect(login.headers.get('content-security-policy')).toBe(csp)
  })

  test('attacks SS-02 issues no code for a HEAD request', async () => {
    const put: string[] = []
    await using own = await startServer({
      aroundStore: ({ name }, run) => {
        if (name === 'transients.put') put.push(name)
        return run()
      },
    })
    const browser = new UserAgent()
    await browser.logIn(own)
    const client = await TestClient.register(own, browser)
    await client.code()
    put.length = 0
    const head = await browser.fetch(client.url(), { method: 'HEAD' })
    expect([head.status, head.headers.get('location'), put.length]).toEqual([200, null, 0])
    // Control: the same request with GET issues a code.
    await browser.fetch(client.url())
    expect(put).toHaveLength(1)
  })

  test('attacks SS-02 ignores method overrides and does not accept a decision by GET', async () => {
    const { hidden } = formIn(await (await agent.browse(conf.url({ prompt: 'consent' }))).text())
    const inQuery = new URLSearchParams({ ...hidden, confirm: 'yes', _method: 'POST' })
    const got = await agent.fetch(`${conf.url({ prompt: 'consent' })}&${inQuery}`, {
      headers: { 'x-http-method-override': 'POST' },
    })
    expect([got.status, got.headers.get('location')]).toEqual([200, null])
    const post = await agent.fetch(`${app.issuer}/oauth/authorize`, {
      method: 'POST',
      body: new URLSearchParams({ ...hidden, confirm: 'yes' }),
    })
    expect(post.status).toBe(303)
  })

  test.each([
    ['application/json', 400],
    ['multipart/form-data; boundary=x', 400],
    ['text/plain', 400],
    ['application/x-www-form-urlencodedX', 400],
  ])('decision §6.4 for a body of type %s, returns %d', async (type, status) => {
    const response = await agent.fetch(`${app.issuer}/oauth/authorize`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: conf.url().split('?')[1] ?? '',
    })
    expect([response.status, response.headers.get('location')]).toEqual([status, null])
  })

  test('decision §6.4 accepts 100 parameters, and returns 400 without a redirect for 101', async () => {
    const many = (count: number) =>
      `${conf.url({ prompt: 'consent' })}${Array.from({ length: count }, (_, n) => `&p${n}=1`).join('')}`
    const own = [...new URL(conf.url({ prompt: 'consent' })).searchParams].length
    expect((await agent.fetch(many(100 - own))).status).toBe(200)
    const response = await agent.fetch(many(101 - own))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  test.each(['%', '%zz', '%ff%fe', '%00', '&&&=&=', '%u0041', '\u0085', ';'.repeat(50)])(
    'decision §6.4 never returns 5xx for %j in any parameter',
    async (value) => {
      for (const name of [
        'client_id',
        'redirect_uri',
        'response_type',
        'scope',
        'state',
        'prompt',
        'response_mode',
        'code_challenge',
        'code_challenge_method',
      ]) {
        const url = `${conf.url({ [name]: undefined, prompt: name === 'prompt' ? undefined : 'consent' })}&${name}=${value}`
        expect((await agent.fetch(url)).status).toBeLessThan(500)
        const posted = await agent.fetch(`${app.issuer}/oauth/authorize`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: url.split('?')[1] ?? '',
        })
        expect(posted.status).toBeLessThan(500)
      }
    },
  )

  test('treats a request with two session cookies as anonymous', async () => {
    const cookie = await agent.jar.getCookieString(app.issuer)
    const answer = await rawHttp(app, {
      target: conf.url({ prompt: 'none' }).slice(app.issuer.length),
      headers: [`Cookie: ${cookie}; ${cookie}`, 'User-Agent: node'],
    })
    expect(answer.headers.get('location')).toContain('error=login_required')
    const one = await rawHttp(app, {
      target: conf.url({ prompt: 'none' }).slice(app.issuer.length),
      headers: [`Cookie: ${cookie}`, 'User-Agent: node'],
    })
    expect(one.headers.get('location')).toContain('code=')
  })

  test('does not accept an access token instead of the session cookie', async () => {
    const token = await app.personalToken(['notes:read'])
    const { headers } = await rawHttp(app, {
      target: `${conf.url({ prompt: 'none' }).slice(app.issuer.length)}&access_token=${token}`,
      headers: [`Authorization: Bearer ${token}`],
    })
    expect(headers.get('location')).toContain('error=login_required')
  })

  test('decision §5.3 rejects the sessions of an inactive user until reactivation', async () => {
    const client = await register()
    await client.code()
    await app.server.users.setActive(app.user.id, false)
    // The inactive user owns the client, so the client is inactive too.
    expect(await localError(await agent.fetch(client.url({ prompt: 'none' })))).toBe(
      'invalid_request',
    )
    const owner = await app.server.users.create({ email: 'owner@example.org', password: null })
    const theirs = await register({ userId: owner.id })
    expect(responseTo(theirs, await theirs.ask({ prompt: 'none' })).error).toBe('login_required')
    await app.server.users.setActive(app.user.id, true)
    expect(await client.code()).toMatch(/^[A-Za-z0-9]{43}$/)
  })

  test('decision §2 accepts the name of a view or a path as OAUTH2_PROVIDER_ERROR_ENDPOINT', async () => {
    for (const [options, path] of [
      [
        { errorEndpoint: 'my.errors', views: { 'my.errors': '/oops?from=oauth' } },
        '/oops?from=oauth&',
      ],
      [{ errorEndpoint: '/failed' }, '/failed?'],
      [{ errorEndpoint: 'svc_oauth2server.errors' }, '/oauth/errors?'],
    ] as const) {
      await using other = await startServer(options)
      const url = authorizeUrl(other.issuer, { client_id: 'nope' })
      const { headers } = await fetch(url, { redirect: 'manual' })
      expect(headers.get('location')).toMatch(
        new RegExp(`^${path.replace(/[?.]/g, '\\$&')}error=invalid_request&`),
      )
    }
  })
})
