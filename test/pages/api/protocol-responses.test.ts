import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everything } from '../../support/observed-server.ts'
import { redirectUri, startServer, type TestServer } from '../../support/server.ts'
import { authorizeUrl, newPkce, TestClient, UserAgent } from '../../support/user-agent.ts'
import { Contract } from './contract.ts'
import { bearer, type HttpResponse, read, Script } from './script.ts'

// Each protocol endpoint returns exactly the responses that the OpenAPI document defines for it.

let isAway = false
let app: TestServer
let contract: Contract
let script: Script
let token: string
beforeAll(async () => {
  app = await startServer({
    aroundStore: (_operation, run) => {
      if (isAway) throw new StoreUnavailable('The store is away.')
      return run()
    },
  })
  contract = await Contract.of(app)
  script = await Script.logIn(app)
  token = await app.personalToken(['notes:read'])
})
afterAll(() => app.close())

const send = async (path: string, init: RequestInit = {}): Promise<HttpResponse> =>
  read(await fetch(`${app.issuer}${path}`, { redirect: 'manual', ...init }))

const away = async (path: string, init?: RequestInit): Promise<HttpResponse> => {
  isAway = true
  return send(path, init).finally(() => {
    isAway = false
  })
}

/** The operations whose responses were compared with the document. */
const compared = new Set<string>()

/** Expects that each response matches the document, and that the responses cover all documented statuses. */
const expectAll = (
  id: string,
  answers: readonly (readonly [status: number, HttpResponse])[],
): void => {
  compared.add(id)
  const operation = contract.operation(id)
  for (const [status, response] of answers) {
    expect([status, contract.differences(operation, response)], response.text).toEqual([
      response.status,
      [],
    ])
    const { headers = {} } = contract.response(operation, status) ?? {}
    const lacking = Object.entries(headers).filter(
      ([name, { required }]) => required === true && !response.headers.has(name),
    )
    expect(lacking).toEqual([])
  }
  const documented = Object.keys(operation.responses).filter((status) => status !== 'default')
  const given = new Set(answers.map(([status]) => String(status)))
  expect(documented.filter((status) => !given.has(status))).toEqual([])
}

test.each([
  ['ping', 'GET', '/oauth/ping'],
  ['pingByPost', 'POST', '/oauth/ping'],
  ['info', 'GET', '/oauth/info'],
])('%s', async (id, method, path) => {
  const other = await Script.logIn(app)
  const client = await TestClient.register(app, script.session.agent)
  const { access_token } = await client.tokens()
  const own = await app.client({ userId: null, defaultScopes: [] })
  const nobody = new TestClient(app, new UserAgent(), { ...own, redirectUri }, 'basic')
  const { body: ownerless } = await nobody.token({ grant_type: 'client_credentials' })
  const withHeaders = (headers: Readonly<Record<string, string>>) => ({ method, headers })
  const { accept: _, ...session } = script.headers
  expectAll(id, [
    [200, await send(path, withHeaders(bearer(token)))],
    [200, await send(path, withHeaders(bearer(access_token)))],
    [200, await send(path, withHeaders(bearer(ownerless.access_token)))],
    [200, await send(`${path}?access_token=${token}`, { method })],
    [400, await send(`${path}?access_token=${token}`, withHeaders(bearer(token)))],
    [400, await send(path, withHeaders({ ...session, authorization: 'Bearer a.b.c' }))],
    [401, await send(path, { method })],
    [401, await send(path, withHeaders(bearer('x')))],
    [401, await send(path, withHeaders(session))],
    [403, await send(path, withHeaders({ ...session, ...bearer(other.session.jwt) }))],
    [503, await away(path, withHeaders(bearer(token)))],
  ])
})

test('the token endpoint returns every documented response', async () => {
  const client = await TestClient.register(app, script.session.agent, {
    defaultScopes: ['notes:read'],
  })
  const { clientId: client_id, clientSecret: client_secret } = client
  const post = (fields: Readonly<Record<string, string>>, headers = {}): RequestInit => ({
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
  })
  const own = { grant_type: 'client_credentials', client_id, client_secret }
  const { pkce } = client
  const code = await client.code({ scope: 'user:email' })
  const redeemed = post({
    ...own,
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: pkce.verifier,
  })
  const basic = { authorization: `Basic ${btoa('x:y')}` }
  expectAll('token', [
    [200, await send('/oauth/token', post(own))],
    [200, await send('/oauth/token', redeemed)],
    [400, await send('/oauth/token', redeemed)],
    [400, await send('/oauth/token', post({ ...own, grant_type: 'x' }))],
    [400, await send('/oauth/token', post({ ...own, scope: 'x' }))],
    [400, await send('/oauth/token', { method: 'POST', body: 'x' })],
    [401, await send('/oauth/token', post({ ...own, client_secret: 'x' }))],
    [401, await send('/oauth/token', post({ grant_type: 'client_credentials' }, basic))],
    [413, await send('/oauth/token', post({ ...own, code: 'x'.repeat(70_000) }))],
    [503, await away('/oauth/token', post(own))],
  ])
})

test('revocation, introspection and pushed requests return every documented response', async () => {
  const client = await TestClient.register(app, script.session.agent)
  const { clientId: client_id, clientSecret: client_secret } = client
  const { access_token } = await client.tokens()
  const own = { client_id, client_secret }
  const challenge = { code_challenge: client.pkce.challenge, code_challenge_method: 'S256' }
  for (const [id, path, status, fields] of [
    ['introspect', '/oauth/introspect', 200, { token: access_token }],
    ['revoke', '/oauth/revoke', 200, { token: access_token }],
    [
      'pushAuthorizationRequest',
      '/oauth/par',
      201,
      { response_type: 'code', redirect_uri: client.redirectUri, ...challenge },
    ],
  ] as const) {
    const post = (given: Readonly<Record<string, string | undefined>>): RequestInit => {
      const left = Object.entries(given).filter(([, value]) => value !== undefined)
      return { method: 'POST', body: new URLSearchParams(left as [string, string][]) }
    }
    const asked = { ...own, ...fields }
    expectAll(id, [
      [status, await send(path, post(asked))],
      [status, await send(path, post(asked))],
      [400, await send(path, post({ ...asked, token: '', response_type: '' }))],
      [401, await send(path, post({ ...asked, client_secret: 'x' }))],
      [413, await send(path, post({ ...asked, more: 'x'.repeat(70_000) }))],
      [503, await away(path, post(asked))],
    ])
  }
})

test('the authorization endpoint returns every documented response', async () => {
  const { clientId } = await app.client()
  const pkce = { code_challenge: newPkce().challenge, code_challenge_method: 'S256' }
  const url = authorizeUrl('', { client_id: clientId, redirect_uri: redirectUri, ...pkce })
  const { accept: json, ...headers } = script.headers
  const body = new URLSearchParams(url.replace(/^.*\?/, ''))
  const tooLong = new URLSearchParams({ state: 'x'.repeat(20_000) })
  const decision = new URLSearchParams({ confirm: 'yes' })
  expectAll('authorize', [
    [200, await send(url, { headers })],
    [303, await send(url)],
    [303, await send('/oauth/authorize')],
    [503, await away(url, { headers })],
    [503, await away(url, { headers: { accept: json ?? '' } })],
  ])
  expectAll('authorizeByPost', [
    [200, await send('/oauth/authorize', { method: 'POST', body, headers })],
    [303, await send('/oauth/authorize', { method: 'POST', body })],
    [403, await send('/oauth/authorize', { method: 'POST', body: decision })],
    [
      413,
      await send('/oauth/authorize', { method: 'POST', body: tooLong, headers: script.headers }),
    ],
  ])
})

test('the metadata endpoints return only documented members', async () => {
  const { schemas } = contract.document.components
  for (const [id, path, schema] of [
    ['getServerMetadata', '/.well-known/oauth-authorization-server', 'ServerMetadata'],
    ['getResourceMetadata', '/.well-known/oauth-protected-resource', 'ResourceMetadata'],
  ] as const) {
    const response = await send(path)
    expectAll(id, [[200, response]])
    const closed = { ...schemas[schema], additionalProperties: false }
    expect(contract.invalid(closed, response.body)).toEqual([])
  }
  expectAll('getOpenApi', [[200, await send('/openapi.json')]])
})

test('the health endpoints return every documented response', async () => {
  expectAll('live', [[200, await send('/health/live')]])
  expectAll('ready', [
    [200, await send('/health/ready')],
    [503, await away('/health/ready')],
  ])
})

test('operations that are disabled by default return every documented response if enabled', async () => {
  await using other = await startServer({
    deviceAuthorization: true,
    dynamicRegistration: 'token',
    initialAccessToken: 'an-initial-access-token',
    accessTokenFormat: 'jwt',
    openidConnect: true,
    acceptUnsignedLeakReports: true,
  })
  const described = await Contract.of(other)
  const ask = async (path: string, init: RequestInit = {}): Promise<HttpResponse> =>
    read(await fetch(`${other.issuer}${path}`, init))
  const expectEach = (
    id: string,
    answers: readonly (readonly [status: number, HttpResponse])[],
  ): readonly HttpResponse[] => {
    compared.add(id)
    const operation = described.operation(id)
    for (const [status, response] of answers)
      expect([id, status, described.differences(operation, response)], response.text).toEqual([
        id,
        response.status,
        [],
      ])
    return answers.map(([, response]) => response)
  }

  expectEach('getKeys', [[200, await ask('/oauth/jwks')]])
  const discovery = await ask('/.well-known/openid-configuration')
  expectEach('getOpenIdConfiguration', [[200, discovery]])

  const person = await TestClient.register(other, new UserAgent())
  const { access_token: opened } = await person.tokens({ scope: 'openid' })
  for (const [id, method] of [
    ['userinfo', 'GET'],
    ['userinfoByPost', 'POST'],
  ] as const) {
    const headers = bearer(opened)
    expectEach(id, [
      [200, await ask('/oauth/userinfo', { method, headers })],
      [400, await ask(`/oauth/userinfo?access_token=${opened}`, { method, headers })],
      [401, await ask('/oauth/userinfo', { method })],
    ])
  }

  const { clientId, clientSecret } = await other.client()
  const device = (secret: string) => ({
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, client_secret: secret }),
  })
  expectEach('authorizeDevice', [
    [200, await ask('/oauth/device_authorization', device(clientSecret))],
    [401, await ask('/oauth/device_authorization', device('x'))],
  ])

  const json = (method: string, body: object, authorization: string): RequestInit => ({
    method,
    headers: { 'content-type': 'application/json', ...bearer(authorization) },
    body: JSON.stringify(body),
  })
  const report = [{ token: 'x'.repeat(43), type: 'token', url: 'https://a.example/', source: 'x' }]
  expectEach('reportLeaked', [
    [200, await ask('/oauth/leaked', json('POST', report, ''))],
    [400, await ask('/oauth/leaked', json('POST', {}, ''))],
  ])

  const metadata = { redirect_uris: [redirectUri], client_name: 'Registered' }
  const initial = 'an-initial-access-token'
  const [made] = expectEach('register', [
    [201, await ask('/oauth/register', json('POST', metadata, initial))],
    [400, await ask('/oauth/register', json('POST', { redirect_uris: 7 }, initial))],
    [401, await ask('/oauth/register', json('POST', metadata, 'x'))],
    [401, await ask('/oauth/register', { method: 'POST' })],
  ])
  const body = made?.body as { client_id: string; registration_access_token: string }
  const { client_id, registration_access_token: own } = body
  const path = `/oauth/register/${client_id}`
  expectEach('getRegistration', [
    [200, await ask(path, { headers: bearer(own) })],
    [401, await ask(path, { headers: bearer('x') })],
  ])
  const changed = { ...metadata, client_id }
  expectEach('replaceRegistration', [
    [200, await ask(path, json('PUT', changed, own))],
    [400, await ask(path, json('PUT', metadata, own))],
    [401, await ask(path, json('PUT', changed, 'x'))],
  ])
  expectEach('deleteRegistration', [
    [204, await ask(path, { method: 'DELETE', headers: bearer(own) })],
    [401, await ask(path, { method: 'DELETE', headers: bearer(own) })],
  ])
})

// This test needs the results of the tests above.
test('the tests above compare the responses of every documented operation of the protocol [T1903]', async () => {
  await using other = await startServer({
    ...everything,
    trustedProxies: [],
    acceptUnsignedLeakReports: true,
  })
  const { operations } = await Contract.of(other)
  const documented = operations.filter(({ tags }) => !tags.includes('settings'))
  expect(documented.map(({ operationId }) => operationId).toSorted()).toEqual(
    [...compared].toSorted(),
  )
})
