import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'

const insecure = { [oauth.allowInsecureRequests]: true }

describe('oauth4webapi', () => {
  let app: TestServer
  let agent: UserAgent
  let as: oauth.AuthorizationServer
  beforeAll(async () => {
    app = await startServer({
      allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
    })
    agent = new UserAgent()
    await agent.logIn(app)
    const issuer = new URL(app.issuer)
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
    as = await oauth.processDiscoveryResponse(issuer, response)
  })
  afterAll(() => app.close())

  const authorizationUrl = (parameters: Record<string, string>): URL => {
    const url = new URL(as.authorization_endpoint ?? '')
    url.search = new URLSearchParams({ redirect_uri: redirectUri, ...parameters }).toString()
    return url
  }

  const notes = async (token: string): Promise<number> => {
    const url = new URL(`${app.issuer}/api/notes`)
    const response = await oauth
      .protectedResourceRequest(token, 'GET', url, undefined, undefined, insecure)
      .catch((error: unknown) => {
        if (error instanceof oauth.WWWAuthenticateChallengeError) return error.response
        throw error
      })
    await response.body?.cancel()
    return response.status
  }

  test.each([
    { kind: 'client_secret_basic', isConfidential: true },
    { kind: 'client_secret_post', isConfidential: true },
    { kind: 'none', isConfidential: false },
  ] as const)(
    'RFC 6749 §4.1, §6, RFC 7636, RFC 9207: code with PKCE, then refresh, by $kind',
    async (how) => {
      const { clientId, clientSecret } = await app.client({ isConfidential: how.isConfidential })
      const client: oauth.Client = { client_id: clientId }
      const authentication = {
        client_secret_basic: oauth.ClientSecretBasic(clientSecret),
        client_secret_post: oauth.ClientSecretPost(clientSecret),
        none: oauth.None(),
      }[how.kind]
      const verifier = oauth.generateRandomCodeVerifier()
      const state = oauth.generateRandomState()
      const url = authorizationUrl({
        response_type: 'code',
        client_id: clientId,
        scope: 'notes:read',
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      // The library insists on `iss`, since the metadata promises it.
      expect(as.authorization_response_iss_parameter_supported).toBe(true)
      const callback = oauth.validateAuthResponse(
        as,
        client,
        await agent.authorize(app, url),
        state,
      )
      const answer = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        authentication,
        callback,
        redirectUri,
        verifier,
        insecure,
      )
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer)
      expect(await notes(tokens.access_token)).toBe(200)

      const rotated = await oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(
          as,
          client,
          authentication,
          tokens.refresh_token ?? '',
          insecure,
        ),
      )
      expect(rotated.scope).toBe('notes:read')
      expect(await notes(rotated.access_token)).toBe(200)
      expect(await notes(tokens.access_token)).toBe(401)
    },
  )

  test('RFC 6749 §4.2 implicit: the token stands in the fragment, with state and iss, and no refresh token', async () => {
    const { clientId } = await app.client({ isConfidential: false })
    const url = authorizationUrl({
      response_type: 'token',
      client_id: clientId,
      scope: 'notes:read',
      state: 's',
    })
    const answer = await agent.authorize(app, url)
    expect(answer.search).toBe('')
    const parameters = oauth.validateAuthResponse(
      as,
      { client_id: clientId },
      new URLSearchParams(answer.hash.slice(1)),
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
    expect(await notes(parameters.get('access_token') ?? '')).toBe(200)
  })

  test('RFC 6749 §4.2.2.1 an implicit refusal stands in the fragment, and in the query as specified', async () => {
    const { clientId } = await app.client()
    const url = authorizationUrl({ response_type: 'token', client_id: clientId, state: 's' })
    const answer = await agent.authorize(app, url, 'no')
    for (const place of [answer.search, answer.hash]) {
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

  test('RFC 6749 §4.4, §4.3 client_credentials and password', async () => {
    const { clientId, clientSecret } = await app.client({ defaultScopes: ['notes:read'] })
    const client: oauth.Client = { client_id: clientId }
    const basic = oauth.ClientSecretBasic(clientSecret)
    const machine = await oauth.processClientCredentialsResponse(
      as,
      client,
      await oauth.clientCredentialsGrantRequest(as, client, basic, {}, insecure),
    )
    expect(machine.scope).toBe('notes:read')
    expect(await notes(machine.access_token)).toBe(200)

    const user = await oauth.processGenericTokenEndpointResponse(
      as,
      client,
      await oauth.genericTokenEndpointRequest(
        as,
        client,
        basic,
        'password',
        { username: app.user.email, password: app.password },
        insecure,
      ),
    )
    expect(user.scope).toBe('notes:read')
    expect(await notes(user.access_token)).toBe(200)
    expect(user.user).toEqual({ id: app.user.id })
  })

  test('RFC 9728 §3 the resource names this authorization server', async () => {
    const resource = new URL(app.issuer)
    const response = await oauth.resourceDiscoveryRequest(resource, insecure)
    const metadata = await oauth.processResourceDiscoveryResponse(resource, response)
    expect(metadata.authorization_servers).toEqual([app.issuer])
  })
})
