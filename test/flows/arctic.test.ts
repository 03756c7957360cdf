import { CodeChallengeMethod, generateCodeVerifier, generateState, OAuth2Client } from 'arctic'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'

describe('the client library arctic', () => {
  let app: TestServer
  let agent: UserAgent
  beforeAll(async () => {
    app = await startServer()
    agent = new UserAgent()
  })
  afterAll(() => app.close())

  const endpoint = (name: string) => `${app.issuer}/oauth/${name}`

  /** Asserts that the redirect contains the state. Returns the code of the redirect. */
  const codeFrom = async (url: URL, state: string): Promise<string> => {
    const response = await agent.authorize(app, url)
    expect(`${response.origin}${response.pathname}`).toBe(redirectUri)
    expect(response.searchParams.get('state')).toBe(state)
    return response.searchParams.get('code') ?? ''
  }

  test.each([
    { kind: 'confidential client with a Basic header', isConfidential: true },
    { kind: 'public client', isConfidential: false },
  ])('logs in with PKCE, refreshes and revokes as a $kind', async ({ isConfidential }) => {
    const { clientId, clientSecret } = await app.client({ isConfidential })
    const client = new OAuth2Client(clientId, isConfidential ? clientSecret : null, redirectUri)
    const state = generateState()
    const verifier = generateCodeVerifier()
    const url = client.createAuthorizationURLWithPKCE(
      endpoint('authorize'),
      state,
      CodeChallengeMethod.S256,
      verifier,
      ['notes:read', 'user:email'],
    )
    const tokens = await client.validateAuthorizationCode(
      endpoint('token'),
      await codeFrom(url, state),
      verifier,
    )
    expect(tokens.tokenType()).toBe('Bearer')
    expect(tokens.scopes()).toEqual(['notes:read', 'user:email'])
    expect(tokens.accessTokenExpiresAt().getTime()).toBeGreaterThan(Date.now())
    expect(await statusOf(app, tokens.accessToken())).toBe(200)

    const narrowed = await client.refreshAccessToken(endpoint('token'), tokens.refreshToken(), [
      'notes:read',
    ])
    expect(narrowed.scopes()).toEqual(['notes:read'])
    expect(await statusOf(app, narrowed.accessToken())).toBe(200)
    expect(await statusOf(app, tokens.accessToken())).toBe(401)

    await client.revokeToken(endpoint('revoke'), narrowed.refreshToken())
    expect(await statusOf(app, narrowed.accessToken())).toBe(401)
    await expect(
      client.refreshAccessToken(endpoint('token'), narrowed.refreshToken(), []),
    ).rejects.toMatchObject({ code: 'invalid_grant' })
  })

  test('logs in without PKCE as a confidential client', async () => {
    const { clientId, clientSecret } = await app.client()
    const client = new OAuth2Client(clientId, clientSecret, redirectUri)
    const state = generateState()
    const url = client.createAuthorizationURL(endpoint('authorize'), state, ['notes:read'])
    const code = await codeFrom(url, state)
    const tokens = await client.validateAuthorizationCode(endpoint('token'), code, null)
    expect(await statusOf(app, tokens.accessToken())).toBe(200)
  })

  test('reports the error invalid_client to the application', async () => {
    const { clientId } = await app.client()
    const client = new OAuth2Client(clientId, 'wrong', redirectUri)
    await expect(
      client.validateAuthorizationCode(endpoint('token'), 'x', null),
    ).rejects.toMatchObject({ code: 'invalid_client' })
  })
})
