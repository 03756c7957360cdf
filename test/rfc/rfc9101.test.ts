import { createHash, randomUUID } from 'node:crypto'
import type { ClientInput } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf, postForm } from '../support/form.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { referenceUrl } from '../support/pushed-request.ts'
import { manage, register, registered } from '../support/registration.ts'
import { requestObject } from '../support/relying-party.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { objectUrl, requestClaims, requestObjectOf } from '../support/request-object.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { assertionOf, type ClientKey, jwksOf, newClientKey } from '../support/signing-client.ts'
import { responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

// RFC 9101, and request objects as in OpenID Connect Core §6 ("Core"). Titles begin with the section.

const withoutPostgres = await lacks('postgres')
const other = 'https://client.example/other'

let site: RemoteSite
let app: TestServer
/** A browser whose user is logged in, for all tests of this file. */
let agent: UserAgent
let key: ClientKey
let client: TestClient

beforeAll(async () => {
  site = await remoteSite()
  key = await newClientKey()
  app = await startServer({
    requestObjects: true,
    dynamicRegistration: 'open',
    outbound: site.outbound,
    dangerouslyAllowPrivateAddresses: true,
    dangerouslyIgnoreLimits: true,
  })
  agent = new UserAgent()
  await agent.logIn(app)
  client = await clientWith()
})
afterAll(async () => {
  await app.close()
  await site.close()
})

type Given = Readonly<Record<string, string>>
type Claims = Readonly<Record<string, unknown>>

/** Registers a client with the key. */
const clientWith = (
  input: Partial<ClientInput> = {},
  at = app,
  browser = agent,
): Promise<TestClient> =>
  TestClient.register(at, browser, {
    redirectUris: [redirectUri, other],
    jwks: jwksOf(key),
    ...input,
  })

const inSeconds = (ahead: number): number => Math.floor(app.now() / 1000) + ahead

/** Completes a request in the browser. Returns the parameters that the client receives. */
const answerTo = async (
  given: Given,
  to = client,
  confirm: 'yes' | 'no' = 'yes',
): Promise<Record<string, string>> =>
  responseTo(to, await to.agent.authorize(to.app, objectUrl(to, given), confirm))

/** Sends a request object of the client by value. */
const answerToObject = async (claims: Claims = {}, header: Claims = {}, to = client) =>
  answerTo(
    { request: await requestObjectOf(to, key, claims, header), redirect_uri: redirectUri },
    to,
  )

const refused = { error: 'invalid_request_object', iss: expect.any(String) }

/** Expects that an object is refused. Returns the description of the error. */
const reason = async (claims: Claims, header: Claims = {}, to = client): Promise<string> => {
  const { error, error_description = '' } = await answerToObject(claims, header, to)
  expect(error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  expect(error, error_description).toBe('invalid_request_object')
  return error_description
}

/** Serves a request object, and returns a client that registered its address. */
const clientAt = async (
  path: string,
  body: (client: TestClient) => Promise<string> | string,
  input: Partial<ClientInput> = {},
  headers: Given = { 'content-type': 'application/oauth-authz-req+jwt' },
): Promise<TestClient> => {
  const one = await clientWith({ ...input, openid: { request_uris: [site.url(path)] } })
  site.serve(path, await body(one), headers)
  return one
}

const byReference = (one: TestClient, request_uri: string, given: Given = {}) =>
  answerTo({ request_uri, redirect_uri: redirectUri, ...given }, one)

const requestsFor = (path: string) => site.requests.filter(({ url }) => url === path)

describe('RFC 9101 §5.1 a request object by value', () => {
  test('§5.1 uses the parameters of a signed request object [T3060]', async () => {
    const answer = await answerTo({ request: await requestObjectOf(client, key) })
    expect(answer).toEqual({ code: expect.any(String), state: 'xyz', iss: app.issuer })
    const { status, body } = await client.redeem(answer.code ?? '')
    expect([status, body.scope]).toEqual([200, 'notes:read'])
    expect((await client.redeem(answer.code ?? '')).body.error).toBe('invalid_grant')
  })

  test('§5.1 accepts a request object in a POST request', async () => {
    const request = await requestObjectOf(client, key, { prompt: 'consent' })
    const body = new URLSearchParams({ client_id: client.clientId, request })
    const page = await agent.browse(`${app.issuer}/oauth/authorize`, { method: 'POST', body })
    const answer = await agent.submit(page, { confirm: 'yes' })
    expect(responseTo(client, new URL(answer.headers.get('location') ?? '')).state).toBe('xyz')
  })

  test('§5, §6.3, §10.7 ignores every parameter outside the request object [T3061]', async () => {
    const request = await requestObjectOf(client, key, { state: undefined, prompt: 'consent' })
    const answer = await answerTo({
      request,
      redirect_uri: other,
      scope: 'notes:write',
      state: 'outside',
      prompt: 'none',
      response_mode: 'form_post',
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
    })
    expect(answer).toEqual({ code: expect.any(String), iss: app.issuer })
    const { status, body } = await client.redeem(answer.code ?? '')
    expect([status, body.scope]).toEqual([200, 'notes:read'])
  })

  test('§6.3 the client_id in the request object must be present and equal [T3062]', async () => {
    const second = await clientWith()
    expect(await reason({ client_id: undefined })).toContain('client_id')
    expect(await reason({ client_id: second.clientId })).toContain('client_id')
    expect(await reason({ client_id: [client.clientId] })).toContain('client_id')
    const request = await requestObjectOf(second, key)
    expect(await answerTo({ request, redirect_uri: redirectUri })).toMatchObject(refused)
  })

  test('Core §6.1 a response_type outside the request object must equal the response_type in the object [T3063]', async () => {
    const request = await requestObjectOf(client, key)
    const given = { request, redirect_uri: redirectUri, state: 'outside' }
    expect(await answerTo({ ...given, response_type: 'token' })).toMatchObject({
      error: 'invalid_request',
      state: 'outside',
    })
    expect(await answerTo({ ...given, response_type: 'code' })).toHaveProperty('code')
  })

  test('§4 encodes values that are not strings as JSON, and treats lists as repeated parameters [T3064]', async () => {
    const answer = await answerToObject({
      max_age: 86_400,
      claims: { userinfo: {} },
      nothing: null,
    })
    expect(answer).toHaveProperty('code')
    expect(await answerToObject({ state: null })).toEqual({
      code: expect.any(String),
      iss: app.issuer,
    })
    const request = await requestObjectOf(client, key, { scope: ['notes:read', 'notes:write'] })
    const repeated = await agent.authorize(app, objectUrl(client, { request }))
    expect(repeated.pathname).toBe('/oauth/errors')
    const resource = [app.issuer, 'https://unknown.example/']
    expect(await answerToObject({ resource })).toMatchObject({ error: 'invalid_target' })
    expect(await answerToObject({ resource: [app.issuer] })).toHaveProperty('code')
  })

  test('§4 a request object with more than 100 parameters is refused', async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x${index}`, 'y']))
    expect(await answerToObject(many)).toMatchObject({ error: 'invalid_request' })
  })

  test('§5 rejects a request with both request and request_uri [T3065]', async () => {
    const one = await clientAt('/both', (to) => requestObjectOf(to, key))
    const request = await requestObjectOf(one, key)
    const answer = await byReference(one, site.url('/both'), { request })
    expect(answer.error).toBe('invalid_request')
    expect(requestsFor('/both')).toEqual([])
  })

  test.each(['request', 'request_uri'])(
    '§4 a request object that contains %s is refused [T3066]',
    async (name) => {
      expect(await reason({ [name]: 'https://client.example/x' })).toContain(name)
      expect(await reason({ [name]: '' })).toContain(name)
    },
  )
})

describe('RFC 9101 §6.2 signatures', () => {
  test('§6.2 accepts the keys at jwks_uri, and fetches them again for a new key [T3067]', async () => {
    site.serve('/keys', jwksOf(key))
    const one = await clientWith({ jwks: null, jwksUri: site.url('/keys') })
    expect(await answerToObject({}, {}, one)).toHaveProperty('code')
    const next = await newClientKey()
    site.serve('/keys', jwksOf(next))
    app.advance(61)
    const request = await requestObjectOf(one, next)
    expect(await answerTo({ request }, one)).toHaveProperty('code')
  })

  test('§6.2 returns temporarily_unavailable if the request for the keys returns 503', async () => {
    const one = await clientWith({ jwks: null, jwksUri: site.url('/missing-keys') })
    expect((await reason({}, {}, one)).length).toBeGreaterThan(0)
    site.respond('/broken-keys', (_request, response) => {
      response.writeHead(503).end()
    })
    const two = await clientWith({ jwks: null, jwksUri: site.url('/broken-keys') })
    expect((await answerToObject({}, {}, two)).error).toBe('temporarily_unavailable')
  })

  test('§6.2 refuses an object that another key signed, and every object without registered keys', async () => {
    const stranger = await newClientKey('ES256', { kid: key.jwk.kid ?? '' })
    const request = await requestObjectOf(client, stranger)
    const given = { request, redirect_uri: redirectUri, state: 'outside' }
    expect(await answerTo(given)).toMatchObject({ ...refused, state: 'outside' })
    const keyless = await clientWith({ jwks: null })
    await reason({}, {}, keyless)
  })

  test('Core §6.1, Registration §2 the registered algorithm must be used [T3068]', async () => {
    const rsa = await newClientKey('RS256')
    const openid = { request_object_signing_alg: 'RS256' }
    const one = await clientWith({ jwks: jwksOf(key, rsa), openid })
    expect(await reason({}, {}, one)).toContain('RS256')
    const signed = await requestObjectOf(one, rsa)
    expect(await answerTo({ request: signed }, one)).toHaveProperty('code')
    const unsigned = requestObject(requestClaims(one))
    const given = { request: unsigned, redirect_uri: redirectUri }
    expect(await answerTo(given, one)).toMatchObject(refused)
  })

  test('§6.1 rejects an encrypted request object, and texts that are not JWTs [T3069]', async () => {
    const jwt = await requestObjectOf(client, key)
    const [header, payload] = jwt.split('.')
    for (const request of [
      `${jwt}.a.b`,
      'x',
      `${header}.${payload}`,
      `${header}.${payload}.`,
      '..',
    ]) {
      const given = { request, redirect_uri: redirectUri }
      expect(await answerTo(given), request).toMatchObject(refused)
    }
  })
})

describe('RFC 9101 §4 the claims of the JWT', () => {
  test('§4 exp and nbf limit the validity, with a minute of tolerance for clock differences [T3070]', async () => {
    expect(await answerToObject({ exp: inSeconds(-50), nbf: inSeconds(50) })).toHaveProperty('code')
    expect(await reason({ exp: inSeconds(-70) })).toContain('expired')
    expect(await reason({ nbf: inSeconds(70) })).toContain('nbf')
    expect(await reason({ exp: 'tomorrow' })).toContain('exp')
    expect(await reason({ iat: 'today' })).toContain('iat')
  })

  test('§4 iss must be the client, and aud must contain the issuer, if they are present [T3071]', async () => {
    expect(await answerToObject({ iss: undefined, aud: undefined })).toHaveProperty('code')
    expect(await answerToObject({ aud: ['https://x.example', app.issuer] })).toHaveProperty('code')
    expect(await reason({ iss: 'https://x.example' })).toContain('iss')
    for (const aud of ['https://x.example', `${app.issuer}/`, [], [[app.issuer]], '', 1, {}])
      expect(await reason({ aud }), JSON.stringify(aud)).toContain('aud')
  })

  test.each([
    'oauth-authz-req+jwt',
    'JWT',
    'application/oauth-authz-req+jwt',
    'OAuth-AuthZ-Req+JWT',
  ])('§10.8 accepts the type %s [T3072]', async (typ) => {
    expect(await answerToObject({}, { typ })).toHaveProperty('code')
  })

  test.each(['client-authentication+jwt', 'at+jwt', 'dpop+jwt', 'logout+jwt', '', 'x'])(
    '§10.8 refuses the type "%s"',
    async (typ) => {
      expect(await reason({}, { typ })).toContain('typ')
    },
  )

  test('§10.8 rejects a client assertion, and every object whose sub is the client [T3073]', async () => {
    const assertion = await assertionOf(app, client.clientId, key)
    expect(await answerTo({ request: assertion, redirect_uri: redirectUri })).toMatchObject(refused)
    expect(await reason({ sub: client.clientId })).toContain('sub')
    expect(await answerToObject({ sub: 'a user' })).toHaveProperty('code')
  })

  test('RFC 7519 §4.1.7 an object with jti is accepted until the user has decided [T3074]', async () => {
    const claims = { jti: randomUUID(), exp: inSeconds(300), prompt: 'consent' }
    const request = await requestObjectOf(client, key, claims)
    const given = { request, redirect_uri: redirectUri }
    const page = () => agent.browse(objectUrl(client, given))
    expect([(await page()).status, (await page()).status]).toEqual([200, 200])
    expect(await answerTo(given, client, 'no')).toMatchObject({ error: 'access_denied' })
    const again = await answerTo(given)
    expect(again).toMatchObject(refused)
    expect(again.error_description).toContain('already used')
  })

  test('RFC 7519 §4.1.7 only one of several decisions on an object with jti is accepted', async () => {
    const jti = randomUUID()
    const claims = { jti, exp: inSeconds(300), prompt: 'consent' }
    const request = await requestObjectOf(client, key, claims)
    const pages = await Promise.all(
      Array.from({ length: 5 }, () => agent.browse(objectUrl(client, { request }))),
    )
    const answers = await Promise.all(pages.map((page) => agent.submit(page, { confirm: 'yes' })))
    const errors = answers.map(
      (answer) => new URL(answer.headers.get('location') ?? '').searchParams.get('error') ?? 'code',
    )
    expect(errors.toSorted()).toEqual(['code', ...Array(4).fill('invalid_request_object')])
    const second = await clientWith()
    expect(await answerToObject({ jti, exp: inSeconds(300) }, {}, second)).toHaveProperty('code')
  })

  test.each(withoutPostgres ? ['SQLite'] : ['SQLite', 'PostgreSQL'])(
    'RFC 7519 §4.1.7 an object with jti is accepted once, also on another node, on %s',
    async (name) => {
      await using all = new AsyncDisposableStack()
      const database = name === 'PostgreSQL' ? await makeDatabase() : undefined
      if (database) all.defer(database.drop)
      const options = { requestObjects: true, ...(database && { store: postgres(database.url) }) }
      const server = all.use(await startServer(options))
      const one = await clientWith({}, server, new UserAgent())
      const exp = Math.floor(server.now() / 1000) + 60.5
      const request = await requestObjectOf(one, key, { jti: randomUUID(), exp })
      const given = { request, redirect_uri: redirectUri }
      expect(await answerTo(given, one)).toHaveProperty('code')
      expect(await answerTo(given, one)).toMatchObject(refused)
      const node = { ...options, beside: server, issuer: server.issuer }
      const second = all.use(await startServer(node))
      const url = objectUrl(one, given).replace(server.issuer, second.issuer)
      const answer = await one.agent.authorize(second, url)
      expect(answer.searchParams.get('error')).toBe('invalid_request_object')
    },
  )

  test('RFC 7519 §4.1.7 requires an expiry within an hour for an object with jti', async () => {
    expect(await reason({ jti: 'x' })).toContain('exp')
    expect(await reason({ jti: 'x', exp: inSeconds(3_700) })).toContain('3600')
    for (const jti of ['', 1, 'x'.repeat(256)])
      expect(await reason({ jti, exp: inSeconds(60) })).toContain('jti')
  })
})

describe('RFC 9101 §5 the login during a request', () => {
  const asked = async (claims: Claims, browser: UserAgent) => {
    const request = await requestObjectOf(client, key, claims)
    const page = await browser.browse(objectUrl(client, { request }))
    expect(page.address).toContain('/login')
    return { page, request }
  }

  test('§4 a request object may expire while the user logs in [T3075]', async () => {
    const browser = new UserAgent()
    const { page } = await asked({ exp: inSeconds(60) }, browser)
    app.advance(300)
    const answer = await browser.submit(page, { email: app.user.email, password: app.password })
    const next = new URL(answer.headers.get('location') ?? '', page.address)
    expect(responseTo(client, await browser.authorize(app, next))).toHaveProperty('code')
  })

  test('§4 rejects an expired object if its first use was more than a day ago or has no record', async () => {
    const browser = new UserAgent()
    const { page, request } = await asked({ exp: inSeconds(60) }, browser)
    const next = new URL(new URL(page.address).searchParams.get('next') ?? '', app.issuer)
    const record = next.searchParams.get('request_object_read') ?? ''
    expect(record).not.toBe('')
    app.advance(300)
    const tried = (url: string) => agent.authorize(app, url).then((to) => responseTo(client, to))
    const plain = objectUrl(client, { request, redirect_uri: redirectUri })
    const later = await requestObjectOf(client, key, { exp: inSeconds(-100), state: 'another' })
    const moved = objectUrl(client, { request: later, redirect_uri: redirectUri })
    for (const url of [
      plain,
      `${plain}&request_object_read=x`,
      `${moved}&request_object_read=${record}`,
    ])
      expect(await tried(url), url).toMatchObject(refused)
    expect(await tried(`${plain}&request_object_read=${record}`)).toHaveProperty('code')
    app.advance(86_400)
    expect(await tried(`${plain}&request_object_read=${record}`)).toMatchObject(refused)
  })

  test('Core §3.1.2.1 prompt=login in a request object requires one login [T3076]', async () => {
    const browser = new UserAgent()
    await browser.logIn(app)
    const { page } = await asked({ prompt: 'login consent' }, browser)
    app.advance(1)
    const answer = await browser.submit(page, { email: app.user.email, password: app.password })
    const next = await browser.browse(new URL(answer.headers.get('location') ?? '', page.address))
    expect([next.status, next.address.includes('/login')]).toEqual([200, false])
  })

  test('Core §3.1.2.1 prompt=none in a request object shows no page', async () => {
    const trusted = await clientWith({}, app, new UserAgent())
    const request = await requestObjectOf(trusted, key, { prompt: 'none' })
    expect(await answerTo({ request }, trusted)).toMatchObject({
      error: 'login_required',
      state: 'xyz',
    })
  })
})

describe('RFC 9101 §7 errors', () => {
  const page = async (url: string) => {
    const response = await agent.fetch(url)
    const target = new URL(response.headers.get('location') ?? '', app.issuer)
    return [target.pathname, target.searchParams.get('error')]
  }

  test('§7 sends an error to the redirect URI outside the rejected object, if this URI is registered [T3077]', async () => {
    const request = 'x'
    const given = { request, redirect_uri: other, state: 'outside', response_mode: 'query' }
    const answer = await agent.authorize(app, objectUrl(client, given))
    expect(`${answer.origin}${answer.pathname}`).toBe(other)
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({ ...refused, state: 'outside' })
  })

  test('§7 shows the error without a redirect if no registered redirect URI is outside the object', async () => {
    const shown = ['/oauth/errors', 'invalid_request']
    const request = 'x'
    expect(await page(objectUrl(client, { request }))).toEqual(shown)
    const redirect_uri = 'https://evil.example/cb'
    expect(await page(objectUrl(client, { request, redirect_uri }))).toEqual(shown)
    const good = await requestObjectOf(client, key, { redirect_uri })
    expect(await page(objectUrl(client, { request: good, redirect_uri: redirectUri }))).toEqual(
      shown,
    )
  })

  test('§5 requires client_id outside the request object, and rejects repeated parameters', async () => {
    const shown = ['/oauth/errors', 'invalid_request']
    const request = await requestObjectOf(client, key)
    const authorize = `${app.issuer}/oauth/authorize`
    expect(await page(`${authorize}?request=${request}`)).toEqual(shown)
    expect(await page(`${authorize}?request=${request}&client_id=unknown`)).toEqual(shown)
    expect(await page(`${objectUrl(client, { request })}&request=${request}`)).toEqual(shown)
    expect(await page(`${objectUrl(client, { request })}&client_id=x`)).toEqual(shown)
  })

  test('§7 the owner of the client sees why a request object was refused', async () => {
    const one = await clientWith()
    await reason({ exp: inSeconds(-100) }, {}, one)
    const path = `/account/settings/applications/clients/${one.clientId}/`
    const text = await (await agent.browse(`${app.issuer}${path}`)).text()
    expect(text).toContain('invalid_request_object')
  })

  test('§7 without the setting, request objects are not supported [T3078]', async () => {
    await using plain = await startServer()
    const one = await clientWith({}, plain, new UserAgent())
    const request = await requestObjectOf(one, key)
    const given = { redirect_uri: redirectUri, response_type: 'code', state: 's' }
    expect(await answerTo({ ...given, request }, one)).toMatchObject({
      error: 'request_not_supported',
      state: 's',
    })
    expect(
      await answerTo({ ...given, request_uri: 'https://client.example/x' }, one),
    ).toMatchObject({ error: 'request_uri_not_supported', state: 's' })
  })
})

describe('RFC 9101 §5.2 a request object by reference', () => {
  test.each(['application/oauth-authz-req+jwt', 'application/jwt; charset=utf-8'])(
    '§5.2 fetches the object from a registered address as %s [T3079]',
    async (type) => {
      const path = `/object-${randomUUID()}`
      const headers = { 'content-type': type }
      const one = await clientAt(path, (to) => requestObjectOf(to, key), {}, headers)
      const answer = await byReference(one, site.url(path))
      expect(answer).toEqual({ code: expect.any(String), state: 'xyz', iss: app.issuer })
      const [request] = requestsFor(path)
      expect(request?.headers.accept).toContain('application/oauth-authz-req+jwt')
      expect(request?.headers.cookie).toBeUndefined()
    },
  )

  test('§5.2, §10.4.2 refuses every other address without fetching it [T3080]', async () => {
    const one = await clientAt('/registered', (to) => requestObjectOf(to, key))
    const second = await clientAt('/of-another', (to) => requestObjectOf(to, key))
    const before = site.requests.length
    for (const url of [
      site.url('/of-another'),
      site.url('/registered/'),
      site.url('/registered?x=1'),
      site.url('/REGISTERED'),
      site.url('/registered', 'CLIENT.example'),
      site.url('/registered').replace('https', 'http'),
      'https://client.example/registered',
      'file:///etc/passwd',
      `${app.issuer}/oauth/authorize`,
      'x',
    ])
      expect((await byReference(one, url)).error, url).toBe('invalid_request_uri')
    expect((await byReference(await clientWith(), site.url('/registered'))).error).toBe(
      'invalid_request_uri',
    )
    expect(site.requests.length).toBe(before)
    expect(await byReference(second, site.url('/of-another'))).toHaveProperty('code')
  })

  test('Core §6.2 accepts a registered URL with another fragment, and always uses the current content [T3081]', async () => {
    const path = '/changing'
    const headers = { 'content-type': 'application/jwt', 'cache-control': 'max-age=3600' }
    const one = await clientWith({ openid: { request_uris: [`${site.url(path)}#first`] } })
    const serve = async (state: string): Promise<string> => {
      const content = await requestObjectOf(one, key, { state })
      site.serve(path, content, headers)
      return `${site.url(path)}#${createHash('sha256').update(content).digest('base64url')}`
    }
    const first = await serve('first')
    expect((await byReference(one, first)).state).toBe('first')
    const second = await serve('second')
    expect((await byReference(one, second)).state).toBe('second')
    // This fragment is the hash of the former content. The server uses a hash only as a hint for its cache.
    expect((await byReference(one, first)).state).toBe('second')
    expect((await byReference(one, site.url(path))).state).toBe('second')
  })

  test('Core §6.2 does not transfer unchanged content again', async () => {
    const path = '/unchanged'
    const one = await clientAt(path, (to) => requestObjectOf(to, key))
    const content = await requestObjectOf(one, key)
    site.respond(path, ({ headers }, response) => {
      const isKnown = headers['if-none-match'] === '"1"'
      const type = { 'content-type': 'application/jwt', etag: '"1"', 'cache-control': 'max-age=60' }
      response.writeHead(isKnown ? 304 : 200, type).end(isKnown ? undefined : content)
    })
    for (let times = 0; times < 2; times += 1)
      expect(await byReference(one, site.url(path))).toHaveProperty('code')
    expect(requestsFor(path).at(-1)?.headers['if-none-match']).toBe('"1"')
  })

  const largest = 16_384
  test.each([
    ['another media type', { 'content-type': 'text/html' }, (jwt: string) => jwt, 200],
    ['no media type', { 'content-type': '' }, (jwt: string) => jwt, 200],
    ['a redirect', { location: 'https://client.example/x' }, () => '', 302],
    ['404', {}, () => '', 404],
    ['500', {}, () => '', 500],
    ['too much content', {}, () => 'x'.repeat(largest + 1), 200],
    ['bytes that are not UTF-8', {}, () => Buffer.from([0xff, 0xfe]), 200],
  ] as const)(
    '§7, §10.4.1 refuses %s at the address [T3082]',
    async (_what, more, body, status) => {
      const path = `/failing-${randomUUID()}`
      const one = await clientAt(path, (to) => requestObjectOf(to, key))
      const content = body(await requestObjectOf(one, key))
      site.respond(path, (_request, response) => {
        response.writeHead(status, { 'content-type': 'application/jwt', ...more }).end(content)
      })
      const answer = await byReference(one, site.url(path), { state: 'outside' })
      expect(answer).toMatchObject({ error: 'invalid_request_uri', state: 'outside' })
      expect(answer.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
    },
  )

  test('§6.2 rejects fetched content that is not a valid request object', async () => {
    const one = await clientAt('/invalid', (to) => requestObjectOf(to, key, { iss: 'x' }))
    expect(await byReference(one, site.url('/invalid'))).toMatchObject(refused)
    const two = await clientAt('/nested', (to) =>
      requestObjectOf(to, key, { request_uri: site.url('/invalid') }),
    )
    expect(await byReference(two, site.url('/nested'))).toMatchObject(refused)
  })

  test('§10.4.1 limits the fetches that requests of one IP address cause [T3083]', async () => {
    await using limited = await startServer({
      requestObjects: true,
      outbound: site.outbound,
      dangerouslyAllowPrivateAddresses: true,
      limits: { clientDocuments: { points: 2, seconds: 60 } },
    })
    const one = await clientWith(
      { openid: { request_uris: [site.url('/limited')] } },
      limited,
      new UserAgent(),
    )
    await one.agent.logIn(limited)
    const headers = { 'content-type': 'application/jwt' }
    site.serve('/limited', await requestObjectOf(one, key), headers)
    const page = () => one.agent.browse(objectUrl(one, { request_uri: site.url('/limited') }))
    expect([(await page()).status, (await page()).status]).toEqual([200, 200])
    const answer = await byReference(one, site.url('/limited'))
    expect(answer.error).toBe('temporarily_unavailable')
    expect(requestsFor('/limited')).toHaveLength(2)
  })

  test('RFC 9126 §4 still accepts the reference of a pushed request as request_uri [T3084]', async () => {
    const { body } = await postForm(
      `${app.issuer}/oauth/par`,
      Object.fromEntries(new URL(client.url()).searchParams),
      basicOf(client),
    )
    const url = referenceUrl(client, String(body.request_uri))
    expect(responseTo(client, await agent.authorize(app, url))).toHaveProperty('code')
    const unknown = referenceUrl(client, 'urn:ietf:params:oauth:request_uri:x')
    expect((await agent.authorize(app, unknown)).pathname).toBe('/oauth/errors')
  })
})

describe('RFC 9126 §3 a request object in a pushed request', () => {
  const pushObject = (fields: Given, to = client) =>
    postForm(`${app.issuer}/oauth/par`, fields, basicOf(to))
  const codeOf = async (one: TestClient, reference: unknown) =>
    responseTo(one, await agent.authorize(app, referenceUrl(one, String(reference))))

  test('§3 uses only the parameters in the request object for the pushed request [T3085]', async () => {
    const request = await requestObjectOf(client, key, { state: 'inside' })
    const { status, body } = await pushObject({
      request,
      client_id: client.clientId,
      scope: 'notes:write',
      state: 'outside',
    })
    expect(status, JSON.stringify(body)).toBe(201)
    const answer = await codeOf(client, body.request_uri)
    expect(answer).toEqual({ code: expect.any(String), state: 'inside', iss: app.issuer })
    expect((await client.redeem(answer.code ?? '')).body.scope).toBe('notes:read')
  })

  test('§3 verifies the object like the authorization endpoint [T3086]', async () => {
    const second = await clientWith()
    const jti = randomUUID()
    const once = await requestObjectOf(client, key, { jti, exp: inSeconds(60) })
    expect((await pushObject({ request: once })).status).toBe(201)
    for (const request of [
      once,
      'x',
      requestObject(requestClaims(client)),
      await requestObjectOf(second, key),
      await requestObjectOf(client, key, { exp: inSeconds(-100) }),
      await requestObjectOf(client, key, { request_uri: 'https://client.example/' }),
    ]) {
      const { status, body } = await pushObject({ request })
      expect([status, body.error], request).toEqual([400, 'invalid_request_object'])
    }
    const request = await requestObjectOf(client, key, { redirect_uri: 'https://evil.example/' })
    expect((await pushObject({ request })).body.error).toBe('invalid_request')
    const request_uri = 'https://client.example/x'
    expect((await pushObject({ request_uri })).body.error).toBe('invalid_request')
  })

  test('RFC 9101 §10.5 a client can require that all its requests are signed [T3087]', async () => {
    const one = await clientWith({ openid: { require_signed_request_object: true } })
    const { error } = responseTo(one, await one.ask())
    expect(error).toBe('invalid_request')
    const forged = responseTo(one, await one.ask({ signed_request_object: 'x' }))
    expect(forged.error).toBe('invalid_request')
    expect(await answerToObject({}, {}, one)).toHaveProperty('code')
    const plain = Object.fromEntries(new URL(one.url()).searchParams)
    expect((await pushObject(plain, one)).body.error).toBe('invalid_request')
    const { body } = await pushObject({ request: await requestObjectOf(one, key) }, one)
    expect(await codeOf(one, body.request_uri)).toHaveProperty('code')
    const forgedPush = { ...plain, signed_request_object: 'x' }
    expect((await pushObject(forgedPush, one)).body.error).toBe('invalid_request')
  })
})

describe('the metadata of the server and of clients', () => {
  const metadataOf = async ({ issuer }: TestServer) => {
    const response = await fetch(`${issuer}/.well-known/oauth-authorization-server`)
    return (await response.json()) as Record<string, unknown>
  }

  test('§10.5, Discovery §3 the server announces request objects [T3088]', async () => {
    expect(await metadataOf(app)).toMatchObject({
      request_parameter_supported: true,
      request_uri_parameter_supported: true,
      require_request_uri_registration: true,
      request_object_signing_alg_values_supported: ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'],
    })
    await using openid = await startServer({ requestObjects: true, openidConnect: true })
    expect(await metadataOf(openid)).toMatchObject({
      request_parameter_supported: true,
      request_uri_parameter_supported: true,
    })
    await using plain = await startServer()
    const metadata = Object.keys(await metadataOf(plain)).join()
    expect(metadata).not.toMatch(/request_(?:parameter|uri|object)/)
  })

  const members = {
    request_uris: ['https://client.example/a.jwt', 'https://client.example/b.jwt#hash'],
    request_object_signing_alg: 'PS256',
    require_signed_request_object: true,
  }

  test('Registration §2, RFC 7592 §2.2 the members are stored, returned and changed [T3089]', async () => {
    const information = await registered(app, members)
    expect(information).toMatchObject(members)
    expect((await manage('GET', information)).body).toMatchObject(members)
    const { client_id } = information
    const changed = { redirect_uris: [redirectUri], request_uris: ['https://client.example/c'] }
    const { status, body } = await manage('PUT', information, { client_id, ...changed })
    expect([status, body]).toMatchObject([200, changed])
    for (const name of Object.keys(members).slice(1)) expect(body).not.toHaveProperty(name)
  })

  test.each([
    { request_uris: ['ftp://client.example/'] },
    { request_uris: ['http://client.example/'] },
    { request_uris: ['https://client.example:25/'] },
    { request_uris: ['https://user@client.example/'] },
    { request_uris: ['urn:x'] },
    { request_uris: ['#'] },
    { request_uris: [''] },
    { request_uris: 'https://client.example/' },
    { request_uris: [1] },
    { request_uris: Array(51).fill('https://client.example/') },
    { request_uris: [`https://client.example/${'x'.repeat(1_000)}`] },
    { request_object_signing_alg: 'none' },
    { request_object_signing_alg: 'HS256' },
    { request_object_signing_alg: ['ES256'] },
    { require_signed_request_object: 'true' },
  ])('Registration §2 refuses %j [T3090]', async (metadata) => {
    const { status, body } = await register(app, { redirect_uris: [redirectUri], ...metadata })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
  })

  test('§10.4 an address in a private network cannot be registered', async () => {
    await using strict = await startServer({ requestObjects: true, dynamicRegistration: 'open' })
    for (const url of ['https://10.0.0.1/r', 'https://localhost/r', 'https://[::1]/r']) {
      const { body } = await register(strict, { redirect_uris: [redirectUri], request_uris: [url] })
      expect([url, body.error]).toEqual([url, 'invalid_client_metadata'])
    }
  })

  test('the application registers the same members [T3091]', async () => {
    const create = (openid: NonNullable<ClientInput['openid']>) => app.client({ openid })
    await create(members)
    for (const openid of [
      { request_uris: ['http://client.example/'] },
      { request_object_signing_alg: 'none' },
      { request_object_signing_alg: 'HS256' },
    ])
      await expect(create(openid)).rejects.toThrow(/request_|must/)
  })

  test('without the setting, ignores the members like unknown members [T3092]', async () => {
    await using plain = await startServer({ dynamicRegistration: 'open', openidConnect: true })
    const information = await registered(plain, { ...members, request_object_signing_alg: 'HS256' })
    for (const name of Object.keys(members)) expect(information).not.toHaveProperty(name)
  })
})

describe('Core §6.1 unsigned request objects', () => {
  const none = { request_object_signing_alg: 'none' }
  const options = () => ({
    requestObjects: true,
    openidConnect: true,
    dynamicRegistration: 'open' as const,
    outbound: site.outbound,
    dangerouslyAllowPrivateAddresses: true,
  })
  const sent = (one: TestClient, claims: Claims = {}) => ({
    request: requestObject(requestClaims(one, claims)),
    redirect_uri: redirectUri,
  })

  test('Core §6.1, §6.2 accepts unsigned objects only from a client that registered the algorithm none [T3093]', async () => {
    await using openid = await startServer(options())
    const request_uris = [site.url('/unsigned')]
    const one = await clientWith({ openid: { ...none, request_uris } }, openid, new UserAgent())
    expect(await answerTo(sent(one), one)).toMatchObject({ code: expect.any(String), state: 'xyz' })
    site.serve('/unsigned', requestObject(requestClaims(one)), {
      'content-type': 'application/jwt',
    })
    expect(await byReference(one, request_uris[0] ?? '')).toHaveProperty('code')
    // The client registered the algorithm `none`, so the server rejects a signed object.
    const signed = await requestObjectOf(one, key)
    const given = { request: signed, redirect_uri: redirectUri }
    expect(await answerTo(given, one)).toMatchObject(refused)
    for (const claims of [
      { exp: 1 },
      { iss: 'x' },
      { aud: 'x' },
      { client_id: 'x' },
      { request: 'x' },
    ])
      expect(await answerTo(sent(one, claims), one)).toMatchObject(refused)

    const two = await clientWith({}, openid, new UserAgent())
    expect(await answerTo(sent(two), two)).toMatchObject(refused)
    const metadata = { redirect_uris: [redirectUri], ...none }
    expect((await register(openid, metadata)).body).toMatchObject(none)
  })

  test('RFC 9101 §10.5 rejects unsigned objects of a client that requires signatures', async () => {
    await using openid = await startServer(options())
    const rules = { ...none, require_signed_request_object: true }
    const one = await clientWith({ openid: rules }, openid, new UserAgent())
    expect((await answerTo(sent(one), one)).error).toBe('invalid_request')
  })

  test('RFC 9101 §10.1 rejects unsigned objects without OpenID Connect [T3094]', async () => {
    await using openid = await startServer(options())
    const one = await clientWith({ openid: none }, openid, new UserAgent())
    await using plain = await startServer({
      requestObjects: true,
      beside: openid,
      issuer: openid.issuer,
    })
    const url = objectUrl(one, sent(one)).replace(openid.issuer, plain.issuer)
    const answer = await new UserAgent().authorize(plain, url)
    expect(answer.searchParams.get('error')).toBe('invalid_request_object')
  })

  test('FAPI 2.0 Security Profile §5.4.1 rejects the algorithms none and RS256 [T3095]', async () => {
    await using strict = await startServer({ ...options(), securityProfile: 'fapi2' })
    for (const request_object_signing_alg of ['none', 'RS256'])
      await expect(strict.client({ openid: { request_object_signing_alg } })).rejects.toMatchObject(
        { field: 'request_object_signing_alg' },
      )
  })
})
