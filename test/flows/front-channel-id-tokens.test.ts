import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'

// Two certified client libraries log a user in with ID tokens of the authorization endpoint. They know only
// the issuer and the client.

let app: TestServer
let agent: UserAgent
let registered: { readonly clientId: string; readonly clientSecret: string }
beforeAll(async () => {
  app = await startServer({
    openidConnect: true,
    allowFrontChannelIdTokens: true,
    clock: () => Date.now(),
    claims: () => ({ name: 'Ada Lovelace' }),
  })
  agent = new UserAgent()
  await agent.logIn(app)
  registered = await app.client({ responseTypes: ['id_token', 'code id_token'] })
})
afterAll(() => app.close())

/** Completes the request in the browser. @returns what the client receives */
const answerTo = async (url: URL, mode: string): Promise<URL | Request> => {
  if (mode === 'fragment') return agent.authorize(app, url)
  url.searchParams.set('response_mode', mode)
  const page = await agent.browse(url)
  const isAsked = (await page.clone().text()).includes('authorization_request')
  const form = isAsked ? await agent.submit(page, { confirm: 'yes' }) : page
  const { action, hidden } = formIn(await form.text())
  return new Request(action, { method: 'POST', body: new URLSearchParams(hidden) })
}

describe.each(['fragment', 'form_post'])('openid-client with the mode %s', (mode) => {
  const discovered = (use: (config: openid.Configuration) => void) =>
    openid.discovery(new URL(app.issuer), registered.clientId, registered.clientSecret, undefined, {
      execute: [openid.allowInsecureRequests, use],
    })

  test('logs in with id_token', async () => {
    const config = await discovered(openid.useIdTokenResponseType)
    const [nonce, state] = [openid.randomNonce(), openid.randomState()]
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      nonce,
      state,
      max_age: '3600',
    })
    expect(url.searchParams.get('response_type')).toBe('id_token')
    const claims = await openid.implicitAuthentication(config, await answerTo(url, mode), nonce, {
      expectedState: state,
      maxAge: 3600,
    })
    expect(claims).toMatchObject({
      sub: String(app.user.id),
      name: 'Ada Lovelace',
      email: app.user.email,
    })
  })

  test('logs in with code id_token, reads userinfo, and refreshes [T3137]', async () => {
    const config = await discovered(openid.useCodeIdTokenResponseType)
    const verifier = openid.randomPKCECodeVerifier()
    const [nonce, state] = [openid.randomNonce(), openid.randomState()]
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      nonce,
      state,
    })
    expect(url.searchParams.get('response_type')).toBe('code id_token')
    const tokens = await openid.authorizationCodeGrant(config, await answerTo(url, mode), {
      pkceCodeVerifier: verifier,
      expectedNonce: nonce,
      expectedState: state,
    })
    const sub = tokens.claims()?.sub ?? ''
    const info = await openid.fetchUserInfo(config, tokens.access_token, sub)
    expect(info).toMatchObject({ name: 'Ada Lovelace' })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.claims()?.sub).toBe(sub)
  })
})

test('oauth4webapi validates the ID token and the hash of the code, and redeems the code [T3138]', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(app.issuer)
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, found)
  const client = { client_id: registered.clientId }
  const verifier = oauth.generateRandomCodeVerifier()
  const nonce = oauth.generateRandomNonce()
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = `${new URLSearchParams({
    client_id: registered.clientId,
    redirect_uri: redirectUri,
    response_type: 'code id_token',
    scope: 'openid',
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })}`
  const answer = await oauth.validateCodeIdTokenResponse(
    server,
    client,
    await agent.authorize(app, url),
    nonce,
    oauth.expectNoState,
    undefined,
    insecure,
  )
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.ClientSecretBasic(registered.clientSecret),
    answer,
    redirectUri,
    verifier,
    insecure,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  expect(await statusOf(app, tokens.access_token)).toBe(200)
})
