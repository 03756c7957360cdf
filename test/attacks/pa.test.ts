import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { postForm } from '../support/form.ts'
import { storeOf } from '../support/internals.ts'
import { startServer } from '../support/server.ts'
import {
  type AttackClient,
  type AttackServer,
  basic,
  expectJson,
  expectLocal400,
  expectRedirect,
  formOf,
  type HttpResponse,
  isConsentPage,
  isOnNodes,
  type Over,
  scopes,
  startAttackServer,
} from './support/attack-server.ts'

const form = 'application/x-www-form-urlencoded'
const urn = 'urn:ietf:params:oauth:request_uri:'

let it: AttackServer
beforeAll(async () => {
  it = await startAttackServer()
})
afterAll(() => it?.close())

interface Pushing {
  readonly client?: AttackClient
  readonly auth?: 'basic' | 'none'
  readonly headers?: Record<string, string>
}

/** Sends a pushed authorization request. */
const push = (
  over: Over = {},
  { client: given, auth, headers = {} }: Pushing = {},
  at: AttackServer = it,
): Promise<HttpResponse> => {
  const client = given ?? at.clients.conf
  const { clientId, clientSecret, isConfidential } = client
  const isBasic = (auth ?? (isConfidential ? 'basic' : 'none')) === 'basic'
  const asked = new URL(at.authorizeUrl(over, { client })).search.slice(1)
  return at.request('/oauth/par', {
    method: 'POST',
    body: asked,
    headers: {
      'content-type': form,
      ...(isBasic ? { authorization: basic(clientId, clientSecret) } : {}),
      ...headers,
    },
  })
}

const pushed = async (...given: Parameters<typeof push>): Promise<string> => {
  const { status, body, text } = await push(...given)
  expect(status, text).toBe(201)
  return String(body.request_uri)
}

/** Opens an authorization request with the parameters `over` in the browser, and consents. */
const refer = async (over: Over, at: AttackServer = it): Promise<HttpResponse> => {
  const { agent } = await at.browser('a')
  const url = `${at.issuer}/oauth/authorize?${formOf(over)}`
  const page = await at.follow(await at.request(url, { agent }), agent)
  return isConsentPage(page) ? at.submit(page, agent, { confirm: 'yes' }) : page
}

/** Expects that the rejected requests of `work` do not change the state. */
const unchanged = async (work: () => Promise<void>): Promise<void> => {
  const before = await it.state()
  const requests = () =>
    it.server.query("select key from oauth2server_transient where key like 'pushed_request%'")
  const waiting = await requests()
  await work()
  expect(await it.state()).toEqual(before)
  expect(await requests()).toEqual(waiting)
}

describe('PA-01 Endpoint rules', () => {
  test('requires client authentication like the token endpoint', async () => {
    const { conf, conf2, pub } = it.clients
    await unchanged(async () => {
      expectJson(await push({}, { auth: 'none' }), 401, 'invalid_client', { triedBasic: false })
      const wrong = { ...conf, clientSecret: 'wrong' }
      expectJson(await push({}, { client: wrong }), 401, 'invalid_client', { triedBasic: true })
      const unknown = { ...conf, clientId: 'nobody' }
      expectJson(await push({}, { client: unknown }), 401, 'invalid_client', { triedBasic: true })
      const body = { client_secret: conf.clientSecret }
      expectJson(await push(body), 400, 'invalid_request')
      expectJson(await push({ client_secret: 'x' }, { client: pub }), 401, 'invalid_client')
      expectJson(await push({ client_id: conf2.clientId }), 400, 'invalid_request')
    })
    expect((await push({}, { client: pub })).status).toBe(201)
  })

  test('returns a random reference that expires within 600 seconds', async () => {
    const references = new Set<string>()
    for (let count = 0; count < 20; count += 1) {
      const { status, headers, body } = await push()
      expect(status).toBe(201)
      expect(Object.keys(body).sort()).toEqual(['expires_in', 'request_uri'])
      // 43 characters of an alphabet of 62 contain 256 bits.
      expect(body.request_uri).toMatch(/^urn:ietf:params:oauth:request_uri:[A-Za-z0-9]{43}$/)
      expect(body.expires_in).toBeTypeOf('number')
      expect(Number(body.expires_in)).toBeGreaterThan(0)
      expect(Number(body.expires_in)).toBeLessThanOrEqual(600)
      expect(headers.get('cache-control')).toBe('no-store')
      references.add(String(body.request_uri))
    }
    expect(references.size).toBe(20)
  })

  test.each([`${urn}x`, 'https://client.example/request', ''])(
    'rejects the parameter request_uri with the value %j',
    async (request_uri) => {
      await unchanged(async () => expectJson(await push({ request_uri }), 400, 'invalid_request'))
    },
  )

  test('rejects a body that is too long, a JSON body, and parameters in the query', async () => {
    await unchanged(async () => {
      // Use a shorter body behind the proxy: the proxy fails if the server closes the connection during the upload.
      const long = 'x'.repeat(isOnNodes ? 70_000 : 1_000_000)
      expectJson(await push({ state: long }), 413, 'invalid_request')
      const { clientId, clientSecret } = it.clients.conf
      const authorization = basic(clientId, clientSecret)
      const { searchParams, search } = new URL(it.authorizeUrl())
      const json = await it.request('/oauth/par', {
        method: 'POST',
        body: JSON.stringify(Object.fromEntries(searchParams)),
        headers: { authorization, 'content-type': 'application/json' },
      })
      expectJson(json, 400, 'invalid_request')
      const inQuery = await it.request(`/oauth/par${search}`, {
        method: 'POST',
        body: '',
        headers: { authorization, 'content-type': form },
      })
      expectJson(inQuery, 400, 'invalid_request')
    })
  })

  test.each<[string, Over, string]>([
    [
      'a redirect URI of another client',
      { redirect_uri: 'https://evil.example/cb' },
      'invalid_request',
    ],
    [
      'a redirect URI with an additional slash',
      { redirect_uri: 'https://client.example/cb/' },
      'invalid_request',
    ],
    [
      'a redirect URI in capitals',
      { redirect_uri: 'https://CLIENT.example/cb' },
      'invalid_request',
    ],
    ['a missing response type', { response_type: undefined }, 'invalid_request'],
    ['another response type', { response_type: 'bogus' }, 'unsupported_response_type'],
    ['the response type of the implicit flow', { response_type: 'token' }, 'unauthorized_client'],
    ['an unknown scope', { scope: 'bogus' }, 'invalid_scope'],
    ['an internal scope', { scope: scopes.internal }, 'invalid_scope'],
    [
      'a scope that the client may not request',
      { scope: `${scopes.r} ${scopes.rwAll}` },
      'invalid_scope',
    ],
    ['the PKCE method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a PKCE challenge without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['a malformed challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['a repeated state', { state: ['a', 'b'] }, 'invalid_request'],
    [
      'a repeated redirect URI',
      {
        redirect_uri: ['https://client.example/cb', 'https://client.example/cb'],
      },
      'invalid_request',
    ],
    [
      'a redirect URI with a control character',
      { redirect_uri: 'https://client.example/cb\n' },
      'invalid_request',
    ],
    ['contradicting prompts', { prompt: 'none login' }, 'invalid_request'],
  ])('rejects %s like the authorization endpoint', async (_what, over, error) => {
    await unchanged(async () => expectJson(await push(over), 400, error))
  })

  test('rejects a request of a public client without a challenge', async () => {
    const without = { code_challenge: undefined, code_challenge_method: undefined }
    await unchanged(async () =>
      expectJson(await push(without, { client: it.clients.spa }), 400, 'invalid_request'),
    )
  })
})

describe('PA-02 Binding, and parameters of the browser', () => {
  test('rejects a reference with another client ID, and does not consume the reference', async () => {
    const { conf, conf2, pub } = it.clients
    const request_uri = await pushed()
    for (const { clientId: client_id } of [conf2, pub])
      expectLocal400(await refer({ client_id, request_uri }))
    for (const over of [{ request_uri }, { client_id: '', request_uri }])
      expectLocal400(await refer(over))
    expectLocal400(await refer({ client_id: [conf.clientId, conf2.clientId], request_uri }))
    expectLocal400(
      await refer({ client_id: conf.clientId, request_uri: [request_uri, request_uri] }),
    )
    const response = await refer({ client_id: conf.clientId, request_uri })
    expect(response.query).toEqual({ code: expect.any(String), state: 'xyz', iss: it.issuer })
  })

  test('ignores parameters that are added in the browser', async () => {
    const request_uri = await pushed({ scope: scopes.r })
    const response = await refer({
      client_id: it.clients.conf.clientId,
      request_uri,
      scope: `${scopes.r} ${scopes.w}`,
      redirect_uri: 'https://evil.example/cb',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'plain',
      state: ['x', 'y'],
      response_type: 'token',
      response_mode: 'fragment',
      prompt: 'none',
      iss: 'https://evil.example',
      dpop_jkt: 'x'.repeat(43),
      resource: 'https://evil.example/',
    })
    expect(response.location).toMatch(/^https:\/\/client\.example\/cb\?/)
    expect(response.fragment).toEqual({})
    expect(response.query).toEqual({ code: expect.any(String), state: 'xyz', iss: it.issuer })
    const tokens = await it.token({ code: response.query.code })
    expect([tokens.status, tokens.body.scope]).toEqual([200, scopes.r])
    expect(tokens.body.token_type).toBe('Bearer')
  })

  test('accepts a reference only once', async () => {
    const { clientId: client_id } = it.clients.conf
    const request_uri = await pushed()
    expect((await refer({ client_id, request_uri })).query.code).toBeDefined()
    expectLocal400(await refer({ client_id, request_uri }))
  })

  test('rejects authorization requests that are not pushed if pushing is required', async () => {
    await using strict = await startAttackServer({ pushedAuthorizationRequests: 'required' })
    const { clientId: client_id } = strict.clients.conf
    expectRedirect(await strict.authorize(), 'invalid_request')
    expectRedirect(await strict.authorize({ request_uri: '' }), 'invalid_request')
    const request_uri = await pushed({}, { client: strict.clients.conf }, strict)
    expect((await refer({ client_id, request_uri }, strict)).query.code).toBeDefined()
  })
})

describe('PA-04 Foreign request_uri and flood', () => {
  const foreign = [
    'https://evil.example/x',
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
    `${urn}../../x`,
    `${urn}' or 1=1 --`,
    `${urn}\0`,
    `${urn}%00`,
    `${urn}${'x'.repeat(43)}`,
    `${urn}${'x'.repeat(4_000)}`,
    urn,
    'x',
  ]

  test.each(foreign)('shows a local error page for %j', async (request_uri) => {
    const { clientId: client_id } = it.clients.conf
    expectLocal400(await refer({ client_id, request_uri }))
  })

  test('does not resolve the host of any foreign request_uri', async () => {
    const resolved: string[] = []
    await using node = await startServer({
      beside: it.server,
      clientIdMetadataDocuments: true,
      outbound: {
        async resolve(host) {
          resolved.push(host)
          return []
        },
      },
    })
    const { agent } = await it.browser('a')
    const { clientId: client_id } = it.clients.conf
    for (const request_uri of foreign) {
      const url = `${node.issuer}/oauth/authorize?${formOf({ client_id, request_uri })}`
      const { headers } = await agent.fetch(url)
      expect(headers.get('location')).toMatch(/^\/oauth\/errors\?/)
    }
    expect(resolved).toEqual([])
  })

  test('returns 429 to a client with too many requests, and deletes expired requests', async () => {
    await using flooded = await startAttackServer()
    const { conf, conf2 } = flooded.clients
    // Use the store of the nodes, which is Redis or the database.
    const opened = await flooded.server.place.options.transients?.open(flooded.issuer)
    const transients = opened ?? storeOf(flooded.server.server).transients
    const limits = new Limits(transients, flooded.server.now)
    for (let count = 0; count < 598; count += 1)
      await limits.consume('pushedRequests', '', conf.clientId)
    await opened?.close()
    const responses: HttpResponse[] = []
    for (let count = 0; count < 6; count += 1) responses.push(await push({}, {}, flooded))
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 429, 429, 429, 429])
    const [, , refused] = responses
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect((await push({}, { client: conf2 }, flooded)).status).toBe(201)
    flooded.server.advance(60)
    expect((await push({}, {}, flooded)).status).toBe(201)
    if (isOnNodes) return
    const rows = () =>
      flooded.server.query(
        "select key from oauth2server_transient where key like 'pushed_request%'",
      )
    expect(await rows()).toHaveLength(4)
    flooded.server.advance(1_200)
    await flooded.server.server.sweep()
    expect(await rows()).toEqual([])
  })

  test('limits a public client to 60 requests per address', async () => {
    await using flooded = await startAttackServer({ trustedProxies: ['127.0.0.1'] })
    const { spa: client } = flooded.clients
    const from = (address: string) =>
      push({}, { client, headers: { 'x-forwarded-for': address } }, flooded)
    for (let count = 0; count < 60; count += 1) expect((await from('192.0.2.1')).status).toBe(201)
    expect((await from('192.0.2.1')).status).toBe(429)
    expect((await from('198.51.100.1, 192.0.2.1')).status).toBe(429)
    expect((await from('192.0.2.2')).status).toBe(201)
  })

  test('returns 404 if pushed requests are disabled', async () => {
    await using off = await startAttackServer({ pushedAuthorizationRequests: 'off' })
    const response = await postForm(`${off.issuer}/oauth/par`, { client_id: 'x' })
    expect(response.status).toBe(404)
  })
})
