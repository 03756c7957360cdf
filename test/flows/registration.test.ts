import * as oauth from 'oauth4webapi'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'

// Clients that know the issuer, and nothing else: neither an address nor credentials.

const insecure = { [oauth.allowInsecureRequests]: true }
const initialAccessToken = 'an-initial-access-token-of-this-test'

describe.each([
  { basePath: '', dynamicRegistration: 'open' },
  { basePath: '/app', dynamicRegistration: 'token' },
] as const)('registration $dynamicRegistration, an issuer with the path "$basePath"', (given) => {
  let app: TestServer
  let agent: UserAgent
  beforeAll(async () => {
    app = await startServer({ ...given, initialAccessToken })
    agent = new UserAgent()
  })
  afterAll(() => app.close())

  const initial = () =>
    given.dynamicRegistration === 'token' ? { initialAccessToken } : ({} as const)

  const metadata = (method: string) => ({
    redirect_uris: [redirectUri],
    client_name: 'Registered here',
    token_endpoint_auth_method: method,
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'notes:read user:email',
  })

  test.each(['client_secret_basic', 'client_secret_post', 'none'] as const)(
    'RFC 7591 §3 oauth4webapi discovers, registers, logs in and refreshes, by %s',
    async (method) => {
      const issuer = new URL(app.issuer)
      const as = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
      )
      const client = await oauth.processDynamicClientRegistrationResponse(
        await oauth.dynamicClientRegistrationRequest(as, metadata(method), {
          ...initial(),
          ...insecure,
        }),
      )
      const secret = String(client.client_secret)
      const authentication = {
        client_secret_basic: oauth.ClientSecretBasic(secret),
        client_secret_post: oauth.ClientSecretPost(secret),
        none: oauth.None(),
      }[method]

      const verifier = oauth.generateRandomCodeVerifier()
      const state = oauth.generateRandomState()
      const url = new URL(as.authorization_endpoint ?? '')
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: redirectUri,
        scope: 'notes:read',
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString()
      const callback = await agent.authorize(app, url)
      const tokens = await oauth.processAuthorizationCodeResponse(
        as,
        client,
        await oauth.authorizationCodeGrantRequest(
          as,
          client,
          authentication,
          oauth.validateAuthResponse(as, client, callback, state),
          redirectUri,
          verifier,
          insecure,
        ),
      )
      expect(await statusOf(app, tokens.access_token)).toBe(200)
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
      expect(await statusOf(app, rotated.access_token)).toBe(200)
    },
  )

  test.each<[string, Partial<oidc.ClientMetadata>, oidc.ClientAuth | undefined]>([
    ['as it does it by default', { token_endpoint_auth_method: undefined }, undefined],
    ['as a public client', { token_endpoint_auth_method: 'none' }, oidc.None()],
  ])(
    'RFC 7591 §3 openid-client discovers, registers, logs in and refreshes, %s',
    async (_how, more, authentication) => {
      const config = await oidc.dynamicClientRegistration(
        new URL(app.issuer),
        { ...metadata('none'), ...more },
        authentication,
        { algorithm: 'oauth2', execute: [oidc.allowInsecureRequests], ...initial() },
      )
      expect(config.clientMetadata().client_name).toBe('Registered here')
      const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
      const expectedState = oidc.randomState()
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'notes:read',
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
      })
      const callback = await agent.authorize(app, url)
      const tokens = await oidc.authorizationCodeGrant(config, callback, {
        pkceCodeVerifier,
        expectedState,
      })
      expect(await statusOf(app, tokens.access_token)).toBe(200)
      const rotated = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
      expect(await statusOf(app, rotated.access_token)).toBe(200)
      expect(await statusOf(app, tokens.access_token)).toBe(401)
    },
  )

  test('RFC 7591 §3.2.2 both understand a refusal', async () => {
    const refused = { ...metadata('none'), redirect_uris: ['http://client.example/cb'] }
    const options = { algorithm: 'oauth2' as const, execute: [oidc.allowInsecureRequests] }
    await expect(
      oidc.dynamicClientRegistration(new URL(app.issuer), refused, oidc.None(), {
        ...options,
        ...initial(),
      }),
    ).rejects.toMatchObject({ error: 'invalid_redirect_uri', status: 400 })
    const issuer = new URL(app.issuer)
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    )
    const answer = await oauth.dynamicClientRegistrationRequest(as, refused, {
      ...insecure,
      ...initial(),
    })
    await expect(oauth.processDynamicClientRegistrationResponse(answer)).rejects.toMatchObject({
      error: 'invalid_redirect_uri',
    })
  })
})

test('RFC 6750 §3 a client without the initial access token understands the challenge', async () => {
  await using app = await startServer({ dynamicRegistration: 'token', initialAccessToken })
  const issuer = new URL(app.issuer)
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
  )
  for (const given of [{}, { initialAccessToken: 'wrong' }]) {
    const request = { redirect_uris: [redirectUri] }
    const answer = await oauth.dynamicClientRegistrationRequest(as, request, {
      ...insecure,
      ...given,
    })
    await expect(oauth.processDynamicClientRegistrationResponse(answer)).rejects.toBeInstanceOf(
      oauth.WWWAuthenticateChallengeError,
    )
  }
})
