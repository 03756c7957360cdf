import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Device, decideOn, enterCode } from '../support/device.ts'
import { startServer, type TestServer, testScopes } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { refusal, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

const scope = 'offline_access notes:read'

let app: TestServer
beforeAll(async () => {
  app = await startServer({
    allowedGrantTypes: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
    deviceAuthorization: true,
    tokenExchange: true,
  })
})
afterAll(() => app.close())

const newClient = () =>
  TestClient.register(app, new UserAgent(), {
    defaultScopes: ['notes:read'],
    redirectUris: ['https://client.example/cb'],
  })

describe('offline_access as an unregistered scope', () => {
  test('is accepted at the authorization and token endpoints, and neither shown, stored nor returned [T1405]', async () => {
    const client = await newClient()
    await client.agent.logIn(app)
    const page = await (await client.agent.browse(client.url({ scope }))).text()
    expect(page).toContain('Read your notes')
    expect(page).not.toMatch(/offline/i)
    const tokens = await client.tokens({ scope })
    expect(tokens).toMatchObject({ scope: 'notes:read', refresh_token: expect.any(String) })
    const refreshed = await client.refresh(tokens.refresh_token, { scope })
    expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'notes:read'])
    const rows = await app.query('select * from oauth2server_authorization')
    expect(JSON.stringify(rows)).not.toContain('offline_access')
    const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    expect(await metadata.text()).not.toContain('offline_access')
  })

  test('without other scopes is equivalent to an omitted scope [T1406]', async () => {
    const client = await newClient()
    const tokens = await client.tokens({ scope: 'offline_access' })
    expect(tokens.scope).toBe('notes:read')
    const refreshed = await client.refresh(tokens.refresh_token, { scope: 'offline_access' })
    expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'notes:read'])
  })

  test('does not make an unknown scope valid [T1407]', async () => {
    const client = await newClient()
    const answer = responseTo(client, await client.ask({ scope: `${scope} nope` }))
    expect(answer).toMatchObject({
      error: 'invalid_scope',
      error_description: 'The scope nope is unknown, or this client may not request it.',
    })
    const given = { grant_type: 'client_credentials', scope: 'offline_access:x' }
    expect(refusal(await client.token(given))).toBe('400 invalid_scope')
  })

  test.each([
    ['client_credentials', {}],
    ['password', { username: 'user-a@example.org', password: 'PASSWORD' }],
  ])('is accepted with the grant type %s [T1408]', async (grant_type, given) => {
    const client = await newClient()
    const password = 'password' in given ? { password: app.password } : {}
    const { status, body } = await client.token({ grant_type, scope, ...given, ...password })
    expect([status, body.scope]).toEqual([200, 'notes:read'])
  })

  test('is accepted in a token exchange [T1412]', async () => {
    const client = await newClient()
    const { status, body } = await client.token({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: (await client.tokens()).access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope,
    })
    expect([status, body.scope]).toEqual([200, 'notes:read'])
  })

  test('is accepted in a pushed request [T1409]', async () => {
    const client = await newClient()
    const { clientId, clientSecret } = client
    const pushed = await fetch(`${app.issuer}/oauth/par`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URL(client.url({ scope })).searchParams,
    })
    expect(pushed.status).toBe(201)
    const { request_uri } = (await pushed.json()) as { request_uri: string }
    const url = `${app.issuer}/oauth/authorize?${new URLSearchParams({ client_id: clientId, request_uri })}`
    const { searchParams } = await client.agent.authorize(app, url)
    const { body } = await client.redeem(searchParams.get('code') ?? '')
    expect(body.scope).toBe('notes:read')
  })

  test('is accepted in a device authorization request [T1410]', async () => {
    const device = await Device.register(app)
    const codes = await device.codes({ scope })
    const person = await logIn(app)
    expect((await enterCode(app, person, codes.user_code)).html).not.toMatch(/offline/i)
    await decideOn(app, person, codes)
    app.advance(codes.interval)
    expect((await device.poll(codes)).body.scope).toBe('notes:read')
  })
})

test('offline_access, if it is registered, is granted like any other scope [T1411]', async () => {
  const offline = new Scope('offline_access', { helpText: 'Work while you are away' })
  await using place = await startServer({ scopes: [...testScopes, offline] })
  const client = await TestClient.register(place, new UserAgent())
  await client.agent.logIn(place)
  const page = await (await client.agent.browse(client.url({ scope }))).text()
  expect(page).toContain('Work while you are away')
  expect((await client.tokens({ scope })).scope.split(' ').sort()).toEqual([
    'notes:read',
    'offline_access',
  ])
})
