import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { authorizeUrl, newPkce, tokenRequest, UserAgent } from '../support/user-agent.ts'

describe('the authorization code flow without a client library', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  test('RFC 6749 §4.1 supports login, consent, token request, access to a resource, and refresh [T017]', async () => {
    const client = await app.client()
    const { verifier, challenge } = newPkce()
    const url = authorizeUrl(app.issuer, {
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read user:email',
      state: 'xyz',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const response = await new UserAgent().authorize(app, url)
    expect(response.origin + response.pathname).toBe(redirectUri)
    expect(response.searchParams.get('state')).toBe('xyz')
    expect(response.searchParams.get('iss')).toBe(app.issuer)
    const code = response.searchParams.get('code') ?? ''

    const issued = await tokenRequest(
      app.issuer,
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      },
      { basic: client },
    )
    expect(issued.status).toBe(200)
    expect(issued.body).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'notes:read user:email',
      refresh_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
      user: { id: app.user.id, email: app.user.email, email_verified: true },
    })
    const me = await fetch(`${app.issuer}/api/me`, {
      headers: { authorization: `Bearer ${issued.body.access_token}` },
    })
    expect(await me.json()).toEqual({
      id: app.user.id,
      email: app.user.email,
      kind: 'access_token',
    })

    const refreshed = await tokenRequest(
      app.issuer,
      { grant_type: 'refresh_token', refresh_token: String(issued.body.refresh_token) },
      { basic: client },
    )
    expect(refreshed.status).toBe(200)
  })
})
