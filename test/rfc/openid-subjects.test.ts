import { decodeJwt } from 'jose'
import type { ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { accessClaims, refreshClaims } from '../../src/model/entities/token.ts'
import {
  type AttackedServer,
  startAttacked,
  storeNames,
} from '../attacks/support/database-writer.ts'
import { Device, decideOn } from '../support/device.ts'
import { basicOf, postForm } from '../support/form.ts'
import { storeOf } from '../support/internals.ts'
import { receiveLogoutTokens } from '../support/logout-tokens.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { isOnNodes, secretKey, startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { responseTo, TestClient, type TokenBody, UserAgent } from '../support/user-agent.ts'

// OpenID Connect Core 1.0 §8: subjects. The sector of a pairwise subject must be proved, and a pairwise client learns no
// other identifier of the user.

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code'
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const responseTypes = ['code', 'token', 'id_token', 'code id_token', 'id_token token'] as const

const pairwise = (
  uris: readonly string[],
  more: Partial<ClientInput> = {},
): Partial<ClientInput> => ({
  redirectUris: uris,
  ...more,
  openid: { subject_type: 'pairwise', ...more.openid },
})

/** The claims of every JWT in a text. */
const claimsIn = (text: string): string =>
  [...text.matchAll(/eyJ[\w-]+\.[\w-]+\.[\w-]*/g)]
    .map(([jwt]) => JSON.stringify(decodeJwt(jwt)))
    .join('\n')

const subOf = ({ id_token = '' }: Pick<TokenBody, 'id_token'>) => decodeJwt(id_token).sub

describe.each(storeNames)('Core §8 on %s', (store) => {
  let site: RemoteSite
  let it: AttackedServer
  let app: TestServer
  let agent: UserAgent
  beforeAll(async () => {
    site = await remoteSite()
    it = await startAttacked(store, {
      openidConnect: true,
      allowFrontChannelIdTokens: true,
      accessTokenFormat: 'jwt',
      tokenExchange: true,
      deviceAuthorization: true,
      introspection: true,
      dynamicRegistration: 'open',
      allowedGrantTypes: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
      outbound: site.outbound,
      dangerouslyAllowPrivateAddresses: true,
    })
    app = it.app
    agent = new UserAgent()
    await agent.logIn(app)
  })
  afterAll(async () => {
    await it.close()
    await site.close()
  })

  const get = (path: string, token: string) =>
    fetch(`${app.issuer}/oauth/${path}`, { headers: { authorization: `Bearer ${token}` } })

  const userinfo = async (token: string) =>
    (await (await get('userinfo', token)).json()) as { readonly sub: string }

  const infoId = async (token: string) => {
    const info = await (await get('info', token)).json()
    return (info as { readonly user: { readonly id: unknown } }).user.id
  }

  const register = async (metadata: object) => {
    const answer = await fetch(`${app.issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        subject_type: 'pairwise',
        grant_types: ['authorization_code', 'refresh_token'],
        ...metadata,
      }),
    })
    return (await answer.json()) as Record<string, string>
  }

  const change = async (registered: Record<string, string>, metadata: object) => {
    const { registration_access_token, registration_client_uri, ...rest } = registered
    const sent: Record<string, unknown> = { ...rest, ...metadata }
    for (const name of ['client_id_issued_at', 'client_secret_expires_at']) delete sent[name]
    const answer = await fetch(registration_client_uri ?? '', {
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${registration_access_token}`,
      },
      body: JSON.stringify(sent),
    })
    expect(answer.status, await answer.clone().text()).toBe(200)
  }

  const asClient = ({ client_id = '', client_secret = '' }: Record<string, string>, uri: string) =>
    new TestClient(
      app,
      agent,
      { clientId: client_id, clientSecret: client_secret, redirectUri: uri },
      'basic',
    )

  test('§8.1 a client that replaces its redirect URIs keeps its subject, and learns no subject of another sector [T4000]', async () => {
    const victim = await TestClient.register(app, agent, pairwise(['https://victim.example/cb']))
    const stolen = subOf(await victim.tokens({ scope: 'openid' }))
    const own = 'https://attacker.example/cb'
    const registered = await register({ redirect_uris: [own] })
    const attacker = asClient(registered, own)
    const tokens = await attacker.tokens({ scope: 'openid' })
    await change(registered, { redirect_uris: ['https://victim.example/cb'] })
    const refreshed = await attacker.refresh(tokens.refresh_token)
    expect(refreshed.status).toBe(200)
    const seen = [
      subOf(refreshed.body),
      refreshed.body.user?.id,
      decodeJwt(refreshed.body.access_token).sub,
      (await userinfo(refreshed.body.access_token)).sub,
      await infoId(refreshed.body.access_token),
    ]
    expect(new Set(seen)).toEqual(new Set([subOf(tokens)]))
    expect(seen).not.toContain(stolen)
  })

  test('§8.1 a redirect URI that received nothing proves no sector: the device grant [T4001]', async () => {
    const input = pairwise(['https://victim.example/cb'])
    const victim = await TestClient.register(app, agent, input)
    const stolen = subOf(await victim.tokens({ scope: 'openid' }))
    const device = await Device.register(app, { isConfidential: true, ...input })
    const codes = await device.codes({ scope: 'openid' })
    await decideOn(app, await logIn(app), codes)
    const { body } = await device.poll(codes)
    const seen = [subOf(body), (await userinfo(body.access_token)).sub, body.user?.id]
    expect(new Set(seen).size).toBe(1)
    expect(seen).not.toContain(stolen)
  })

  test.each([
    ['a loopback address', 'http://127.0.0.1:7777/cb'],
    ['localhost', 'http://localhost:7777/cb'],
  ])(
    '§8.1 %s proves no sector, because any program can listen there [T4002]',
    async (_what, uri) => {
      const subjects = []
      for (const _ of [0, 1]) {
        const client = await TestClient.register(app, agent, pairwise([uri]))
        subjects.push(subOf(await client.tokens({ scope: 'openid' })))
      }
      expect(subjects[0]).not.toBe(subjects[1])
    },
  )

  test('§8.1 a listed redirect URI proves the host of the sector identifier only when it receives the response [T4003]', async () => {
    const uris = ['https://a.shared.example/cb', 'https://b.shared.example/cb']
    site.serve('/sector.json', uris)
    const metadata = { sector_identifier_uri: site.url('/sector.json') }
    const [first = '', second = ''] = uris
    const one = asClient(await register({ ...metadata, redirect_uris: [first] }), first)
    const other = asClient(await register({ ...metadata, redirect_uris: [second] }), second)
    const subject = subOf(await one.tokens({ scope: 'openid' }))
    expect(subOf(await other.tokens({ scope: 'openid' }))).toBe(subject)
    const registered = await register({
      ...metadata,
      redirect_uris: [first],
      grant_types: [deviceCode, 'refresh_token'],
      response_types: [],
    })
    const { client_id = '', client_secret = '' } = registered
    const device = new Device(app, { clientId: client_id, clientSecret: client_secret }, true)
    const codes = await device.codes({ scope: 'openid' })
    await decideOn(app, await logIn(app), codes)
    expect(subOf((await device.poll(codes)).body)).not.toBe(subject)
  })

  test('§8.1 a token from before sectors were stored keeps the sector that its redirect URI proves [T4004]', async () => {
    const uri = 'https://legacy.example/cb'
    const registered = await register({ redirect_uris: [uri] })
    const client = asClient(registered, uri)
    const tokens = await client.tokens({ scope: 'openid' })
    const found = await storeOf(app.server).tokens.findByRefresh(
      digestOf('refresh_token', tokens.refresh_token),
    )
    if (!found?.refreshDigest || !found.authorization) throw new Error('The token is missing.')
    // Seal the row again as an earlier version did, whose rows have no sector and no ID of the login.
    const keys = new KeyRing([secretKey])
    const row = { ...found, fields: { ...found.fields, sector: null, loginDigest: null } }
    const access = keys.seal('token', tokens.access_token, accessClaims(row))
    const claims = refreshClaims(found.refreshDigest, row.fields, found.authorization)
    const refresh = keys.seal('token', tokens.refresh_token, claims)
    const asBefore = () =>
      it.db.run(
        `update oauth2server_token set sector = null, login_digest = null, access_token = '${access}',
          refresh_token = '${refresh}' where id = ${found.fields.id}`,
      )
    await asBefore()
    const answer = () => infoId(tokens.access_token)
    expect(await answer()).toBe(subOf(tokens))
    await change(registered, { redirect_uris: ['https://victim.example/cb'] })
    const moved = await answer()
    expect(moved).not.toBe(subOf(tokens))
    const victim = await TestClient.register(app, agent, pairwise(['https://victim.example/cb']))
    expect(moved).not.toBe(subOf(await victim.tokens({ scope: 'openid' })))
    await change(registered, { redirect_uris: [uri] })
    const refreshed = await client.refresh(tokens.refresh_token)
    expect(subOf(refreshed.body)).toBe(subOf(tokens))
    const [stored] = await it.db.run(
      `select sector from oauth2server_token where id = ${found.fields.id}`,
    )
    expect(stored).toEqual({ sector: 'legacy.example' })
  })

  test('§8.1 a client that becomes public does not learn the IDs of users who agreed before [T4005]', async () => {
    const uri = 'https://turns-public.example/cb'
    const registered = await register({ redirect_uris: [uri] })
    const client = asClient(registered, uri)
    const tokens = await client.tokens({ scope: 'openid' })
    await change(registered, { subject_type: 'public' })
    const { body } = await client.refresh(tokens.refresh_token)
    const seen = JSON.stringify([body, claimsIn(JSON.stringify(body))])
    expect(seen).not.toContain(String(app.user.id))
    expect((await userinfo(body.access_token)).sub).toBe(subOf(tokens))
  })

  test('§8 a pairwise client finds the ID and the address of the user in no response of any endpoint and any grant [T4006]', async () => {
    const uri = 'https://all.example/cb'
    const logoutTokens = receiveLogoutTokens(site)
    const client = await TestClient.register(
      app,
      agent,
      pairwise([uri], {
        userId: app.user.id,
        responseTypes,
        openid: {
          backchannel_logout_uri: site.url('/logout'),
          userinfo_signed_response_alg: 'ES256',
        },
      }),
    )
    const seen: string[] = []
    const endpoints = new Set<string>()
    const grants = new Set<string>()
    const note = async (response: Response): Promise<Record<string, unknown>> => {
      endpoints.add(new URL(response.url).pathname)
      const text = await response.text()
      seen.push(text, JSON.stringify([...response.headers]))
      return text.startsWith('{') ? JSON.parse(text) : {}
    }
    const post = async (path: string, fields: Record<string, string>) => {
      if (path === 'token') grants.add(fields.grant_type ?? '')
      const body = new URLSearchParams(fields)
      const headers = basicOf(client)
      return note(await fetch(`${app.issuer}/oauth/${path}`, { method: 'POST', body, headers }))
    }
    const everywhere = async (token: string) => {
      for (const path of ['info', 'ping', 'userinfo']) await note(await get(path, token))
      for (const path of ['introspect', 'revoke']) await post(path, { token })
    }
    const scope = 'openid notes:read'
    // Every response type of the authorization endpoint.
    let code = ''
    for (const response_type of responseTypes) {
      const redirect = await client.ask({ response_type, scope, nonce: 'n' })
      seen.push(redirect.href)
      const place = response_type === 'code' ? 'query' : 'fragment'
      const response = responseTo(client, redirect, place)
      if (response_type === 'code') code = response.code ?? ''
      if (response.access_token) await everywhere(response.access_token)
    }
    // Every grant of the token endpoint.
    const redeemed = await post('token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: uri,
      code_verifier: client.pkce.verifier,
    })
    const refreshed = await post('token', {
      grant_type: 'refresh_token',
      refresh_token: String(redeemed.refresh_token),
    })
    const exchanged = await post('token', {
      grant_type: exchange,
      subject_token: String(refreshed.access_token),
      subject_token_type: accessTokenType,
    })
    const machine = await post('token', { grant_type: 'client_credentials' })
    const { email } = app.user
    const { password } = app
    const typed = { username: email, password, scope }
    const byPassword = await post('token', { grant_type: 'password', ...typed })
    const codes = await post('device_authorization', { scope })
    await decideOn(app, await logIn(app), { user_code: String(codes.user_code) })
    const { device_code } = codes
    const byDevice = await post('token', {
      grant_type: deviceCode,
      device_code: String(device_code),
    })
    await post('token', { grant_type: 'authorization_code', code, redirect_uri: uri })
    await post('introspect', { token: String(refreshed.refresh_token) })
    for (const tokens of [exchanged, refreshed, machine, byPassword, byDevice]) {
      expect(tokens.access_token, JSON.stringify(tokens)).toBeDefined()
      await everywhere(String(tokens.access_token))
    }
    await post('par', { client_id: client.clientId, redirect_uri: uri, response_type: 'code' })
    const registration = { redirect_uris: [uri], subject_type: 'pairwise' }
    const registered = await fetch(`${app.issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(registration),
    })
    await note(registered)
    await note(await fetch(`${app.issuer}/oauth/jwks`))
    // The endpoints and the grants come from the metadata, so that a new one must be added here.
    const answer = await fetch(`${app.issuer}/.well-known/openid-configuration`)
    const metadata = (await answer.json()) as Record<string, unknown>
    const pages = ['authorization_endpoint', 'end_session_endpoint']
    const advertised = Object.entries(metadata).filter(
      ([name]) => (name.endsWith('_endpoint') || name === 'jwks_uri') && !pages.includes(name),
    )
    const missing = advertised.filter(([, url]) => !endpoints.has(new URL(String(url)).pathname))
    expect(missing).toEqual([])
    const supported = metadata.grant_types_supported as readonly string[]
    expect([...grants].sort()).toEqual(supported.filter((one) => one !== 'implicit').sort())
    // The logout token.
    const last = new UserAgent()
    await last.logIn(app)
    const again = new TestClient(
      app,
      last,
      { ...client, clientSecret: client.clientSecret },
      'basic',
    )
    await again.tokens({ scope })
    await app.server.loggedOut(app.user.id)
    await expect.poll(() => logoutTokens.length, { timeout: 60_000 }).toBeGreaterThan(0)
    seen.push(...logoutTokens)
    await agent.logIn(app)

    const all = [...seen, ...seen.map(claimsIn)].join('\n')
    expect(all).toContain('"sub"')
    expect(all).not.toContain(String(app.user.id))
    expect(all).not.toContain(app.user.email)
    const sids = [...all.matchAll(/"sid":"([^"]*)"/g)].map(([, sid]) => sid)
    expect(sids.length).toBeGreaterThan(1)
  })

  test('§8 the session identifier of pairwise clients differs in each sector [T4007]', async () => {
    const sids = []
    for (const host of ['one', 'two']) {
      const client = await TestClient.register(
        app,
        agent,
        pairwise([`https://sid-${host}.example/cb`]),
      )
      const { id_token = '' } = await client.tokens({ scope: 'openid' })
      sids.push(decodeJwt(id_token).sid)
    }
    expect(sids[0]).not.toBe(sids[1])
  })

  test('RFC 7662 §2.2 a pairwise client that introspects the tokens of others sees no user ID [T4008]', async ({
    skip,
  }) => {
    skip(isOnNodes, 'the test changes an option after the start, in this process')
    const introspectionClients: string[] = []
    const files = 'https://files.example'
    await using other = await startServer({
      openidConnect: true,
      resources: [{ resource: files, introspectionClients }],
    })
    const browser = new UserAgent()
    const input = pairwise(['https://rs.example/cb'])
    const server = await TestClient.register(other, browser, input)
    introspectionClients.push(server.clientId)
    const client = await TestClient.register(other, browser)
    const { access_token: token } = await client.tokens({ resource: files })
    const url = `${other.issuer}/oauth/introspect`
    const { body } = await postForm(url, { token }, basicOf(server))
    expect(body).toMatchObject({ active: true, sub: expect.stringMatching(/^[\w-]{43}$/) })
    expect(JSON.stringify(body)).not.toContain(String(other.user.id))
  })
})
