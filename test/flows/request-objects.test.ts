import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { type ClientKey, jwksOf, newClientKey } from '../support/signing-client.ts'
import { UserAgent } from '../support/user-agent.ts'

// Two client libraries sign their authorization requests. They know the issuer, the client and its key, and nothing else.

let app: TestServer
let agent: UserAgent
let key: ClientKey
let clientId: string
beforeAll(async () => {
  app = await startServer({ openidConnect: true, requestObjects: true, clock: () => Date.now() })
  agent = new UserAgent()
  await agent.logIn(app)
  key = await newClientKey()
  const input = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: jwksOf(key) } as const
  clientId = (await app.client(input)).clientId
})
afterAll(() => app.close())

const signingKey = () => ({ key: key.privateKey, kid: key.jwk.kid ?? '' })

const asked = async (verifier: string) => ({
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  nonce: 'n-0S6',
  state: 'xyz',
  max_age: '3600',
  claims: '{"userinfo":{"email":null}}',
})

const configuration = () =>
  openid.discovery(new URL(app.issuer), clientId, {}, openid.PrivateKeyJwt(signingKey()), {
    execute: [openid.allowInsecureRequests],
  })

const finished = async (config: openid.Configuration, url: URL, verifier: string) => {
  const tokens = await openid.authorizationCodeGrant(config, await agent.authorize(app, url), {
    pkceCodeVerifier: verifier,
    expectedNonce: 'n-0S6',
    expectedState: 'xyz',
    maxAge: 3600,
  })
  return tokens.claims()?.sub
}

test('openid-client logs in with a signed request, whether it pushes the request or not [T3096]', async () => {
  const config = await configuration()
  const verifier = openid.randomPKCECodeVerifier()
  const parameters = await asked(verifier)
  const url = await openid.buildAuthorizationUrlWithJAR(config, parameters, signingKey())
  expect(url.searchParams.has('request')).toBe(true)
  expect(await finished(config, url, verifier)).toBe(String(app.user.id))
  const { searchParams } = await openid.buildAuthorizationUrlWithJAR(
    config,
    parameters,
    signingKey(),
  )
  const pushed = await openid.buildAuthorizationUrlWithPAR(config, searchParams)
  expect(pushed.searchParams.has('request_uri')).toBe(true)
  expect(await finished(config, pushed, verifier)).toBe(String(app.user.id))
})

test('oauth4webapi logs in with a signed request', async () => {
  const config = await configuration()
  const verifier = oauth.generateRandomCodeVerifier()
  const as = config.serverMetadata() as oauth.AuthorizationServer
  const request = await oauth.issueRequestObject(
    as,
    { client_id: clientId },
    await asked(verifier),
    signingKey(),
  )
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = new URLSearchParams({ client_id: clientId, request }).toString()
  expect(await finished(config, url, verifier)).toBe(String(app.user.id))
})
