import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { ping, UserAgent } from '../support/user-agent.ts'
import { serverAt } from './libraries/oauth4webapi.ts'

// Only oauth4webapi supports this grant. openid-client supports only the implicit grant of OpenID Connect.

describe('the implicit grant with oauth4webapi', () => {
  let app: TestServer
  let agent: UserAgent
  let as: oauth.AuthorizationServer
  beforeAll(async () => {
    app = await startServer()
    agent = new UserAgent()
    await agent.logIn(app)
    as = await serverAt(app.issuer)
  })
  afterAll(() => app.close())

  const authorizationUrl = (parameters: Record<string, string>): URL => {
    const url = new URL(as.authorization_endpoint ?? '')
    url.search = new URLSearchParams({ redirect_uri: redirectUri, ...parameters }).toString()
    return url
  }

  test('RFC 6749 §4.2 returns the access token, state and iss in the fragment, without a refresh token [T656]', async () => {
    const { clientId } = await app.client({ isConfidential: false })
    const url = authorizationUrl({
      response_type: 'token',
      client_id: clientId,
      scope: 'notes:read',
      state: 's',
    })
    const response = await agent.authorize(app, url)
    expect(response.search).toBe('')
    const parameters = oauth.validateAuthResponse(
      as,
      { client_id: clientId },
      new URLSearchParams(response.hash.slice(1)),
      's',
    )
    expect(Object.fromEntries(parameters)).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
      token_type: 'Bearer',
      expires_in: '3600',
      scope: 'notes:read',
      state: 's',
      iss: app.issuer,
    })
    expect(await ping(app, parameters.get('access_token') ?? '')).toBe(200)
  })

  test('RFC 6749 §4.2.2.1 returns an error both in the fragment and in the query', async () => {
    const { clientId } = await app.client()
    const url = authorizationUrl({ response_type: 'token', client_id: clientId, state: 's' })
    const response = await agent.authorize(app, url, 'no')
    for (const place of [response.search, response.hash]) {
      const work = () =>
        oauth.validateAuthResponse(
          as,
          { client_id: clientId },
          new URLSearchParams(place.slice(1)),
          's',
        )
      expect(work).toThrow(expect.objectContaining({ error: 'access_denied' }))
    }
  })
})
