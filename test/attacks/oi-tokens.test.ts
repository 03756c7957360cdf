import type { IncomingMessage } from 'node:http'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deviceGrant } from '../support/device.ts'
import { postForm } from '../support/form.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import {
  assertionOf,
  type ClientKey,
  jwksOf,
  jwtBearer,
  newClientKey,
} from '../support/signing-client.ts'
import {
  formIn,
  ping,
  responseTo,
  TestClient,
  type TokenBody,
  UserAgent,
} from '../support/user-agent.ts'

// Genuine JWTs of another purpose, client, user or issuer. The file oi.test.ts tests forged JWTs.

const returnUri = 'https://client.example/logged-out'
const openid = { post_logout_redirect_uris: [returnUri] } as const

let site: RemoteSite
let app: TestServer
let agent: UserAgent
let client: TestClient
let tokens: TokenBody
let idToken: string
let logoutToken: string
let key: ClientKey

const options = { openidConnect: true, accessTokenFormat: 'jwt', tokenExchange: true } as const

beforeAll(async () => {
  site = await remoteSite()
  app = await startServer({
    ...options,
    deviceAuthorization: true,
    outbound: site.outbound,
    dangerouslyAllowPrivateAddresses: true,
  })
  key = await newClientKey()
  logoutToken = await newLogoutToken()
  agent = new UserAgent()
  await agent.logIn(app)
  client = await TestClient.register(app, agent, { openid })
  tokens = await client.tokens({ scope: 'openid notes:read' })
  idToken = tokens.id_token ?? ''
})
afterAll(async () => {
  await app.close()
  await site.close()
})

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/** Returns a logout token that the server sent to another client, whose session has ended. */
const newLogoutToken = async (): Promise<string> => {
  const received = Promise.withResolvers<string>()
  site.respond('/logout', async (request, response) => {
    received.resolve(new URLSearchParams(await textOf(request)).get('logout_token') ?? '')
    response.writeHead(200).end()
  })
  const elsewhere = new UserAgent()
  await elsewhere.logIn(app)
  const listening = await TestClient.register(app, elsewhere, {
    openid: { backchannel_logout_uri: site.url('/logout') },
  })
  const { id_token: id_token_hint = '' } = await listening.tokens({ scope: 'openid' })
  await elsewhere.fetch(`${app.issuer}/oauth/logout?${new URLSearchParams({ id_token_hint })}`)
  return received.promise
}

const userinfo = async (token: string): Promise<Response> =>
  fetch(`${app.issuer}/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } })

/** Returns the signed userinfo response of a client, and an ID token of the same client. */
const signedUserinfo = async () => {
  const signed = await TestClient.register(app, agent, {
    openid: { ...openid, userinfo_signed_response_alg: 'RS256' },
  })
  const { access_token, id_token = '' } = await signed.tokens({ scope: 'openid' })
  const answer = await userinfo(access_token)
  expect(answer.headers.get('content-type')).toBe('application/jwt')
  return { signed, id_token, jwt: await answer.text() }
}

/** Returns the parameters of the response to an authorization request with a hint, without any page. */
const authorizing = async (
  asking: TestClient,
  given: Record<string, string>,
  browser = agent,
): Promise<Record<string, string>> => {
  const page = await browser.browse(asking.url({ scope: 'openid', prompt: 'none', ...given }))
  return responseTo(asking, new URL(page.headers.get('location') ?? '', page.address))
}

const logout = (given: Record<string, string>, browser = agent): Promise<Response> =>
  browser.fetch(`${app.issuer}/oauth/logout?${new URLSearchParams(given)}`)

const isLoggedIn = async (browser = agent): Promise<boolean> =>
  (await browser.fetch(`${app.issuer}/account/settings/applications/`)).status === 200

const expectNoHint = async (asking: TestClient, hint: string): Promise<void> => {
  const answer = await authorizing(asking, { id_token_hint: hint })
  expect(answer).toMatchObject({ error: 'invalid_request', iss: app.issuer })
  const given = { id_token_hint: hint, post_logout_redirect_uri: returnUri }
  const refused = await logout(given)
  expect([refused.status, refused.headers.get('location')]).toEqual([400, null])
  expect(await isLoggedIn()).toBe(true)
}

describe('genuine JWTs as hints', () => {
  test('OI-01 rejects an access token, a logout token and the JWT of a session as hints [T2860]', async () => {
    const { jwt } = await logIn(app)
    expect(decodeProtectedHeader(logoutToken).typ).toBe('logout+jwt')
    for (const hint of [tokens.access_token, logoutToken, jwt]) await expectNoHint(client, hint)
  })

  test('OI-01 rejects a signed userinfo response as a hint, although it has the keys and the audience of an ID token [T2861]', async () => {
    const { signed, id_token, jwt } = await signedUserinfo()
    expect(decodeJwt(jwt)).toMatchObject({ iss: app.issuer, aud: signed.clientId })
    expect(await authorizing(signed, { id_token_hint: id_token })).toHaveProperty('code')
    await expectNoHint(signed, jwt)
  })

  test('OI-01 rejects an assertion of the client as a hint [T2862]', async () => {
    const signing = await app.client({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(key),
      openid,
    })
    const about = { sub: String(app.user.id), aud: signing.clientId, iss: app.issuer }
    const own = await assertionOf(app, signing.clientId, key)
    const posing = await assertionOf(app, signing.clientId, key, about, { typ: 'JWT' })
    const asking = new TestClient(
      app,
      agent,
      { ...signing, redirectUri: client.redirectUri },
      'none',
    )
    for (const hint of [own, posing]) await expectNoHint(asking, hint)
  })

  test('OI-01 rejects an ID token of another issuer with the same keys as a hint [T2863]', async () => {
    await using other = await startServer({ ...options, beside: app, basePath: '/other' })
    const browser = new UserAgent()
    await browser.logIn(other)
    const same = { ...client, clientId: client.clientId, clientSecret: client.clientSecret }
    const there = new TestClient(other, browser, same, 'basic')
    const { id_token = '' } = await there.tokens({ scope: 'openid' })
    expect(decodeJwt(id_token)).toMatchObject({ iss: other.issuer, aud: client.clientId })
    expect(decodeProtectedHeader(id_token).kid).toBe(decodeProtectedHeader(idToken).kid)
    await expectNoHint(client, id_token)
  })

  test('OI-01 rejects an ID token for another client as a hint, with any client_id [T2864]', async () => {
    const other = await TestClient.register(app, agent)
    const { id_token: foreign = '' } = await other.tokens({ scope: 'openid' })
    await expectNoHint(client, foreign)
    for (const client_id of [client.clientId, other.clientId, 'unknown']) {
      const given = { id_token_hint: foreign, client_id, post_logout_redirect_uri: returnUri }
      const answer = await logout(given)
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    }
    expect(await isLoggedIn()).toBe(true)
  })

  test('OI-01 an ID token of another user neither logs in nor out [T2865]', async () => {
    const user = await app.newUser({ email: 'other@example.org' })
    const browser = new UserAgent()
    await browser.logIn({ ...app, user })
    expect(await authorizing(client, { id_token_hint: idToken }, browser)).toMatchObject({
      error: 'login_required',
    })
    const given = { id_token_hint: idToken, post_logout_redirect_uri: returnUri, state: 's' }
    const page = await logout(given, browser)
    expect([page.status, page.headers.get('location')]).toEqual([200, null])
    expect(formIn(await page.text()).hidden).toHaveProperty('logout_request')
    expect([await isLoggedIn(browser), await isLoggedIn()]).toEqual([true, true])
  })

  test('OI-01 rejects an ID token as a hint after its key was removed [T2866]', async () => {
    await using aged = await startServer({ ...options, signingKeyExpiresIn: 3_600 })
    const browser = new UserAgent()
    await browser.logIn(aged)
    const old = await TestClient.register(aged, browser, { openid })
    const { id_token: hint = '' } = await old.tokens({ scope: 'openid' })
    const kids = async () => {
      const answer = await fetch(`${aged.issuer}/oauth/jwks`)
      return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid)
    }
    const { kid = '' } = decodeProtectedHeader(hint)
    aged.advance(3_601)
    expect(await kids()).toContain(kid)
    aged.advance(2 * 86_400)
    await aged.server.sweep()
    aged.advance(60)
    expect(await kids()).not.toContain(kid)
    const later = new UserAgent()
    await later.logIn(aged)
    expect(await authorizing(old, { id_token_hint: hint }, later)).toMatchObject({
      error: 'invalid_request',
    })
    const given = { id_token_hint: hint, post_logout_redirect_uri: returnUri }
    const answer = await later.fetch(`${aged.issuer}/oauth/logout?${new URLSearchParams(given)}`)
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })
})

describe('genuine JWTs as other credentials', () => {
  test('OI-02 rejects tokens of this server as assertions of a client that registered the keys of this server [T2867]', async () => {
    const jwks = await (await fetch(`${app.issuer}/oauth/jwks`)).text()
    const method = { tokenEndpointAuthMethod: 'private_key_jwt' } as const
    const { clientId } = await app.client({ ...method, jwks, openid })
    const posing = [idToken, tokens.access_token, logoutToken, (await signedUserinfo()).jwt]
    for (const path of ['token', 'introspect', 'revoke', 'par']) {
      for (const client_assertion of posing) {
        const { body } = await postForm(`${app.issuer}/oauth/${path}`, {
          grant_type: 'client_credentials',
          token: idToken,
          client_id: clientId,
          client_assertion,
          client_assertion_type: jwtBearer,
        })
        expect([path, body.error]).toEqual([path, 'invalid_client'])
      }
    }
  })

  test('OI-02 rejects logout tokens, userinfo responses and client assertions as access tokens [T2868]', async () => {
    const { clientId } = await app.client({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(key),
    })
    const claims = { sub: String(app.user.id), scope: 'openid', client_id: clientId }
    const header = { typ: 'at+jwt', kid: decodeProtectedHeader(tokens.access_token).kid }
    const assertions = [
      await assertionOf(app, clientId, key),
      await assertionOf(app, clientId, key, { ...claims, iss: app.issuer }, header),
    ]
    const { jwt } = await signedUserinfo()
    for (const token of [logoutToken, jwt, ...assertions]) {
      expect(await ping(app, token)).toBe(401)
      expect((await userinfo(token)).status).toBe(401)
      expect((await client.refresh(token)).body.error).toBe('invalid_grant')
      const { body } = await postForm(`${app.issuer}/oauth/introspect`, {
        token,
        client_id: client.clientId,
        client_secret: client.clientSecret,
      })
      expect(body).toEqual({ active: false })
    }
    expect(await ping(app, tokens.access_token)).toBe(200)
  })

  test('OI-02 rejects an ID token in a token exchange, as a device code and as a DPoP proof [T2869]', async () => {
    const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange'
    for (const type of ['id_token', 'access_token', 'jwt']) {
      const { status, body } = await client.token({
        grant_type,
        subject_token: idToken,
        subject_token_type: `urn:ietf:params:oauth:token-type:${type}`,
      })
      expect([type, status, body.error]).toEqual([type, 400, 'invalid_request'])
    }
    const device = await client.token({ grant_type: deviceGrant, device_code: idToken })
    expect(device.body.error).toBe('invalid_grant')
    const answer = await fetch(`${app.issuer}/oauth/ping`, {
      headers: { authorization: `DPoP ${tokens.access_token}`, dpop: idToken },
    })
    expect(answer.status).toBe(401)
  })
})

describe('mix-up', () => {
  test('OI-04 names the issuer in a form_post response, also in an error [T2870]', async () => {
    const fields = async (given: Record<string, string>) => {
      const url = client.url({ scope: 'openid', response_mode: 'form_post', ...given })
      return formIn(await (await agent.browse(url)).text()).hidden
    }
    expect(await fields({})).toMatchObject({ code: expect.any(String), iss: app.issuer })
    const foreign = await fields({ id_token_hint: tokens.access_token })
    expect(foreign).toMatchObject({ error: 'invalid_request', iss: app.issuer })
  })
})
