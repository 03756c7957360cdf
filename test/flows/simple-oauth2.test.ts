import { AuthorizationCode, ClientCredentials, ResourceOwnerPassword } from 'simple-oauth2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { newPkce, UserAgent } from '../support/user-agent.ts'

// The library does not support public clients, because it requires a secret.
describe.each([
  { by: 'client_secret_basic', authorizationMethod: 'header' },
  { by: 'client_secret_post', authorizationMethod: 'body' },
] as const)('the client library simple-oauth2 with $by', ({ authorizationMethod }) => {
  let app: TestServer
  let agent: UserAgent
  beforeAll(async () => {
    app = await startServer({
      allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
    })
    agent = new UserAgent()
  })
  afterAll(() => app.close())

  // The configuration needs no paths, because this server uses the default paths of the library.
  const configured = async (input = {}) => {
    const { clientId: id, clientSecret: secret } = await app.client(input)
    return {
      client: { id, secret },
      auth: { tokenHost: app.issuer },
      options: { authorizationMethod },
    }
  }

  test('logs in, refreshes and revokes', async () => {
    const client = new AuthorizationCode(await configured())
    const { verifier, challenge } = newPkce()
    const url = new URL(
      client.authorizeURL({ redirect_uri: redirectUri, scope: ['notes:read'], state: 's' }),
    )
    url.searchParams.set('code_challenge', challenge)
    url.searchParams.set('code_challenge_method', 'S256')
    const response = await agent.authorize(app, url)
    expect(response.searchParams.get('state')).toBe('s')
    const given = {
      code: response.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    const first = await client.getToken(given)
    expect(first.token.scope).toBe('notes:read')
    expect(first.expired()).toBe(false)
    expect(await statusOf(app, String(first.token.access_token))).toBe(200)

    const second = await first.refresh()
    expect(await statusOf(app, String(second.token.access_token))).toBe(200)

    await second.revokeAll()
    expect(await statusOf(app, String(second.token.access_token))).toBe(401)
    await expect(second.refresh()).rejects.toMatchObject({
      data: { payload: { error: 'invalid_grant' } },
    })
  })

  test('logs in without PKCE, and revokes the refresh token', async () => {
    const client = new AuthorizationCode(await configured())
    const url = client.authorizeURL({ redirect_uri: redirectUri, scope: 'notes:read', state: 's' })
    const response = await agent.authorize(app, url)
    const code = response.searchParams.get('code') ?? ''
    const token = await client.getToken({ code, redirect_uri: redirectUri })
    await token.revoke('refresh_token')
    expect(await statusOf(app, String(token.token.access_token))).toBe(401)
  })

  test('requests tokens with the client_credentials and password grants', async () => {
    const machine = new ClientCredentials(await configured({ defaultScopes: ['notes:read'] }))
    const own = await machine.getToken({ scope: 'notes:read' })
    expect(await statusOf(app, String(own.token.access_token))).toBe(200)
    const { email: username } = app.user
    const password = new ResourceOwnerPassword(await configured())
    const users = await password.getToken({ username, password: app.password, scope: 'notes:read' })
    expect(await statusOf(app, String(users.token.access_token))).toBe(200)
  })

  test('reports the error invalid_client to the application', async () => {
    const { client, ...rest } = await configured()
    const wrong = new AuthorizationCode({ ...rest, client: { ...client, secret: 'wrong' } })
    await expect(wrong.getToken({ code: 'x', redirect_uri: redirectUri })).rejects.toMatchObject({
      output: { statusCode: 401 },
      data: { payload: { error: 'invalid_client' } },
    })
  })
})
