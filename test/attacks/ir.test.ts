import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf } from '../support/form.ts'
import type { TestOptions } from '../support/server.ts'
import {
  type AttackClient,
  type AttackServer,
  type ClientName,
  expectBearer,
  expectJson,
  formOf,
  type HttpResponse,
  type Over,
  scopes,
  startAttackServer,
} from './support/attack-server.ts'

const { r, w } = scopes
/** The server. In the project `nodes`, another process handles each request. */
let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

/** Options with a function, which cannot be sent to other processes. So the server has one process in every project. */
const oneProcess: TestOptions = { aroundStore: (_, run) => run() }

interface Sending {
  readonly headers?: Record<string, string>
  readonly server?: AttackServer
  /** A body that replaces the form. */
  readonly body?: string
}

const send = (
  path: string,
  fields: Over,
  { headers = {}, server = attack, body = formOf(fields) }: Sending = {},
): Promise<HttpResponse> =>
  server.request(path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

const as = (client: ClientName | AttackClient, server = attack): Record<string, string> =>
  basicOf(typeof client === 'string' ? server.clients[client] : client)

const introspect = (
  token: string,
  client: ClientName | AttackClient = 'conf',
  more: Over = {},
): Promise<HttpResponse> => send('/oauth/introspect', { token, ...more }, { headers: as(client) })

const revoke = (
  token: string,
  client: ClientName | AttackClient = 'conf',
  more: Over = {},
): Promise<HttpResponse> => send('/oauth/revoke', { token, ...more }, { headers: as(client) })

/** Sends a revocation request with only a client ID, like a public client. */
const revokeAsPublic = (token: string): Promise<HttpResponse> =>
  send('/oauth/revoke', { token, client_id: attack.clients.pub.clientId })

const machine = async (client: ClientName | AttackClient = 'm2m'): Promise<string> =>
  String((await attack.token({ grant_type: 'client_credentials' }, { client })).body.access_token)

const expectInactive = ({ status, headers, body, text }: HttpResponse): void => {
  expect([status, body], text).toEqual([200, { active: false }])
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
}
const expectDone = ({ status, headers, body }: HttpResponse): void => {
  expect([status, body]).toEqual([200, {}])
  expect(headers.get('cache-control')).toBe('no-store')
}
/** Repeat each request three times, so that each of three nodes receives the request once. */
const times = [1, 2, 3] as const
const expectLives = async (token: string, lives = true): Promise<void> => {
  for (const _ of times) {
    const response = await attack.ping(token)
    if (lives) expect(response.status).toBe(200)
    else expectBearer(response, 'invalid_token')
  }
}

describe('IR-01 Authentication of introspection requests', () => {
  test.each<[string, (token: string) => Promise<HttpResponse>]>([
    ['a request without credentials', (token) => send('/oauth/introspect', { token })],
    [
      'a confidential client with only its ID',
      (token) => send('/oauth/introspect', { token, client_id: attack.clients.conf.clientId }),
    ],
    [
      'a public client with its ID',
      (token) => send('/oauth/introspect', { token, client_id: attack.clients.pub.clientId }),
    ],
    [
      'a public client with a secret',
      (token) => send('/oauth/introspect', { token }, { headers: as('pub') }),
    ],
    [
      'a wrong secret',
      (token) =>
        introspect(token, {
          ...attack.clients.conf,
          clientSecret: attack.clients.conf2.clientSecret,
        }),
    ],
    ['an empty secret', (token) => introspect(token, { ...attack.clients.conf, clientSecret: '' })],
    [
      'an unknown client',
      (token) => introspect(token, { ...attack.clients.conf, clientId: 'nope' }),
    ],
    [
      'a request with a Bearer token',
      (token) =>
        send('/oauth/introspect', { token }, { headers: { authorization: `Bearer ${token}` } }),
    ],
    [
      'a request of a logged-in user',
      async (token) => {
        const { agent } = await attack.browser('a')
        return attack.request('/oauth/introspect', {
          agent,
          method: 'POST',
          body: new URLSearchParams({ token }),
        })
      },
    ],
    [
      'a secret in the query',
      (token) => {
        const { clientId, clientSecret } = attack.clients.conf
        const query = formOf({ client_id: clientId, client_secret: clientSecret })
        return send(`/oauth/introspect?${query}`, { token })
      },
    ],
  ])('returns 401 for %s', async (_, ask) => {
    // The response must not depend on whether the token exists.
    for (const token of [(await attack.grant()).accessToken, 'unknown']) {
      const response = await ask(token)
      expectJson(response, 401, 'invalid_client')
      expect(response.text).not.toContain('active')
    }
  })

  test('does not let a public client introspect its own tokens', async () => {
    const redirect_uri = 'http://127.0.0.1/cb'
    const { accessToken } = await attack.grant({ redirect_uri }, { client: 'pub' })
    const { clientId } = attack.clients.pub
    const response = await send('/oauth/introspect', { token: accessToken, client_id: clientId })
    expectJson(response, 401, 'invalid_client')
  })

  test('ignores a token in the query', async () => {
    const { accessToken } = await attack.grant()
    const headers = as('conf')
    const response = await send(`/oauth/introspect?token=${accessToken}`, {}, { headers })
    expectJson(response, 400, 'invalid_request')
    const json = await send(
      '/oauth/introspect',
      {},
      {
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ token: accessToken }),
      },
    )
    expectJson(json, 400, 'invalid_request')
  })
})

describe('IR-02 Responses for inactive and active tokens', () => {
  test.each<[string, () => Promise<string>]>([
    ['an unknown token', async () => 'unknown'],
    ['a NUL character', async () => '\0'],
    ['an SQL expression', async () => "' or 1=1 --"],
    ['a forged JWT', async () => 'a.b.c'],
    ['a text of 60 kB', async () => 'x'.repeat(60_000)],
    ['an authorization code', () => attack.code()],
    ['a client secret', async () => attack.clients.conf.clientSecret],
    ['a personal token', async () => (await attack.personalToken()).value],
    ['the JWT of a session', async () => (await attack.browser('a')).jwt],
    ["another client's access token", async () => (await foreign()).accessToken],
    ["another client's refresh token", async () => (await foreign()).refreshToken],
    ["another client's client_credentials token", () => machine()],
    [
      'a token without its last letter',
      async () => (await attack.grant()).accessToken.slice(0, -1),
    ],
    [
      'a revoked access token',
      async () => {
        const { accessToken, refreshToken } = await attack.grant()
        await revoke(refreshToken)
        return accessToken
      },
    ],
    [
      'a revoked refresh token',
      async () => {
        const { refreshToken } = await attack.grant()
        await revoke(refreshToken)
        return refreshToken
      },
    ],
    [
      'an access token that two refreshes replaced',
      async () => {
        const { accessToken, refreshToken } = await attack.grant()
        const next = attack.tokensIn(await attack.refresh(refreshToken))
        await attack.refresh(next.refreshToken)
        return accessToken
      },
    ],
    [
      'a rotated refresh token',
      async () => {
        const { refreshToken } = await attack.grant()
        await attack.refresh(refreshToken)
        return refreshToken
      },
    ],
  ])('returns only active:false for %s', async (_, make) => {
    const token = await make()
    for (const token_type_hint of [undefined, 'access_token', 'refresh_token', 'bogus'])
      expectInactive(await introspect(token, 'conf', { token_type_hint }))
  })

  const foreign = () => attack.grant({}, { client: 'conf2' })

  test('returns active:false for expired tokens and for tokens of an inactive user', async () => {
    await using other = await startAttackServer({ tokenExpiresIn: 60, ...oneProcess })
    const { accessToken, refreshToken } = await other.grant()
    const ask = (token: string) =>
      send('/oauth/introspect', { token }, { headers: as('conf', other), server: other })
    const { users } = other.server.server
    const { id } = other.users.b.user
    const theirs = await other.grant({}, { as: 'b' })
    for (const active of [false, true]) {
      await users.setActive(id, active)
      for (const token of [theirs.accessToken, theirs.refreshToken])
        expect((await ask(token)).body.active).toBe(active)
    }
    other.server.advance(60)
    expectInactive(await ask(accessToken))
    expect((await ask(refreshToken)).body.active).toBe(true)
    other.server.advance(2_592_000)
    expectInactive(await ask(refreshToken))
  })

  test.each<[string, Over | string]>([
    ['a missing token', {}],
    ['an empty token', { token: '' }],
    ['two tokens', { token: ['x', 'x'] }],
    ['token[]', { 'token[]': 'x' }],
    ['two hints', { token: 'x', token_type_hint: ['access_token', 'access_token'] }],
  ])('returns invalid_request for %s at introspection and revocation', async (_, fields) => {
    for (const path of ['/oauth/introspect', '/oauth/revoke']) {
      const response = await send(path, fields as Over, { headers: as('conf') })
      expectJson(response, 400, 'invalid_request')
    }
  })

  test('returns an active token with its expiry and no additional members', async () => {
    const { accessToken, refreshToken } = await attack.grant({ scope: `${r} ${w}` })
    const { clientId } = attack.clients.conf
    const now = Math.floor(attack.server.now() / 1000)
    const common = {
      active: true,
      scope: `${r} ${w}`,
      client_id: clientId,
      sub: String(attack.users.a.user.id),
      iss: attack.issuer,
      aud: attack.issuer,
      iat: now,
    }
    for (const _ of times) {
      const access = await introspect(accessToken)
      expect(access.body).toEqual({
        ...common,
        token_type: 'Bearer',
        exp: now + 3_600,
        jti: expect.stringMatching(/^\d+$/),
      })
      expect(access.headers.get('cache-control')).toBe('no-store')
      const refresh = await introspect(refreshToken, 'conf', { token_type_hint: 'access_token' })
      expect(refresh.body).toEqual({ ...common, exp: now + 2_592_000 })
    }
  })

  test('describes tokens to their client and their resource server only', async () => {
    const files = 'https://files.example'
    const introspectionClients: string[] = []
    await using other = await startAttackServer({
      resources: [{ resource: files, introspectionClients }],
      // In one process, the list of clients can be changed after the start.
      ...oneProcess,
    })
    introspectionClients.push(other.clients.conf2.clientId)
    const ask = async (token: string, client: ClientName) =>
      send('/oauth/introspect', { token }, { headers: as(client, other), server: other })
    const tokenFor = async (resource: string) => (await other.grant({ resource })).accessToken
    const [there, here] = [await tokenFor(files), await tokenFor(other.issuer)]
    const personal = await other.personalToken()
    expect((await ask(there, 'conf2')).body).toMatchObject({ active: true, aud: files })
    expectInactive(await ask(here, 'conf2'))
    expectInactive(await ask(personal.value, 'conf2'))
    expectInactive(await ask(there, 'm2m'))
    expect((await ask(there, 'conf')).body).toMatchObject({ active: true, aud: files })
  })
})

describe('IR-03 Revocation by the client of the token', () => {
  test('returns the same response for tokens of another client without revoking them', async () => {
    const { accessToken, refreshToken } = await attack.grant()
    const own = await machine()
    const before = await attack.state()
    for (const token of [accessToken, refreshToken, own]) {
      expectDone(await revoke(token, 'conf2'))
      expectDone(await revokeAsPublic(token))
      expectDone(await revoke(token, 'evil'))
    }
    expect(await attack.state()).toEqual(before)
    await expectLives(accessToken)
    await expectLives(own)
    expect((await attack.refresh(refreshToken)).status).toBe(200)
  })

  test('revokes a token of a public client only with the ID of the client', async () => {
    const redirect_uri = 'http://127.0.0.1/cb'
    const { accessToken, refreshToken } = await attack.grant({ redirect_uri }, { client: 'pub' })
    expectDone(await revoke(accessToken, 'conf'))
    await expectLives(accessToken)
    expectDone(await revokeAsPublic(refreshToken))
    await expectLives(accessToken, false)
  })

  test.each([
    ['no hint', undefined],
    ['the hint access_token', 'access_token'],
    ['the hint refresh_token', 'refresh_token'],
    ['an unknown hint', 'bogus'],
    ['a huge hint', 'x'.repeat(5_000)],
  ])(
    'revokes the authorization of an access or refresh token with %s',
    async (_, token_type_hint) => {
      const [one, two, other] = [await attack.grant(), await attack.grant(), await attack.grant()]
      expectDone(await revoke(one.accessToken, 'conf', { token_type_hint }))
      expectDone(await revoke(two.refreshToken, 'conf', { token_type_hint }))
      for (const { accessToken, refreshToken } of [one, two]) {
        await expectLives(accessToken, false)
        expectJson(await attack.refresh(refreshToken), 400, 'invalid_grant')
      }
      // Other authorizations remain valid.
      await expectLives(other.accessToken)
    },
  )

  test('revokes only the access token if revokeAccessTokenAlone is enabled', async () => {
    await using alone = await startAttackServer({ revokeAccessTokenAlone: true, ...oneProcess })
    const { accessToken, refreshToken } = await alone.grant()
    const by = { headers: as('conf', alone), server: alone }
    expectDone(await send('/oauth/revoke', { token: accessToken }, by))
    expectBearer(await alone.ping(accessToken), 'invalid_token')
    const refreshed = await alone.refresh(refreshToken)
    expect(refreshed.status).toBe(200)
    expectDone(await send('/oauth/revoke', { token: String(refreshed.body.refresh_token) }, by))
    expectBearer(await alone.ping(String(refreshed.body.access_token)), 'invalid_token')
  })

  test('returns 200 with the same body for unknown, rotated and already revoked tokens, and for concurrent requests', async () => {
    const { accessToken, refreshToken } = await attack.grant()
    for (const token of ['unknown', await attack.code(), "' or 1=1 --", 'a.b.c'])
      expectDone(await revoke(token))
    const responses = await Promise.all(
      [refreshToken, accessToken, refreshToken, accessToken].map((token) => revoke(token)),
    )
    for (const response of responses) expectDone(response)
    for (const token of [accessToken, refreshToken]) expectDone(await revoke(token))
    await expectLives(accessToken, false)

    const again = await attack.grant()
    const { body } = await attack.refresh(again.refreshToken)
    // The replaced access token does not revoke the authorization, but the rotated refresh token does.
    expectDone(await revoke(again.accessToken))
    await expectLives(String(body.access_token))
    expectDone(await revoke(again.refreshToken, 'conf2'))
    await expectLives(String(body.access_token))
    expectDone(await revoke(again.refreshToken))
    await expectLives(String(body.access_token), false)
    expectJson(await attack.refresh(String(body.refresh_token)), 400, 'invalid_grant')
  })

  test('does not revoke an authorization code', async () => {
    const code = await attack.code()
    expectDone(await revoke(code))
    expect((await attack.token({ code })).status).toBe(200)
  })

  test('revokes one client_credentials token, but not other tokens of the client', async () => {
    const [one, other] = [await machine(), await machine()]
    expectDone(await revoke(one, 'm2m'))
    await expectLives(one, false)
    await expectLives(other)
  })

  test('does not allow any client to revoke a personal token', async () => {
    const { id, value } = await attack.personalToken()
    expectDone(await revoke(value))
    expectDone(await revokeAsPublic(value))
    const [{ client_id } = {}] = await attack.server.query(
      `select client_id from oauth2server_token join oauth2server_client using (client_key) where id = ${id}`,
    )
    const itself = await send('/oauth/revoke', { token: value, client_id: String(client_id) })
    expectJson(itself, 401, 'invalid_client')
    await expectLives(value)
  })

  test.each<[string, () => Sending]>([
    ['a request without credentials', () => ({})],
    ['a wrong secret', () => ({ headers: as({ ...attack.clients.conf, clientSecret: 'wrong' }) })],
    ['an unknown client', () => ({ headers: as({ ...attack.clients.conf, clientId: 'nope' }) })],
  ])('returns 401 for %s without revoking the token', async (_, by) => {
    const { accessToken } = await attack.grant()
    expectJson(await send('/oauth/revoke', { token: accessToken }, by()), 401, 'invalid_client')
    await expectLives(accessToken)
  })

  test('ignores a token in the query', async () => {
    const { accessToken } = await attack.grant()
    const headers = as('conf')
    const response = await send(`/oauth/revoke?token=${accessToken}`, {}, { headers })
    expectJson(response, 400, 'invalid_request')
    await expectLives(accessToken)
  })

  test('also revokes the tokens of a concurrent refresh', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { refreshToken } = await attack.grant()
      const [refreshed, revoked] = await Promise.all([
        attack.refresh(refreshToken),
        revoke(refreshToken),
      ])
      expectDone(revoked)
      if (refreshed.status !== 200) continue
      await expectLives(String(refreshed.body.access_token), false)
      expectJson(await attack.refresh(String(refreshed.body.refresh_token)), 400, 'invalid_grant')
    }
  })
})

describe('IR-04 Storage errors during a revocation or introspection', () => {
  /** The store operation that fails, and whether it fails before or after its work. */
  let failing: { readonly at: string; readonly when: 'before' | 'after' } | undefined
  /** The server with failing operations. It has one node in every project, because an option is a function. */
  let failed: AttackServer
  beforeAll(async () => {
    failed = await startAttackServer({
      async aroundStore({ name }, run) {
        const outage = () => new StoreUnavailable('the disk at /var/lib is full')
        if (failing?.at === name && failing.when === 'before') throw outage()
        const result = await run()
        if (failing?.at === name) throw outage()
        return result
      },
    })
  })
  afterAll(() => failed.close())

  const by = () => ({ headers: as('conf', failed), server: failed })
  const whileFailing = async (
    given: NonNullable<typeof failing>,
    token: string,
    path = '/oauth/revoke',
  ): Promise<HttpResponse> => {
    failing = given
    try {
      return await send(path, { token }, by())
    } finally {
      failing = undefined
    }
  }
  const expectOutage = (response: HttpResponse): void => {
    expectJson(response, 503, 'temporarily_unavailable')
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(response.text).not.toContain('/var/lib')
  }

  test.each<[string, 'accessToken' | 'refreshToken']>([
    ['clients.find', 'accessToken'],
    ['tokens.findByAccess', 'accessToken'],
    ['tokens.findByRefresh', 'refreshToken'],
    ['transaction', 'accessToken'],
    ['transaction', 'refreshToken'],
    ['authorizations.revoke', 'accessToken'],
    ['authorizations.revoke', 'refreshToken'],
  ])(
    'returns 503 without revoking if %s fails for the %s, and accepts a retry [T132]',
    async (name, which) => {
      const tokens = await failed.grant()
      const before = await failed.state()
      expectOutage(await whileFailing({ at: name, when: 'before' }, tokens[which]))
      expect(await failed.state()).toEqual(before)
      expect((await failed.ping(tokens.accessToken)).status).toBe(200)
      expectDone(await send('/oauth/revoke', { token: tokens[which] }, by()))
      expectBearer(await failed.ping(tokens.accessToken), 'invalid_token')
    },
  )

  test('returns 503 if the response of the database is lost after the commit, and 200 for the retry', async () => {
    const { accessToken, refreshToken } = await failed.grant()
    expectOutage(await whileFailing({ at: 'transaction', when: 'after' }, refreshToken))
    expectBearer(await failed.ping(accessToken), 'invalid_token')
    expectDone(await send('/oauth/revoke', { token: refreshToken }, by()))
  })

  test('revokes completely or not at all if the transaction fails', async () => {
    const { accessToken, refreshToken } = await failed.grant()
    const before = await failed.state()
    expectOutage(await whileFailing({ at: 'authorizations.revoke', when: 'after' }, accessToken))
    const after = await failed.state()
    // The failed transaction was either rolled back or committed.
    const isDone = (await failed.ping(accessToken)).status === 401
    if (!isDone) expect(after).toEqual(before)
    expectDone(await send('/oauth/revoke', { token: refreshToken }, by()))
    expectBearer(await failed.ping(accessToken), 'invalid_token')
  })

  test('returns 503 for a rotated token that cannot be looked up [T133]', async () => {
    const { refreshToken } = await failed.grant()
    const { body } = await failed.refresh(refreshToken)
    expectOutage(await whileFailing({ at: 'rotatedTokens.find', when: 'before' }, refreshToken))
    expect((await failed.ping(String(body.access_token))).status).toBe(200)
  })

  test.each(['clients.find', 'tokens.findByAccess', 'tokens.findByRefresh'])(
    'returns 503 for an introspection while %s fails',
    async (name) => {
      const { accessToken } = await failed.grant()
      const response = await whileFailing(
        { at: name, when: 'before' },
        accessToken,
        '/oauth/introspect',
      )
      expectOutage(response)
      expect(response.text).not.toContain('active')
    },
  )

  test('returns 503 while the database is unreachable', async () => {
    const { accessToken } = await failed.grant()
    let down = false
    await using other = await startAttackServer({
      async aroundStore(_, run) {
        if (down) throw new StoreUnavailable('gone')
        return run()
      },
    })
    const tokens = await other.grant()
    down = true
    const response = await send(
      '/oauth/revoke',
      { token: tokens.accessToken },
      { headers: as('conf', other), server: other },
    )
    down = false
    expectOutage(response)
    expect((await other.ping(tokens.accessToken)).status).toBe(200)
    expect((await failed.ping(accessToken)).status).toBe(200)
  })
})
