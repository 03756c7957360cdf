import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'

// Two certified client libraries log a user in, refresh and log out. They know only the issuer and the client.

const returnUri = 'https://client.example/logged-out'

let app: TestServer
let agent: UserAgent
let registered: { readonly clientId: string; readonly clientSecret: string }
beforeAll(async () => {
  app = await startServer({
    openidConnect: true,
    clock: () => Date.now(),
    claims: () => ({ name: 'Ada Lovelace' }),
  })
  agent = new UserAgent()
  await agent.logIn(app)
  registered = await app.client({ openid: { post_logout_redirect_uris: [returnUri] } })
})
afterAll(() => app.close())

/** Sends the browser to the end session endpoint. @returns the target of the redirect */
const logOut = async (url: URL): Promise<string | null> => {
  const answer = await agent.browse(url)
  await agent.logIn(app)
  return answer.headers.get('location')
}

describe('openid-client', () => {
  test.each(['query', 'form_post'])(
    'logs in with %s, refreshes, logs out and revokes [T1600]',
    async (mode) => {
      const config = await openid.discovery(
        new URL(app.issuer),
        registered.clientId,
        registered.clientSecret,
        undefined,
        { execute: [openid.allowInsecureRequests] },
      )
      const verifier = openid.randomPKCECodeVerifier()
      const [nonce, state] = [openid.randomNonce(), openid.randomState()]
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        nonce,
        state,
        max_age: '3600',
        ...(mode === 'form_post' && { response_mode: mode }),
      })
      const tokens = await openid.authorizationCodeGrant(config, await answerTo(url, mode), {
        pkceCodeVerifier: verifier,
        expectedNonce: nonce,
        expectedState: state,
        maxAge: 3600,
      })
      const sub = tokens.claims()?.sub ?? ''
      expect(sub).toBe(String(app.user.id))
      const info = await openid.fetchUserInfo(config, tokens.access_token, sub)
      expect(info).toMatchObject({ name: 'Ada Lovelace', email: app.user.email })
      const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
      expect(refreshed.claims()?.sub).toBe(sub)
      const end = openid.buildEndSessionUrl(config, {
        id_token_hint: refreshed.id_token ?? '',
        post_logout_redirect_uri: returnUri,
        state: 'bye',
      })
      expect(await statusOf(app, refreshed.access_token)).toBe(200)
      expect(await logOut(end)).toBe(`${returnUri}?state=bye`)
      expect(await statusOf(app, refreshed.access_token)).toBe(401)

      const again = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid',
        ...(mode === 'form_post' && { response_mode: mode }),
      })
      const more = await openid.authorizationCodeGrant(config, await answerTo(again, mode))
      await openid.tokenRevocation(config, more.refresh_token ?? '')
      expect(await statusOf(app, more.access_token)).toBe(401)
    },
  )
})

/** Completes the request in the browser. @returns what the client receives */
const answerTo = async (url: URL, mode: string): Promise<URL | Request> => {
  if (mode === 'query') return agent.authorize(app, url)
  const page = await agent.browse(url)
  const isForm = !(await page.clone().text()).includes('authorization_request')
  const form = isForm ? page : await agent.submit(page, { confirm: 'yes' })
  const { formIn } = await import('../support/user-agent.ts')
  const { action, hidden } = formIn(await form.text())
  return new Request(action, { method: 'POST', body: new URLSearchParams(hidden) })
}

describe('oauth4webapi', () => {
  test('logs in like the OpenID Connect example of the library, and validates every response [T1601]', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const issuer = new URL(app.issuer)
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure })
    const server = await oauth.processDiscoveryResponse(issuer, found)
    const client = { client_id: registered.clientId }
    const authentication = oauth.ClientSecretBasic(registered.clientSecret)
    const verifier = oauth.generateRandomCodeVerifier()
    const nonce = oauth.generateRandomNonce()
    const url = new URL(server.authorization_endpoint ?? '')
    url.search = `${new URLSearchParams({
      client_id: registered.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email',
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })}`
    const answer = oauth.validateAuthResponse(server, client, await agent.authorize(app, url))
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      answer,
      redirectUri,
      verifier,
      insecure,
    )
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    // Verifies the signature with the published keys.
    await oauth.validateApplicationLevelSignature(server, response, insecure)
    const { sub = '' } = oauth.getValidatedIdTokenClaims(tokens) ?? {}
    const info = await oauth.userInfoRequest(server, client, tokens.access_token, insecure)
    expect(await oauth.processUserInfoResponse(server, client, sub, info)).toMatchObject({
      email: app.user.email,
    })
    const refresh = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      tokens.refresh_token ?? '',
      insecure,
    )
    const refreshed = await oauth.processRefreshTokenResponse(server, client, refresh)
    expect(oauth.getValidatedIdTokenClaims(refreshed)?.sub).toBe(sub)
    expect(await statusOf(app, refreshed.access_token)).toBe(200)
    const revoked = await oauth.revocationRequest(
      server,
      client,
      authentication,
      refreshed.refresh_token ?? '',
      insecure,
    )
    await oauth.processRevocationResponse(revoked)
    expect(await statusOf(app, refreshed.access_token)).toBe(401)
    // The library has no function for a logout, but finds the endpoint.
    const end = new URL(server.end_session_endpoint ?? '')
    end.searchParams.set('id_token_hint', refreshed.id_token ?? '')
    end.searchParams.set('post_logout_redirect_uri', returnUri)
    expect(await logOut(end)).toBe(returnUri)
  })
})

// A client that reads only the ID token can receive the claims of the user in two ways.
test.each([
  ['requests them with the parameter claims', false],
  ['receives them from a server with userClaimsInIdToken', true],
])('a client that does not read userinfo %s [T2721]', async (_, userClaimsInIdToken) => {
  await using site = await startServer({
    openidConnect: true,
    clock: () => Date.now(),
    claims: () => ({ name: 'Ada Lovelace' }),
    userClaimsInIdToken,
  })
  const { clientId, clientSecret } = await site.client()
  const insecure = { execute: [openid.allowInsecureRequests] }
  const issuer = new URL(site.issuer)
  const config = await openid.discovery(issuer, clientId, clientSecret, undefined, insecure)
  const claims = JSON.stringify({ id_token: { email: null, name: null } })
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    ...(!userClaimsInIdToken && { claims }),
  })
  const answer = await new UserAgent().authorize(site, url)
  const tokens = await openid.authorizationCodeGrant(config, answer)
  expect(tokens.claims()).toMatchObject({ email: site.user.email, name: 'Ada Lovelace' })
})
