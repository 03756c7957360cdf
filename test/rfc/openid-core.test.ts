import { createHash } from 'node:crypto'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import type { ClientInput } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { recordOperations } from '../support/operations.ts'
import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { authorizeUrl, ping, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

// OpenID Connect Core 1.0. Titles begin with the section.

interface Started extends AsyncDisposable {
  readonly app: TestServer
  readonly agent: UserAgent
  readonly client: TestClient
}

/** Starts a server with OpenID Connect, logs in a user, and registers a client. */
const start = async (
  options: TestOptions = {},
  input: Partial<ClientInput> = {},
): Promise<Started> => {
  const app = await startServer({ openidConnect: true, ...options })
  const agent = new UserAgent()
  await agent.logIn(app)
  const client = await TestClient.register(app, agent, input)
  return { app, agent, client, [Symbol.asyncDispose]: () => app.close() }
}

/** Verifies an ID token like a client that knows only the issuer. */
const verified = async (app: TestServer, client: TestClient, token = '') => {
  const discovered = await fetch(`${app.issuer}/.well-known/openid-configuration`)
  const { jwks_uri } = (await discovered.json()) as { readonly jwks_uri: string }
  return jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), {
    issuer: app.issuer,
    audience: client.clientId,
    currentDate: new Date(app.now()),
  })
}

const claimsIn = ({ id_token = '' }: { readonly id_token?: string }) => decodeJwt(id_token)

const userinfo = (app: TestServer, token: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${app.issuer}/oauth/userinfo`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...init.headers },
  })

const infoOf = async (app: TestServer, token: string): Promise<Record<string, unknown>> =>
  (await (await userinfo(app, token)).json()) as Record<string, unknown>

/** Opens an authorization request in the browser. @returns what the browser shows, or the parameters of the response */
const opened = async ({ agent, client }: Started, given: Record<string, string>) => {
  const page = await agent.browse(client.url({ scope: 'openid', ...given }))
  const location = page.headers.get('location')
  if (location !== null) return responseTo(client, new URL(location))
  return { page: page.address.includes('/login') ? 'login' : 'consent' }
}

describe('Core §2, §3.1.3 the ID token', () => {
  test('names the issuer, the user, the client, the nonce, the login and the access token [T1500]', async () => {
    await using started = await start()
    const { app, client } = started
    app.advance(100)
    const tokens = await client.tokens({ scope: 'openid', nonce: 'n-1' })
    const { payload, protectedHeader } = await verified(app, client, tokens.id_token)
    expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'JWT' })
    const now = Math.floor(app.now() / 1000)
    const hash = createHash('sha256').update(tokens.access_token).digest()
    expect(payload).toEqual({
      iss: app.issuer,
      sub: String(app.user.id),
      aud: client.clientId,
      nonce: 'n-1',
      iat: now,
      exp: now + 3600,
      auth_time: now - 100,
      amr: ['pwd'],
      sid: expect.stringMatching(/^[\w-]{43}$/),
      at_hash: hash.subarray(0, 16).toString('base64url'),
    })
  })

  test.each([
    ['RS256', 'sha256'],
    ['ES256', 'sha256'],
    ['EdDSA', 'sha512'],
  ] as const)('is signed with %s if the client registered it [T1501]', async (alg, hash) => {
    await using started = await start({}, { openid: { id_token_signed_response_alg: alg } })
    const { app, client } = started
    const tokens = await client.tokens({ scope: 'openid' })
    const { payload, protectedHeader } = await verified(app, client, tokens.id_token)
    expect(protectedHeader.alg).toBe(alg)
    const digest = createHash(hash).update(tokens.access_token).digest()
    expect(payload.at_hash).toBe(digest.subarray(0, digest.length / 2).toString('base64url'))
  })

  test('is signed with the algorithm of the server, even if JWT access tokens use another algorithm [T1502]', async () => {
    await using started = await start({
      idTokenSigningAlgorithm: 'ES256',
      accessTokenFormat: 'jwt',
      signingAlgorithm: 'EdDSA',
    })
    const { app, client } = started
    const tokens = await client.tokens({ scope: 'openid' })
    expect((await verified(app, client, tokens.id_token)).protectedHeader.alg).toBe('ES256')
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ alg: 'EdDSA' })
  })

  test('is not issued without the scope openid, and not to a client for itself [T1503]', async () => {
    await using started = await start()
    const { client } = started
    expect(await client.tokens({ scope: 'notes:read' })).not.toHaveProperty('id_token')
    const machine = await client.token({ grant_type: 'client_credentials', scope: '' })
    expect(machine.body).not.toHaveProperty('id_token')
  })

  test('remains verifiable while keys rotate [T1504]', async () => {
    await using started = await start({ signingKeyExpiresIn: 3600 })
    const { app, client } = started
    const before = await client.tokens({ scope: 'openid' })
    app.advance(3 * 3600)
    await fetch(`${app.issuer}/oauth/jwks`)
    app.advance(3601)
    const after = await client.refresh(before.refresh_token)
    const kid = (token = '') => decodeProtectedHeader(token).kid
    expect(kid(after.body.id_token)).not.toBe(kid(before.id_token))
    await verified(app, client, after.body.id_token)
    const answer = await fetch(`${app.issuer}/oauth/jwks`)
    const keys = (await answer.json()) as { readonly keys: readonly { readonly alg: string }[] }
    expect(JSON.stringify(keys)).toContain(kid(before.id_token))
    const algorithms = keys.keys.map(({ alg }) => alg)
    expect([...new Set(algorithms)].sort()).toEqual(['ES256', 'EdDSA', 'RS256'])
    expect(JSON.stringify(keys)).not.toMatch(/"(?:d|k|p|q)":/)
  })
})

describe('Core §12 the refresh', () => {
  test('issues an ID token for the same login without the nonce, also for a retry [T1505]', async () => {
    await using started = await start()
    const { app, client } = started
    const first = await client.tokens({ scope: 'openid', nonce: 'n-1' })
    const { auth_time, sid, sub } = claimsIn(first)
    app.advance(600)
    const second = await client.refresh(first.refresh_token)
    const { payload } = await verified(app, client, second.body.id_token)
    expect(payload).toMatchObject({ auth_time, sid, sub, iat: Math.floor(app.now() / 1000) })
    expect(payload).not.toHaveProperty('nonce')
    const retry = await client.refresh(first.refresh_token)
    expect(claimsIn(retry.body)).toMatchObject({ auth_time, sid, at_hash: payload.at_hash })
  })

  test('issues no ID token if the client requests only other scopes [T1506]', async () => {
    await using started = await start()
    const { client } = started
    const first = await client.tokens({ scope: 'openid notes:read' })
    const second = await client.refresh(first.refresh_token, { scope: 'notes:read' })
    expect(second.body.scope).toBe('notes:read')
    expect(second.body).not.toHaveProperty('id_token')
  })

  test('omits a login that was changed in the database [T1507]', async () => {
    await using started = await start()
    const { app, client } = started
    const first = await client.tokens({ scope: 'openid' })
    const other = await client.tokens({ scope: 'openid' })
    expect(claimsIn(other)).toHaveProperty('auth_time')
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(app.database)
    const [row] = db.prepare('select id, code_binding from oauth2server_authorization').all()
    const binding = JSON.parse(String(row?.code_binding))
    binding.extensions['openid-connect'] = JSON.stringify({ authTime: 1, amr: ['hwk'] })
    db.prepare('update oauth2server_authorization set code_binding = ? where id = ?').run(
      JSON.stringify(binding),
      Number(row?.id),
    )
    db.close()
    const { body } = await client.refresh(first.refresh_token)
    expect(claimsIn(body)).not.toHaveProperty('auth_time')
    expect(claimsIn(body)).not.toHaveProperty('amr')
  })
})

describe('Core §3.1.2.1 the authentication request', () => {
  test('max_age: requires one new login if the login is too old, and returns login_required for prompt=none [T1508]', async () => {
    await using started = await start()
    const { app, client } = started
    await client.tokens({ scope: 'openid' })
    app.advance(100)
    expect(await opened(started, { max_age: '99', prompt: 'none' })).toMatchObject({
      error: 'login_required',
    })
    expect(await opened(started, { max_age: '100', prompt: 'none' })).toHaveProperty('code')
    const old = claimsIn(await client.tokens({ scope: 'openid', max_age: '10000' }))
    for (const max_age of ['99', '0']) {
      expect(await opened(started, { max_age })).toEqual({ page: 'login' })
      const tokens = await client.tokens({ scope: 'openid', max_age })
      expect(claimsIn(tokens).auth_time).toBe(Number(old.auth_time) + 100)
    }
  })

  test('max_age=0 without a session requires only one login [T1509]', async () => {
    await using started = await start()
    const { app, client } = started
    const stranger = new UserAgent()
    const page = await stranger.browse(client.url({ scope: 'openid', max_age: '0' }))
    const login = { email: app.user.email, password: app.password }
    const next = (await stranger.submit(page, login)).headers.get('location') ?? ''
    const after = await stranger.browse(new URL(next, page.address))
    expect(after.address).not.toContain('/login')
  })

  test.each(['-1', '1.5', 'x', ' 1'])('max_age=%j is refused [T1510]', async (max_age) => {
    await using started = await start()
    expect(await opened(started, { max_age })).toMatchObject({ error: 'invalid_request' })
  })

  test('the default_max_age of the client applies to requests without max_age [T1511]', async () => {
    await using started = await start({}, { openid: { default_max_age: 50 } })
    const { app, client } = started
    await client.tokens({ scope: 'openid' })
    app.advance(51)
    expect(await opened(started, {})).toEqual({ page: 'login' })
    expect(await opened(started, { max_age: '60' })).toHaveProperty('code')
  })

  test.each(['login', 'select_account', 'login consent', 'select_account consent'])(
    'prompt=%s shows the login to a logged-in user, and then continues [T1512]',
    async (prompt) => {
      await using started = await start()
      const { app, client } = started
      const before = claimsIn(await client.tokens({ scope: 'openid' }))
      app.advance(10)
      expect(await opened(started, { prompt })).toEqual({ page: 'login' })
      const after = claimsIn(await client.tokens({ scope: 'openid', prompt }))
      expect(after.auth_time).toBe(Number(before.auth_time) + 10)
    },
  )

  test('prompt=none reports a missing login and a missing consent [T1513]', async () => {
    await using started = await start()
    const { client } = started
    expect(await opened(started, { prompt: 'none' })).toMatchObject({ error: 'consent_required' })
    const stranger = { ...started, agent: new UserAgent() }
    const refused = await opened(stranger, { prompt: 'none' })
    expect(refused).toMatchObject({ error: 'login_required', state: 'xyz' })
    expect(await opened(started, { prompt: 'none login' })).toMatchObject({
      error: 'invalid_request',
    })
    await client.tokens({ scope: 'openid' })
    expect(await opened(started, { prompt: 'none' })).toHaveProperty('code')
  })

  test('id_token_hint: only the user of the hint may continue [T1514]', async () => {
    await using started = await start()
    const { app, client } = started
    const { id_token: hint = '' } = await client.tokens({ scope: 'openid' })
    app.advance(7200)
    expect(await opened(started, { id_token_hint: hint, prompt: 'none' })).toHaveProperty('code')
    const other = await app.newUser({ email: 'user-b@example.org' })
    const agent = new UserAgent()
    await agent.logIn({ ...app, user: other })
    const asOther = { ...started, agent }
    expect(await opened(asOther, { id_token_hint: hint, prompt: 'none' })).toMatchObject({
      error: 'login_required',
    })
    expect(await opened(asOther, { id_token_hint: hint })).toEqual({ page: 'login' })
    const wrong = await agent.authorize(
      { ...app, user: other },
      client.url({ scope: 'openid', id_token_hint: hint }),
    )
    expect(responseTo(client, wrong)).toMatchObject({ error: 'login_required' })
    const right = await agent.authorize(app, client.url({ scope: 'openid', id_token_hint: hint }))
    expect(responseTo(client, right)).toHaveProperty('code')
  })

  test('id_token_hint: rejects a value that is not an ID token for the client [T1515]', async () => {
    await using started = await start()
    const { app, agent, client } = started
    const { id_token = '' } = await client.tokens({ scope: 'openid' })
    const other = await TestClient.register(app, agent)
    const foreign = (await other.tokens({ scope: 'openid' })).id_token ?? ''
    for (const hint of ['x', `${id_token}x`, foreign, 'x'.repeat(9000)])
      expect(await opened(started, { id_token_hint: hint })).toMatchObject({
        error: 'invalid_request',
      })
  })

  test('login_hint fills the form with the e-mail address, as text [T1516]', async () => {
    await using started = await start()
    const { client } = started
    const shown = async (login_hint: string) =>
      (await new UserAgent().browse(client.url({ scope: 'openid', login_hint }))).text()
    expect(await shown('user-b@example.org')).toContain('value="user-b@example.org"')
    const hostile = await shown('"><script>@x')
    expect(hostile).not.toContain('<script>@')
    expect(hostile).toContain('value="&quot;&gt;&lt;script&gt;@x"')
    expect(await shown('someone')).toContain('inputmode="email" value=""')
  })

  test('accepts and ignores display, acr_values and unknown parameters [T1517]', async () => {
    await using started = await start()
    const { client } = started
    await client.tokens({ scope: 'openid' })
    const given = { display: 'popup', acr_values: '1 2', extra: 'foobar', ui_locales: 'se' }
    expect(await opened(started, given)).toHaveProperty('code')
  })
})

describe('Core §5 claims', () => {
  const claims = () => ({
    name: 'Ada Lovelace',
    email: 'ada@example.org',
    email_verified: true,
    phone_number: '+1 555 0100',
    address: { country: 'GB' },
    picture: null,
    website: '',
    groups: ['admins'],
    sub: 'somebody-else',
    iss: 'https://evil.example',
  })

  test('§5.3 userinfo returns the claims of the granted scopes, and the claims of the application [T1518]', async () => {
    await using started = await start({ claims })
    const { app, client } = started
    const sub = String(app.user.id)
    const ofScope = async (scope: string) =>
      infoOf(app, (await client.tokens({ scope })).access_token)
    const groups = ['admins']
    expect(await ofScope('openid')).toEqual({ sub, groups })
    expect(await ofScope('openid profile')).toEqual({ sub, groups, name: 'Ada Lovelace' })
    expect(await ofScope('email openid')).toEqual({
      sub,
      groups,
      email: 'ada@example.org',
      email_verified: true,
    })
    expect(await ofScope('openid phone address')).toEqual({
      sub,
      groups,
      phone_number: '+1 555 0100',
      address: { country: 'GB' },
    })
  })

  test('§5.4 the e-mail address of a built-in user needs no function of the application [T1519]', async () => {
    await using started = await start()
    const { app, client } = started
    const { access_token } = await client.tokens({ scope: 'openid email profile' })
    expect(await infoOf(app, access_token)).toEqual({
      sub: String(app.user.id),
      email: app.user.email,
      email_verified: app.user.emailVerified,
    })
  })

  test('§5.5 the parameter claims requests single claims, which require the consent of the user to their scope [T1520]', async () => {
    await using started = await start({ claims: () => ({ ...claims(), family_name: 'Lovelace' }) })
    const { app, client } = started
    const asked = {
      userinfo: { name: { essential: true }, phone_number: null, unknown: null },
      id_token: { email: null, auth_time: { essential: true } },
    }
    const given = { scope: 'openid email', claims: JSON.stringify(asked) }
    const page = await (await started.agent.browse(client.url(given))).text()
    expect(page).toContain('Read your phone number')
    const tokens = await client.tokens(given)
    expect(tokens.scope.split(' ').sort()).toEqual(['email', 'openid', 'phone', 'profile'])
    expect(await infoOf(app, tokens.access_token)).toMatchObject({
      name: 'Ada Lovelace',
      email: 'ada@example.org',
      phone_number: '+1 555 0100',
    })
    expect(await infoOf(app, tokens.access_token)).not.toHaveProperty('family_name')
    expect(claimsIn(tokens)).toMatchObject({ email: 'ada@example.org' })
    expect(claimsIn(tokens)).not.toHaveProperty('name')
    const refreshed = await client.refresh(tokens.refresh_token)
    expect(claimsIn(refreshed.body)).toMatchObject({ email: 'ada@example.org' })
  })

  test('§5.4 ID tokens have the claims of the granted scopes only with userClaimsInIdToken [T2720]', async () => {
    await using started = await start({ claims, userClaimsInIdToken: true })
    const { app, client } = started
    const tokens = await client.tokens({ scope: 'openid email' })
    const { sub, ...about } = await infoOf(app, tokens.access_token)
    expect(about).toEqual({ email: 'ada@example.org', email_verified: true, groups: ['admins'] })
    expect(claimsIn(tokens)).toMatchObject({ sub, ...about, iss: app.issuer })
    expect(claimsIn(tokens)).not.toHaveProperty('name')
    const refreshed = await client.refresh(tokens.refresh_token)
    expect(claimsIn(refreshed.body)).toMatchObject(about)

    await using other = await start({ claims })
    const without = claimsIn(await other.client.tokens({ scope: 'openid email profile' }))
    expect(without).not.toHaveProperty('email')
    expect(without).not.toHaveProperty('name')
  })

  test.each(['x', '[]', '1', '{"userinfo":1}', '{"id_token":{"sub":"x"}}', '{}'.padEnd(5000)])(
    '§5.5 refuses a malformed value of claims: %.30j [T1521]',
    async (value) => {
      await using started = await start()
      expect(await opened(started, { claims: value })).toMatchObject({ error: 'invalid_request' })
    },
  )

  test('§5.5.1 a request for a sub requires that this user is logged in [T1522]', async () => {
    await using started = await start()
    const { app, client } = started
    await client.tokens({ scope: 'openid' })
    const withSub = (value: string) => ({
      claims: JSON.stringify({ id_token: { sub: { value } } }),
      prompt: 'none',
    })
    expect(await opened(started, withSub(String(app.user.id)))).toHaveProperty('code')
    expect(await opened(started, withSub('x'))).toMatchObject({ error: 'login_required' })
  })

  test('§5.2 the application receives the requested languages of claims [T1523]', async () => {
    const seen: unknown[] = []
    await using started = await start({
      claims: (_user, scopes, { locales }) => {
        seen.push([[...scopes].sort(), locales])
        return {}
      },
    })
    const { app, client } = started
    const tokens = await client.tokens({ scope: 'openid profile', claims_locales: 'fr-CA de' })
    await infoOf(app, tokens.access_token)
    expect(seen).toEqual([
      [
        ['openid', 'profile'],
        ['fr-CA', 'de'],
      ],
    ])
  })
})

describe('Core §5.3 the userinfo endpoint', () => {
  test('accepts a token in the header of GET or POST, or in a form, but not in both [T1524]', async () => {
    await using started = await start()
    const { app, client } = started
    const { access_token } = await client.tokens({ scope: 'openid' })
    const form = new URLSearchParams({ access_token })
    const url = `${app.issuer}/oauth/userinfo`
    const statuses = [
      await userinfo(app, access_token),
      await userinfo(app, access_token, { method: 'POST' }),
      await userinfo(app, access_token, { method: 'POST', body: new URLSearchParams() }),
      await fetch(url, { method: 'POST', body: form }),
      await userinfo(app, access_token, { method: 'POST', body: form }),
      await fetch(url, { method: 'POST', body: `${form}&${form}`, headers: formType }),
      await fetch(url, { method: 'POST' }),
      await fetch(url),
      await userinfo(app, 'unknown'),
    ].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 200, 200, 400, 400, 401, 401, 401])
  })

  test('refuses tokens without the scope openid, personal tokens, and tokens of clients [T1525]', async () => {
    await using started = await start()
    const { app, client } = started
    const { access_token } = await client.tokens({ scope: 'notes:read' })
    const lacking = await userinfo(app, access_token)
    expect(lacking.status).toBe(403)
    expect(lacking.headers.get('www-authenticate')).toContain('scope="openid"')
    const personal = await app.personalToken(['openid'])
    expect((await userinfo(app, personal)).status).toBe(401)
    const other = await TestClient.register(app, started.agent, { defaultScopes: ['openid'] })
    const machine = await other.token({ grant_type: 'client_credentials' })
    expect(machine.body.scope).toBe('openid')
    expect((await userinfo(app, machine.body.access_token)).status).toBe(401)
  })

  test('§5.3.2 returns a signed JWT if the client registered an algorithm [T1527]', async () => {
    const openid = { userinfo_signed_response_alg: 'ES256' } as const
    await using started = await start({}, { openid })
    const { app, client } = started
    const { access_token } = await client.tokens({ scope: 'openid email' })
    const answer = await userinfo(app, access_token)
    expect(answer.headers.get('content-type')).toBe('application/jwt')
    const { payload, protectedHeader } = await verified(app, client, await answer.text())
    expect(protectedHeader.alg).toBe('ES256')
    expect(payload).toMatchObject({
      sub: String(app.user.id),
      email: app.user.email,
      iss: app.issuer,
      aud: client.clientId,
    })
  })

  test('rejects the token of a deactivated user, like every endpoint [T1528]', async () => {
    await using started = await start()
    const { app, client } = started
    const { access_token } = await client.tokens({ scope: 'openid' })
    await app.server.users.setActive(app.user.id, false)
    expect((await userinfo(app, access_token)).status).toBe(401)
  })
})

describe('Core §8 subjects', () => {
  const pairwise = (redirect: string): Partial<ClientInput> => ({
    redirectUris: [redirect],
    openid: { subject_type: 'pairwise' },
  })

  test('a pairwise subject differs between sectors, and is the same for a user of one sector [T1529]', async () => {
    await using started = await start({}, pairwise('https://a.example/1'))
    const { app, agent, client } = started
    const same = await TestClient.register(app, agent, pairwise('https://a.example/2'))
    const other = await TestClient.register(app, agent, pairwise('https://b.example/1'))
    const tokens = await client.tokens({ scope: 'openid' })
    const { sub } = claimsIn(tokens)
    expect(sub).toMatch(/^[\w-]{43}$/)
    expect((await infoOf(app, tokens.access_token)).sub).toBe(sub)
    expect(claimsIn((await client.refresh(tokens.refresh_token)).body).sub).toBe(sub)
    expect(claimsIn(await same.tokens({ scope: 'openid' })).sub).toBe(sub)
    expect(claimsIn(await other.tokens({ scope: 'openid' })).sub).not.toBe(sub)
    const keys = (await (await fetch(`${app.issuer}/oauth/jwks`)).json()) as {
      keys: { kty: string }[]
    }
    expect(keys.keys.map(({ kty }) => kty)).not.toContain('oct')
  })

  test('the responses to a pairwise client contain no other identifier of the user [T1530]', async () => {
    await using started = await start({}, pairwise('https://a.example/1'))
    const { app, client } = started
    const tokens = await client.tokens({ scope: 'openid' })
    const { sub } = claimsIn(tokens)
    expect(tokens.user).toEqual({ id: sub })
    const hint = { id_token_hint: tokens.id_token ?? '', prompt: 'none' }
    expect(await opened(started, hint)).toHaveProperty('code')
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const info = await (await fetch(`${app.issuer}/oauth/info`, { headers })).json()
    expect(info).toMatchObject({ user: { id: sub } })
  })
})

describe('Core §11 offline_access', () => {
  test('is granted like any other scope with openid, and ignored without openid [T1531]', async () => {
    await using started = await start()
    const { client } = started
    expect((await client.tokens({ scope: 'openid offline_access' })).scope).toBe(
      'openid offline_access',
    )
    expect((await client.tokens({ scope: 'notes:read offline_access' })).scope).toBe('notes:read')
    const answer = await client.ask({ response_type: 'token', scope: 'openid offline_access' })
    expect(responseTo(client, answer, 'fragment').scope).toBe('openid')
  })
})

describe('a server whose application logs users in', () => {
  test('auth_time, amr and acr come from resourceOwner [T1532]', async () => {
    const authTime = 1_700_000_000_500
    let login = { authTime, amr: ['pwd', 'otp'], acr: 'urn:example:two-factors' }
    let user: number | undefined
    await using app = await startServer({
      openidConnect: true,
      loginUrl: '/host-login',
      resourceOwner: () => (user === undefined ? null : { id: user, sessionId: 's', ...login }),
    })
    user = Number(app.user.id)
    const client = await TestClient.register(app, new UserAgent())
    const tokens = await client.tokens({ scope: 'openid' })
    expect(claimsIn(tokens)).toMatchObject({
      auth_time: 1_700_000_000,
      amr: ['pwd', 'otp'],
      acr: 'urn:example:two-factors',
    })
    const page = await client.agent.browse(client.url({ scope: 'openid', max_age: '60' }))
    expect(page.address).toContain('/host-login')
    login = { ...login, authTime: app.now() }
    const next = new URL(page.address).searchParams.get('next') ?? ''
    const after = await client.agent.browse(new URL(next, app.issuer))
    expect(new URL(after.headers.get('location') ?? '').searchParams.get('code')).not.toBeNull()
  })

  test.each([
    ['prompt=login', { prompt: 'login' }, false],
    ['prompt=login and consent', { prompt: 'login consent' }, false],
    ['prompt=select_account', { prompt: 'select_account' }, false],
    ['max_age=0', { max_age: '0' }, false],
    ['prompt=login and max_age', { prompt: 'login', max_age: '60' }, false],
    ['prompt=login of a pushed request', { prompt: 'login' }, true],
  ])(
    '%s: the time of the login decides whether the user has logged in again [T2900]',
    async (_what, given, isPushed) => {
      let authTime = 0
      let user: number | undefined
      await using app = await startServer({
        openidConnect: true,
        loginUrl: '/host-login',
        resourceOwner: () => (user === undefined ? null : { id: user, sessionId: 's', authTime }),
      })
      user = Number(app.user.id)
      authTime = app.now() - 30_000
      const client = await TestClient.register(app, new UserAgent())
      await client.tokens({ scope: 'openid' })
      const url = isPushed ? await pushed(client, given) : client.url({ scope: 'openid', ...given })
      const page = await client.agent.browse(url)
      const login = new URL(page.address)
      expect([login.pathname, login.searchParams.get('prompt')]).toEqual(['/host-login', 'login'])
      const next = new URL(login.searchParams.get('next') ?? '', app.issuer)
      app.advance(5)
      const unchanged = new URL((await client.agent.browse(next)).headers.get('location') ?? 'x:')
      expect(unchanged.searchParams.get('error')).toBe('login_required')
      expect(unchanged.searchParams.get('state')).toBe('xyz')
      authTime = app.now()
      app.advance(5)
      const code = (await client.agent.authorize(app, next)).searchParams.get('code') ?? ''
      const { body } = await client.redeem(code)
      expect(claimsIn(body).auth_time).toBe(Math.floor(authTime / 1000))
      // If the same request is sent again, it requires a login again.
      if ('prompt' in given && !isPushed)
        expect((await client.agent.browse(url)).address).toContain('/host-login')
    },
  )
})

/** Pushes an authorization request. @returns the URL of the request */
const pushed = async (client: TestClient, given: Record<string, string>): Promise<string> => {
  const parameters = new URL(client.url({ scope: 'openid', ...given })).searchParams
  parameters.append('client_secret', client.clientSecret)
  const response = await fetch(`${client.app.issuer}/oauth/par`, {
    method: 'POST',
    body: parameters,
  })
  const { request_uri } = (await response.json()) as { readonly request_uri: string }
  return authorizeUrl(client.app.issuer, {
    response_type: undefined,
    client_id: client.clientId,
    request_uri,
  })
}

test('requests without openid use the same store operations with and without OpenID Connect [T2920]', async () => {
  const operationsWith = async (openidConnect: boolean) => {
    const { operations, aroundStore } = recordOperations()
    await using app = await startServer({ openidConnect, aroundStore })
    const client = await TestClient.register(app, new UserAgent(), {
      defaultScopes: ['notes:read'],
    })
    const code = await client.code()
    operations.length = 0
    const { body } = await client.redeem(code)
    await client.refresh(body.refresh_token)
    await client.token({ grant_type: 'client_credentials' })
    await ping(app, body.access_token)
    return operations.toSorted()
  }
  const without = await operationsWith(false)
  expect(without.length).toBeGreaterThan(5)
  expect(await operationsWith(true)).toEqual(without)
})

describe('a server without OpenID Connect', () => {
  test('has neither the endpoints nor the scopes [T1533]', async () => {
    await using app = await startServer()
    for (const path of ['/.well-known/openid-configuration', '/oauth/userinfo', '/oauth/jwks'])
      expect((await fetch(`${app.issuer}${path}`)).status).toBe(404)
    expect(app.server.scopes.get('openid')).toBeUndefined()
  })
})

const formType = { 'content-type': 'application/x-www-form-urlencoded' }
