import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'

/** The client library as an application uses it: told the issuer and its own credentials, and nothing else. */
const discovered = (
  { issuer }: TestServer,
  clientId: string,
  authentication: oidc.ClientAuth,
): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [oidc.allowInsecureRequests],
  })

const errorOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof oidc.ResponseBodyError) return `${error.status} ${error.error}`
  if (error instanceof oidc.AuthorizationResponseError) return `redirected ${error.error}`
  if (error instanceof oidc.WWWAuthenticateChallengeError)
    return `${error.status} ${error.cause[0]?.scheme} ${error.cause[0]?.parameters.error}`
  throw error ?? new Error('Nothing was refused.')
}

describe.each(['', '/app'])('openid-client, an issuer with the path "%s"', (basePath) => {
  let app: TestServer
  let agent: UserAgent
  beforeAll(async () => {
    app = await startServer({
      basePath,
      allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
    })
    agent = new UserAgent()
    await agent.logIn(app)
  })
  afterAll(() => app.close())

  const me = async (config: oidc.Configuration, token: string): Promise<unknown> =>
    (
      await oidc.fetchProtectedResource(config, token, new URL(`${app.issuer}/oauth/info`), 'GET')
    ).json()

  test.each([
    { kind: 'client_secret_basic', isConfidential: true },
    { kind: 'client_secret_post', isConfidential: true },
    { kind: 'none', isConfidential: false },
  ] as const)(
    'RFC 6749 §4.1, §6, RFC 7636: code with PKCE, then refresh, by $kind',
    async (how) => {
      const { clientId, clientSecret } = await app.client({
        isConfidential: how.isConfidential,
        tokenEndpointAuthMethod: how.kind,
      })
      const authentication = {
        client_secret_basic: oidc.ClientSecretBasic(clientSecret),
        client_secret_post: oidc.ClientSecretPost(clientSecret),
        none: oidc.None(),
      }[how.kind]
      const config = await discovered(app, clientId, authentication)
      expect(config.serverMetadata().supportsPKCE()).toBe(true)
      expect(config.serverMetadata().token_endpoint_auth_methods_supported).toContain(how.kind)

      const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
      const expectedState = oidc.randomState()
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'notes:read user:email',
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
      })
      const callback = await agent.authorize(app, url)
      const tokens = await oidc.authorizationCodeGrant(config, callback, {
        pkceCodeVerifier,
        expectedState,
      })
      expect(tokens.token_type).toBe('bearer')
      expect(tokens.expires_in).toBe(3600)
      expect(tokens.scope).toBe('notes:read user:email')
      expect(await me(config, tokens.access_token)).toEqual({
        user: { id: app.user.id },
        client: { client_id: clientId, name: 'Client' },
        scopes: ['notes:read', 'user:email'],
      })

      const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', {
        scope: 'notes:read',
      })
      expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
      expect(refreshed.scope).toBe('notes:read')
      expect(await me(config, refreshed.access_token)).toMatchObject({ scopes: ['notes:read'] })
      expect(await errorOf(me(config, tokens.access_token))).toBe('401 bearer invalid_token')

      const once = oidc.authorizationCodeGrant(config, callback, {
        pkceCodeVerifier,
        expectedState,
      })
      expect(await errorOf(once)).toBe('400 invalid_grant')
      expect(await errorOf(me(config, refreshed.access_token))).toBe('401 bearer invalid_token')
    },
  )

  test('RFC 6749 §4.4 client_credentials', async () => {
    const { clientId, clientSecret } = await app.client({ defaultScopes: ['notes:read'] })
    const config = await discovered(app, clientId, oidc.ClientSecretBasic(clientSecret))
    const tokens = await oidc.clientCredentialsGrant(config, { scope: 'notes:read' })
    expect(tokens.refresh_token).toBeUndefined()
    expect(await me(config, tokens.access_token)).toMatchObject({ user: { id: app.user.id } })
    const wider = oidc.clientCredentialsGrant(config, { scope: 'notes:write' })
    expect(await errorOf(wider)).toBe('400 invalid_scope')
  })

  test('RFC 6749 §4.3 password, which is switched on here', async () => {
    const { clientId, clientSecret } = await app.client()
    const config = await discovered(app, clientId, oidc.ClientSecretPost(clientSecret))
    const credentials = { username: app.user.email, password: app.password, scope: 'notes:read' }
    const tokens = await oidc.genericGrantRequest(config, 'password', credentials)
    expect(await me(config, tokens.access_token)).toMatchObject({ scopes: ['notes:read'] })
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.scope).toBe('notes:read')
    const wrong = { ...credentials, password: 'wrong' }
    expect(await errorOf(oidc.genericGrantRequest(config, 'password', wrong))).toBe(
      '400 invalid_grant',
    )
  })

  test('RFC 6749 §5.2 a wrong secret is invalid_client, with a challenge where Basic was used', async () => {
    const { clientId } = await app.client()
    const basic = await discovered(app, clientId, oidc.ClientSecretBasic('wrong'))
    expect(await errorOf(oidc.clientCredentialsGrant(basic))).toBe('401 basic undefined')
    const post = await discovered(app, clientId, oidc.ClientSecretPost('wrong'))
    expect(await errorOf(oidc.clientCredentialsGrant(post))).toBe('401 invalid_client')
  })

  test('RFC 6749 §4.1.2.1 a refusal reaches the client as access_denied', async () => {
    const { clientId, clientSecret } = await app.client()
    const config = await discovered(app, clientId, oidc.ClientSecretBasic(clientSecret))
    const url = oidc.buildAuthorizationUrl(config, { redirect_uri: redirectUri, state: 's' })
    const callback = await agent.authorize(app, url, 'no')
    const work = oidc.authorizationCodeGrant(config, callback, { expectedState: 's' })
    expect(await errorOf(work)).toBe('redirected access_denied')
  })
})
