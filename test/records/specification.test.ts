import express from 'express'
import { type Auth, settingsFrom, UserProxy } from 'svc-oauth2server'
import { authOf, mount, page, requireApiAuth, rest, signedInUser } from 'svc-oauth2server/express'
import * as scopesModule from 'svc-oauth2server/scopes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { query } from '../support/database.ts'
import { serve } from '../support/rest-app.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { authorizationOf } from '../support/tokens.ts'
import { TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'

// Tests the requirements that no other suite covers. Each title begins with the ID of the requirement in
// docs/spec-coverage.md.

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Sends a request to the REST API of the notes application. */
const api = (path: string, token: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${app.issuer}/api${path}`, {
    ...init,
    headers: { 'content-type': 'application/json', ...bearer(token) },
  })

const write = (token: string, text: string): Promise<Response> =>
  api('/notes', token, { method: 'POST', body: JSON.stringify({ text }) })

test('token-rule-1 stores scopes as a text separated by spaces, and returns a list, which is empty without scopes [T700]', async () => {
  const stored = (id: number) =>
    query(app.database, 'select scopes from oauth2server_token where id = ?', id)
  const { accessToken, token } = await authorizationOf(app, (await app.client()).clientId, {
    scopes: ['notes:write', 'notes:read'],
  })
  expect(stored(token.id)).toEqual([{ scopes: 'notes:write notes:read' }])
  const found = await app.server.getToken({ accessToken })
  expect(found?.token.scopes).toEqual(['notes:write', 'notes:read'])

  const { id } = await app.server.tokens.createPersonal('Without', app.user.id)
  expect(stored(id)).toEqual([{ scopes: '' }])
  expect((await app.server.tokens.get(id))?.scopes).toEqual([])
})

test('scope-rule-2 the scopes module exports email_scope [T717]', async () => {
  await using bare = await startServer({ scopes: [] })
  expect(bare.server.scopes.all()).toEqual([scopesModule.emailScope])
})

test('user-proxy-5 the current user of a resource and of a page is a user proxy [T727]', async () => {
  const seen: unknown[] = []
  const host = express()
  host.get('/api/me', rest(app.server), requireApiAuth(), (req, res) => {
    seen.push(authOf(req).user)
    res.end()
  })
  host.get('/', page(app.server), (req, res) => {
    seen.push(signedInUser(req))
    res.end()
  })
  await using other = await serve(host)
  const { agent, cookie } = await logIn(app)
  await fetch(`${other.issuer}/api/me`, { headers: bearer(await app.personalToken()) })
  await agent.fetch(`${other.issuer}/`, { headers: { cookie } })
  await fetch(`${other.issuer}/`)
  const [ofResource, ofPage, ofNobody] = seen
  for (const user of [ofResource, ofPage]) {
    if (!(user instanceof UserProxy)) throw new TypeError(`${user} is not a user proxy.`)
    expect([user.id, user.email]).toEqual([app.user.id, app.user.email])
    expect(await user.checkPassword(app.password)).toBe(true)
    expect(await user.checkPassword('another')).toBe(false)
  }
  expect(ofNobody).toBeNull()
})

test.each([
  ['database', 1],
  ['memory', 0],
] as const)(
  'records-1 with OAUTH2_CACHE_TYPE=%s, the selected store contains the authorization code [T730]',
  async (cacheType, rows) => {
    await using own = await startServer({ cacheType })
    const client = await TestClient.register(own, new UserAgent())
    // The decision of the user deletes the stored request, so that only the code remains.
    const code = await client.code()
    const codes = "select 1 from oauth2server_transient where key like 'authorization_code:%'"
    expect(query(own.database, codes)).toHaveLength(rows)
    expect((await client.redeem(code)).status).toBe(200)
  },
)

test('endpoints-5 only the hook of the REST extension looks up and sets the current user [T747]', async () => {
  const host = express()
  host.use(mount(app.server))
  host.use('/api', rest(app.server))
  host.get(['/api/who', '/who'], (req, res) => {
    const { auth } = req as unknown as { readonly auth?: Auth }
    res.json({ kind: auth?.kind ?? 'not looked at', id: auth?.user?.id ?? null })
  })
  await using other = await serve(host)
  const ask = async (path: string, headers = {}) =>
    (await fetch(`${other.issuer}${path}`, { headers })).json()
  const token = bearer(await app.personalToken())
  expect(await ask('/api/who', token)).toEqual({ kind: 'personal_token', id: app.user.id })
  expect(await ask('/api/who')).toEqual({ kind: 'anonymous', id: null })
  expect(await ask('/who', token)).toEqual({ kind: 'not looked at', id: null })
  expect((await fetch(`${other.issuer}/login`)).status).toBe(200)
})

test('authentication-rule-4 a personal token acts as its user, limited to the scopes chosen at creation [T757]', async () => {
  const all = await app.personalToken(['notes:read', 'notes:write'])
  const reading = await app.personalToken(['notes:read'])
  expect((await write(all, 'mine')).status).toBe(201)
  expect(await (await api('/notes', reading)).json()).toEqual([
    expect.objectContaining({ text: 'mine' }),
  ])
  expect((await write(reading, 'more')).status).toBe(403)
  expect((await api('/notes', await app.personalToken())).status).toBe(403)
})

test('authentication-rule-5 users with equal scopes can access only their own data [T758]', async () => {
  const scopes = ['notes:read', 'notes:write']
  const { id } = await app.server.users.create({ email: 'user-b@example.org', password: null })
  const other = await app.server.tokens.createPersonal('Other', id, { scopes })
  const own = await app.personalToken(scopes)
  const note = (await (await write(own, 'private')).json()) as { id: number }
  expect(await (await api('/notes', other.accessToken)).json()).toEqual([])
  const removal = `/notes/${note.id}`
  expect((await api(removal, other.accessToken, { method: 'DELETE' })).status).toBe(404)
  expect((await api(removal, own, { method: 'DELETE' })).status).toBe(204)
})

test('authentication-rule-6, authentication-rule-7 by default allows three grant types without password, and two response types [T760]', async () => {
  const { allowedGrantTypes, allowedResponseTypes } = app.server.settings
  expect(allowedGrantTypes).toEqual(['client_credentials', 'refresh_token', 'authorization_code'])
  expect(allowedResponseTypes).toEqual(['token', 'code'])

  const basic = await app.client()
  const byPassword = {
    grant_type: 'password',
    username: app.user.email,
    password: app.password,
  }
  const refused = await tokenRequest(app.issuer, byPassword, { basic })
  expect(refused.body.error).toBe('unsupported_grant_type')
  await using withPassword = await startServer({
    allowedGrantTypes: [...allowedGrantTypes, 'password'],
  })
  const granted = await tokenRequest(withPassword.issuer, byPassword, {
    basic: await withPassword.client(),
  })
  expect(granted.status).toBe(200)
})

test('config OAUTH2SERVER_ALLOWED_GRANT_TYPES accepts only the four specified values [T776]', () => {
  const all = ['authorization_code', 'password', 'client_credentials', 'refresh_token']
  const given = (text: string) => settingsFrom({ OAUTH2SERVER_ALLOWED_GRANT_TYPES: text })
  expect(given(all.join(',')).allowedGrantTypes).toEqual(all)
  for (const other of ['implicit', 'Password', 'urn:ietf:params:oauth:grant-type:jwt-bearer'])
    expect(() => given(`${all[0]},${other}`)).toThrow('OAUTH2SERVER_ALLOWED_GRANT_TYPES')
})

test('config OAUTH2SERVER_ALLOWED_RESPONSE_TYPES accepts only the two specified values [T777]', () => {
  const given = (text: string) => settingsFrom({ OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: text })
  expect(given('code,token').allowedResponseTypes).toEqual(['code', 'token'])
  for (const other of ['id_token', 'code token'])
    expect(() => given(other)).toThrow('OAUTH2SERVER_ALLOWED_RESPONSE_TYPES')
})

test('limit Rate-limits: the server does not limit successful requests [T773]', async () => {
  const token = await app.personalToken()
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => fetch(`${app.issuer}/api/me`, { headers: bearer(token) })),
  )
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  await Promise.all(responses.map((response) => response.body?.cancel()))
})
