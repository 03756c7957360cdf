import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordOperations } from '../support/operations.ts'
import { startServer, type TestServer, testScopes } from '../support/server.ts'
import {
  formIn,
  ping,
  refusal,
  responseTo,
  TestClient,
  type TokenResponse,
  UserAgent,
} from '../support/user-agent.ts'

let app: TestServer
let agent: UserAgent
let conf: TestClient
let conf2: TestClient
let pub: TestClient

beforeAll(async () => {
  app = await startServer()
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent)
  conf2 = await TestClient.register(app, agent)
  pub = await TestClient.register(app, agent, { isConfidential: false })
})
afterAll(() => app.close())

const count = async (app: TestServer, table: string, where = 'true'): Promise<number> => {
  const [row] = await app.query(`select count(*) as n from oauth2server_${table} where ${where}`)
  return Number(row?.n)
}

const concurrently = <T>(times: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => work(index)))

/** Returns whether the access token is valid. */
const isAlive = async (client: TestClient, accessToken: string): Promise<boolean> =>
  (await ping(client.app, accessToken)) === 200

/** Returns a client that sends its requests to another node. */
const at = (node: TestServer, client: TestClient): TestClient =>
  Object.assign(new TestClient(node, client.agent, client, 'basic'), { pkce: client.pkce })

describe('RFC 9700 §4.5, RFC 6749 §4.1.2 single use of authorization codes', () => {
  test.each([0, 1, 59, 60, 3_600])(
    'decision §4.8 rejects a second use of a code after %d s, and revokes only its tokens [T049]',
    async (seconds) => {
      for (const client of [conf, pub]) {
        const other = await client.tokens()
        const code = await client.code()
        const first = (await client.redeem(code)).body
        const second = (await client.refresh(first.refresh_token)).body
        app.advance(seconds)
        await app.server.sweep()
        const isOver = seconds >= 3_600
        expect(await isAlive(client, second.access_token)).toBe(!isOver)

        expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
        for (const token of [first, second]) {
          expect(await isAlive(client, token.access_token)).toBe(false)
          expect(refusal(await client.refresh(token.refresh_token))).toBe('400 invalid_grant')
        }
        expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
        expect(await isAlive(client, other.access_token)).toBe(!isOver)
        expect((await client.refresh(other.refresh_token)).status).toBe(200)
      }
    },
  )

  test.each<[string, (client: TestClient, code: string) => Promise<TokenResponse>]>([
    ['without its verifier', (client, code) => client.redeem(code, { code_verifier: undefined })],
    [
      'with a wrong verifier',
      (client, code) => client.redeem(code, { code_verifier: 'x'.repeat(43) }),
    ],
    [
      'without its redirect URI',
      (client, code) => client.redeem(code, { redirect_uri: undefined }),
    ],
    [
      'with another redirect URI',
      (client, code) => client.redeem(code, { redirect_uri: 'https://client.example/x' }),
    ],
    [
      'by another client',
      (client, code) => conf2.redeem(code, { code_verifier: client.pkce.verifier }),
    ],
    [
      'without client authentication',
      (client, code) =>
        client.token({ grant_type: 'authorization_code', code, client_id: 'nobody' }, 'none'),
    ],
  ])('rejects a second use of a code %s without revoking tokens [T523]', async (_how, replay) => {
    for (const late of [false, true]) {
      const code = await conf.code()
      const { body } = await conf.redeem(code)
      if (late) app.advance(60)
      expect((await replay(conf, code)).status).toBeGreaterThanOrEqual(400)
      expect(await isAlive(conf, body.access_token)).toBe(true)
      expect((await conf.refresh(body.refresh_token)).status).toBe(200)
    }
  })

  test('decision §4.8 revokes the tokens after a second use of the code even if the session has ended', async () => {
    const email = 'replay-logout@example.org'
    const user = await app.newUser({ email })
    const account = { ...app, user }
    const client = new TestClient(account, new UserAgent(), conf, 'basic')
    const code = await client.code()
    const { access_token } = (await client.redeem(code)).body
    await app.server.users.setPassword(user.id, 'another long password')
    expect(await ping(app, access_token)).toBe(200)
    expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
    expect(await ping(app, access_token)).toBe(401)
  })

  test('decision §4.8 revokes the tokens after a second use of the code even if the client ID was reset', async () => {
    const client = await TestClient.register(app, agent)
    const code = await client.code()
    const { access_token } = (await client.redeem(code)).body
    const { clientId } = await app.server.clients.resetClientId(client.clientId)
    expect(await ping(app, access_token)).toBe(200)
    const renamed = new TestClient(app, agent, { ...client, clientId }, 'basic')
    const verifier = { code_verifier: client.pkce.verifier }
    expect(refusal(await renamed.redeem(code, verifier))).toBe('400 invalid_grant')
    expect(await ping(app, access_token)).toBe(401)
  })

  test('attacks CD-06 accepts one of 50 concurrent redemptions, and revokes its tokens because of the other requests', async () => {
    for (const client of [conf, pub]) {
      const code = await client.code()
      const responses = await concurrently(50, () => client.redeem(code))
      const given = responses.filter(({ status }) => status === 200)
      const refused = responses.filter(({ status }) => status !== 200)
      expect(given.length).toBe(1)
      expect(refused.map(refusal)).toEqual(Array.from({ length: 49 }, () => '400 invalid_grant'))
      const [{ body } = { body: undefined }] = given
      expect(await isAlive(client, body?.access_token ?? '')).toBe(false)
      expect(refusal(await client.refresh(body?.refresh_token ?? ''))).toBe('400 invalid_grant')
    }
  })

  test('attacks CD-07 redeems a code only once if two nodes read it before the first write', async () => {
    const reading: (() => void)[] = []
    await using node = await startServer({
      beside: app,
      aroundStore: async (operation, run) => {
        const result = await run()
        // After this node has read the code, it waits until the other node has redeemed the code.
        if (operation.name === 'transients.get' && reading.length === 0)
          await new Promise<void>((go) => reading.push(go))
        return result
      },
    })
    const code = await conf.code()
    const slow = at(node, conf).redeem(code)
    while (reading.length === 0) await delay(5)
    const fast = await conf.redeem(code)
    expect(fast.status).toBe(200)
    reading[0]?.()
    expect(refusal(await slow)).toBe('400 invalid_grant')
    expect(await isAlive(conf, fast.body.access_token)).toBe(false)
  })

  test('decision §4.8 redeems a code only once across all nodes [T050]', async () => {
    await using second = await startServer({ beside: app })
    await using third = await startServer({ beside: app })
    const nodes = [conf, at(second, conf), at(third, conf)]
    const before = await count(app, 'authorization')
    const code = await conf.code()
    const responses = await concurrently(30, (index) => (nodes[index % 3] ?? conf).redeem(code))
    expect(responses.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 29 }, () => 400),
    ])
    expect(await count(app, 'authorization')).toBe(before + 1)
  })

  test('logs the replay of a code, but not the code itself', async () => {
    const code = await conf.code()
    await conf.redeem(code)
    await conf.redeem(code)
    expect(app.log).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'authorization_code.reused' }),
    )
    expect(JSON.stringify(app.log)).not.toContain(code)
  })
})

describe('RFC 9700 §2.2.2, decision §5.4 grants that issue refresh tokens [T559]', () => {
  test('issues refresh tokens for authorization_code, but not for implicit and client_credentials [T060]', async () => {
    for (const client of [conf, pub])
      expect((await client.tokens()).refresh_token).toMatch(/^[A-Za-z0-9]{43}$/)
    const machine = await conf.token({ grant_type: 'client_credentials' })
    expect(machine.body).not.toHaveProperty('refresh_token')
    const implicit = responseTo(conf, await conf.ask({ response_type: 'token' }), 'fragment')
    expect(implicit).not.toHaveProperty('refresh_token')
  })

  test('RFC 6749 §6 attacks RF-09 rejects access tokens, codes and changed values as refresh tokens', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    const machine = await conf.token({ grant_type: 'client_credentials' })
    const implicit = responseTo(conf, await conf.ask({ response_type: 'token' }), 'fragment')
    const pat = await app.personalToken(['notes:read'])
    for (const value of [
      access_token,
      machine.body.access_token,
      implicit.access_token ?? '',
      pat,
      await conf.code(),
      refresh_token.toLowerCase(),
      refresh_token.slice(0, -1),
      `${refresh_token} `,
    ]) {
      expect(refusal(await conf.refresh(value))).toBe('400 invalid_grant')
    }
    expect(await ping(app, refresh_token)).toBe(401)
    for (const token of [access_token, machine.body.access_token, pat])
      expect(await ping(app, token)).toBe(200)
    expect((await conf.refresh(refresh_token)).status).toBe(200)
  })
})

describe('RFC 9700 §4.14.2, decision §5.4 refresh token rotation', () => {
  test('rotates the refresh token at each refresh, and ends the previous access token after the leeway [T494]', async () => {
    for (const client of [conf, pub]) {
      let current = await client.tokens()
      for (let round = 0; round < 3; round += 1) {
        const next = (await client.refresh(current.refresh_token)).body
        expect(next.refresh_token).not.toBe(current.refresh_token)
        expect(next.access_token).not.toBe(current.access_token)
        expect(await isAlive(client, current.access_token)).toBe(true)
        app.advance(60)
        expect(await isAlive(client, current.access_token)).toBe(false)
        expect(await isAlive(client, next.access_token)).toBe(true)
        current = next
      }
    }
  })

  test('RFC 6749 §1.5 accepts the refresh token after the access token expired [T651]', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    app.advance(3_601)
    expect(await isAlive(conf, access_token)).toBe(false)
    const { body } = await conf.refresh(refresh_token)
    expect(await isAlive(conf, body.access_token)).toBe(true)
  })

  test('returns the same tokens within the leeway of 60 s, with the remaining expires_in', async () => {
    for (const client of [conf, pub]) {
      const { refresh_token } = await client.tokens({ scope: 'notes:read user:email' })
      const first = await client.refresh(refresh_token)
      expect(first.body.user?.email).toBe(app.user.email)
      for (const [seconds, remains] of [
        [0, 3600],
        [30, 3570],
        [29, 3541],
      ] as const) {
        app.advance(seconds)
        const again = await client.refresh(refresh_token)
        expect(again.status).toBe(200)
        expect(again.body).toEqual({ ...first.body, expires_in: remains })
      }
      expect(await isAlive(client, first.body.access_token)).toBe(true)
    }
  })

  test('revokes only the authorization of a refresh token that is reused after the leeway [T087]', async () => {
    for (const client of [conf, pub]) {
      const [one, other] = [await client.tokens(), await client.tokens()]
      const personal = await app.personalToken()
      const two = (await client.refresh(one.refresh_token)).body
      app.advance(60)
      expect(refusal(await client.refresh(one.refresh_token))).toBe('400 invalid_grant')
      expect(await isAlive(client, two.access_token)).toBe(false)
      expect(refusal(await client.refresh(two.refresh_token))).toBe('400 invalid_grant')
      // The other authorization of the same user and client remains valid (decision §5.5).
      expect(await isAlive(client, other.access_token)).toBe(true)
      expect((await client.refresh(other.refresh_token)).status).toBe(200)
      expect(await ping(app, personal)).toBe(200)
    }
  })

  test('revokes the authorization if a refresh token is reused after its successor was used, even within the leeway', async () => {
    for (const ancestor of [0, 1]) {
      const first = await conf.tokens()
      const second = (await conf.refresh(first.refresh_token)).body
      const third = (await conf.refresh(second.refresh_token)).body
      const fourth = (await conf.refresh(third.refresh_token)).body
      const reused = [first, second][ancestor]?.refresh_token ?? ''
      expect(refusal(await conf.refresh(reused))).toBe('400 invalid_grant')
      expect(await isAlive(conf, fourth.access_token)).toBe(false)
      // The leeway does not apply to the refresh tokens of a revoked authorization.
      for (const { refresh_token } of [third, fourth, first])
        expect(refusal(await conf.refresh(refresh_token))).toBe('400 invalid_grant')
      expect(await isAlive(conf, fourth.access_token)).toBe(false)
    }
  })

  test('accepts a new refresh token immediately, and applies the leeway to this token again', async () => {
    const first = await conf.tokens()
    const second = (await conf.refresh(first.refresh_token)).body
    const third = (await conf.refresh(second.refresh_token)).body
    expect((await conf.refresh(second.refresh_token)).body).toEqual(third)
    expect(await isAlive(conf, third.access_token)).toBe(true)
  })

  test('rejects a repeated refresh with another scope without revoking tokens', async () => {
    const scope = 'notes:read notes:write'
    const { refresh_token } = await conf.tokens({ scope })
    const first = (await conf.refresh(refresh_token, { scope: 'notes:read' })).body
    for (const given of [{}, { scope: 'notes:write' }, { scope }])
      expect(refusal(await conf.refresh(refresh_token, given))).toBe('400 invalid_grant')
    expect(await isAlive(conf, first.access_token)).toBe(true)
    expect((await conf.refresh(refresh_token, { scope: ' notes:read  notes:read' })).body).toEqual(
      first,
    )
    expect((await conf.refresh(first.refresh_token)).body.scope).toBe(scope)
  })

  test('rejects a refresh token from another client without revoking tokens [T073]', async () => {
    const current = await conf.tokens()
    for (const seconds of [0, 60]) {
      expect(refusal(await conf2.refresh(current.refresh_token))).toBe('400 invalid_grant')
      expect(refusal(await pub.refresh(current.refresh_token))).toBe('400 invalid_grant')
      const next = (await conf.refresh(current.refresh_token)).body
      app.advance(seconds)
      for (const thief of [conf2, pub])
        expect(refusal(await thief.refresh(current.refresh_token))).toBe('400 invalid_grant')
      expect(await isAlive(conf, next.access_token)).toBe(true)
      Object.assign(current, next)
    }
  })

  test('rejects the refresh tokens of a revoked authorization even within the leeway [T525]', async () => {
    const { refresh_token } = await conf.tokens()
    const { body } = await conf.refresh(refresh_token)
    const found = await app.server.tokens.find({ accessToken: body.access_token })
    expect(found && (await app.server.tokens.revoke(found.token))).toBe(true)
    for (const token of [refresh_token, body.refresh_token])
      expect(refusal(await conf.refresh(token))).toBe('400 invalid_grant')
    expect(await isAlive(conf, body.access_token)).toBe(false)
  })

  test('does not consume the refresh token in a rejected request', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    const failures = [
      await conf.refresh(refresh_token, { scope: 'notes:write' }),
      await conf.refresh(refresh_token, { scope: 'bogus' }),
      await conf.refresh(refresh_token, { scope: 'a"b' }),
      await conf.refresh(refresh_token, { client_id: conf2.clientId }),
      await conf2.refresh(refresh_token),
      await conf.token(
        {
          grant_type: 'refresh_token',
          refresh_token,
          client_id: conf.clientId,
          client_secret: 'wrong',
        },
        'none',
      ),
    ]
    expect(failures.map(refusal)).toEqual([
      '400 invalid_scope',
      '400 invalid_scope',
      '400 invalid_scope',
      '400 invalid_request',
      '400 invalid_grant',
      '401 invalid_client',
    ])
    expect(await isAlive(conf, access_token)).toBe(true)
    expect((await conf.refresh(refresh_token)).status).toBe(200)
  })

  test('RFC 6749 §6 attacks RF-07 limits only the access token to a narrower scope, and rejects a wider scope [T072]', async () => {
    let { refresh_token } = await conf.tokens({ scope: 'notes:read notes:write' })
    for (const [scope, granted] of [
      ['notes:read', 'notes:read'],
      [undefined, 'notes:read notes:write'],
      ['', 'notes:read notes:write'],
      ['notes:read notes:write', 'notes:read notes:write'],
      ['notes:write', 'notes:write'],
      ['notes:read', 'notes:read'],
    ] as const) {
      const { body } = await conf.refresh(refresh_token, { scope })
      expect([scope, body.scope]).toEqual([scope, granted])
      const found = await app.server.tokens.find({ accessToken: body.access_token })
      expect(found?.token.scopes.join(' ')).toBe(granted)
      refresh_token = body.refresh_token
    }
    for (const scope of ['notes:read notes:write user:email', 'user:email', 'test:scope'])
      expect(refusal(await conf.refresh(refresh_token, { scope }))).toBe('400 invalid_scope')
    expect((await conf.refresh(refresh_token)).status).toBe(200)
  })

  test('enforces the narrower scope of an access token', async () => {
    const { refresh_token } = await conf.tokens({ scope: 'notes:read notes:write' })
    const { body } = await conf.refresh(refresh_token, { scope: 'notes:write' })
    const headers = { authorization: `Bearer ${body.access_token}` }
    expect((await fetch(`${app.issuer}/api/notes`, { headers })).status).toBe(403)
  })

  test('attacks RF-08 does not grant a scope that the client lost or that is no longer registered', async () => {
    const scope = 'notes:read notes:write'
    const client = await TestClient.register(app, agent)
    const first = await client.tokens({ scope })
    await app.server.clients.update(client.clientId, { allowedScopes: ['notes:read'] })
    const { body } = await client.refresh(first.refresh_token)
    expect(body.scope).toBe('notes:read')
    expect(refusal(await client.refresh(body.refresh_token, { scope }))).toBe('400 invalid_scope')
    const scopes = testScopes.filter(({ id }) => id !== 'notes:read')
    await using other = await startServer({ beside: app, scopes })
    expect(refusal(await at(other, client).refresh(body.refresh_token))).toBe('400 invalid_scope')
    await app.server.clients.update(client.clientId, { allowedScopes: null })
    expect((await client.refresh(body.refresh_token)).body.scope).toBe(scope)
  })

  test('expires refresh tokens after 30 days by default, counted from the last use [T527]', async () => {
    await using own = await startServer()
    const client = await TestClient.register(own, new UserAgent())
    let { refresh_token } = await client.tokens()
    for (let month = 0; month < 3; month += 1) {
      own.advance(30 * 86_400 - 1)
      const { status, body } = await client.refresh(refresh_token)
      expect(status).toBe(200)
      refresh_token = body.refresh_token
    }
    own.advance(30 * 86_400)
    expect(refusal(await client.refresh(refresh_token))).toBe('400 invalid_grant')
    await own.server.sweep()
    expect(refusal(await client.refresh(refresh_token))).toBe('400 invalid_grant')
  })

  test('expires refresh tokens after the configured lifetime', async () => {
    await using own = await startServer({ refreshTokenExpiresIn: 100 })
    const client = await TestClient.register(own, new UserAgent())
    const [one, two] = [await client.tokens(), await client.tokens()]
    own.advance(99)
    expect((await client.refresh(one.refresh_token)).status).toBe(200)
    own.advance(1)
    expect(refusal(await client.refresh(two.refresh_token))).toBe('400 invalid_grant')
    expect(await isAlive(client, two.access_token)).toBe(true)
  })

  test('attacks RF-08 rejects refresh tokens after the absolute lifetime of the authorization', async () => {
    await using own = await startServer({ authorizationExpiresIn: 7_200 })
    const client = await TestClient.register(own, new UserAgent())
    let { refresh_token } = await client.tokens()
    for (let round = 0; round < 3; round += 1) {
      own.advance(2_000)
      const { status, body } = await client.refresh(refresh_token)
      expect(status).toBe(200)
      refresh_token = body.refresh_token
    }
    own.advance(1_200)
    expect(refusal(await client.refresh(refresh_token))).toBe('400 invalid_grant')
  })

  test('logs the reuse of a refresh token, but not the tokens themselves [T763]', async () => {
    const { refresh_token } = await conf.tokens()
    const { body } = await conf.refresh(refresh_token)
    app.advance(60)
    await conf.refresh(refresh_token)
    const warnings = app.log.filter(({ event }) => event === 'refresh_token.reused')
    expect(warnings.at(-1)).toMatchObject({ level: 'warn' })
    for (const secret of [refresh_token, body.refresh_token, body.access_token])
      expect(JSON.stringify(app.log)).not.toContain(secret)
  })

  test('revokes the authorization of a reused refresh token and writes the audit event in one transaction', async () => {
    const { operations, aroundStore } = recordOperations()
    await using own = await startServer({ aroundStore })
    const client = await TestClient.register(own, new UserAgent())
    const { refresh_token } = await client.tokens()
    const { body } = await client.refresh(refresh_token)
    await client.refresh(body.refresh_token)
    operations.length = 0
    await client.refresh(refresh_token)
    const writes = operations.filter((name) => !/\.find|ofAuthorization/.test(name))
    expect(writes).toEqual(['transaction', 'authorizations.revoke', 'audit.add'])
    expect(await count(own, 'token')).toBe(0)
  })

  describe('attacks RF-05 concurrent refreshes', () => {
    test('rotates the token only once, and returns identical responses to 50 concurrent requests', async () => {
      for (const client of [conf, pub]) {
        const { refresh_token } = await client.tokens({ scope: 'notes:read user:email' })
        const rotations = await count(app, 'rotated_refresh_token')
        const responses = await concurrently(50, () => client.refresh(refresh_token))
        expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
        expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
        expect(await count(app, 'rotated_refresh_token')).toBe(rotations + 1)
        const [{ body } = { body: undefined }] = responses
        expect(body?.user?.email).toBe(app.user.email)
        expect(await isAlive(client, body?.access_token ?? '')).toBe(true)
        expect((await client.refresh(body?.refresh_token ?? '')).status).toBe(200)
      }
    })

    test('returns identical responses to concurrent requests on two nodes', async () => {
      await using node = await startServer({ beside: app })
      const { refresh_token } = await conf.tokens()
      const clients = [conf, at(node, conf)]
      const responses = await concurrently(30, (index) =>
        (clients[index % 2] ?? conf).refresh(refresh_token),
      )
      expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      expect(responses[0]?.status).toBe(200)
    })

    test('rotates the token only once if two nodes read it before the first write', async () => {
      const reading: (() => void)[] = []
      await using node = await startServer({
        beside: app,
        aroundStore: async (operation, run) => {
          const result = await run()
          if (operation.name === 'tokens.findByRefresh')
            await new Promise<void>((go) => reading.push(go))
          return result
        },
      })
      const { refresh_token } = await conf.tokens()
      const slow = at(node, conf).refresh(refresh_token)
      while (reading.length === 0) await delay(5)
      const fast = await conf.refresh(refresh_token)
      reading[0]?.()
      expect((await slow).body).toEqual(fast.body)
      expect(await isAlive(conf, fast.body.access_token)).toBe(true)
    })

    test('if concurrent requests have different scopes, accepts only one scope and does not revoke tokens', async () => {
      const { refresh_token } = await conf.tokens({ scope: 'notes:read notes:write' })
      const scopes = ['notes:read', 'notes:write']
      const responses = await concurrently(20, (index) =>
        conf.refresh(refresh_token, { scope: scopes[index % 2] }),
      )
      const given = responses.filter(({ status }) => status === 200)
      expect(given.length).toBe(10)
      expect(new Set(given.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      const refused = responses.filter(({ status }) => status !== 200)
      expect(new Set(refused.map(refusal))).toEqual(new Set(['400 invalid_grant']))
      expect(await isAlive(conf, given[0]?.body.access_token ?? '')).toBe(true)
    })

    test('without a leeway (0), accepts one of 50 concurrent requests, and revokes its tokens because of the other requests', async () => {
      await using strict = await startServer({ refreshTokenLeeway: 0 })
      const client = await TestClient.register(strict, new UserAgent())
      const other = await client.tokens()
      const { refresh_token } = await client.tokens()
      const responses = await concurrently(50, () => client.refresh(refresh_token))
      const given = responses.filter(({ status }) => status === 200)
      expect(given.length).toBe(1)
      const refused = responses.filter(({ status }) => status !== 200)
      expect(refused.map(refusal)).toEqual(Array.from({ length: 49 }, () => '400 invalid_grant'))
      expect(await isAlive(client, given[0]?.body.access_token ?? '')).toBe(false)
      expect(await isAlive(client, other.access_token)).toBe(true)
    })
  })

  test('without a leeway (0), revokes the tokens after an immediate second use', async () => {
    await using strict = await startServer({ refreshTokenLeeway: 0 })
    const client = await TestClient.register(strict, new UserAgent())
    const { refresh_token } = await client.tokens()
    const { body } = await client.refresh(refresh_token)
    expect(await isAlive(client, body.access_token)).toBe(true)
    expect(refusal(await client.refresh(refresh_token))).toBe('400 invalid_grant')
    expect(await isAlive(client, body.access_token)).toBe(false)
  })
})

describe('decision §5.3 inactive users and owners', () => {
  const granted = async (name: string) => {
    const user = await app.server.users.create({
      email: `${name}@example.org`,
      password: app.password,
    })
    const owner = await app.server.users.create({
      email: `${name}-owner@example.org`,
      password: null,
    })
    const client = await TestClient.register(
      { ...app, user, client: app.client },
      new UserAgent(),
      {
        userId: owner.id,
      },
    )
    const rotated = await client.tokens()
    const tokens = (await client.refresh(rotated.refresh_token)).body
    return { user, owner, client, rotated, tokens }
  }

  test('rejects the access and refresh tokens of an inactive user until reactivation [T526]', async () => {
    const { user, client, rotated, tokens } = await granted('rf-user')
    const personal = await app.server.tokens.createPersonal('PAT', user.id)
    await app.server.users.setActive(user.id, false)
    for (const token of [tokens.access_token, personal.accessToken])
      expect(await ping(app, token)).toBe(401)
    expect(refusal(await client.refresh(tokens.refresh_token))).toBe('400 invalid_grant')
    expect(refusal(await client.refresh(rotated.refresh_token))).toBe('400 invalid_grant')
    await app.server.users.setActive(user.id, true)
    for (const token of [tokens.access_token, personal.accessToken])
      expect(await ping(app, token)).toBe(200)
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200)
  })

  test('rejects the clients of an inactive owner and their tokens until reactivation', async () => {
    const { owner, client, rotated, tokens } = await granted('rf-owner')
    await app.server.users.setActive(owner.id, false)
    expect(await ping(app, tokens.access_token)).toBe(401)
    for (const { refresh_token } of [tokens, rotated])
      expect(refusal(await client.refresh(refresh_token))).toBe('401 invalid_client')
    await app.server.users.setActive(owner.id, true)
    expect(await ping(app, tokens.access_token)).toBe(200)
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200)
  })

  test('rejects the tokens of an inactive user on another node immediately', async () => {
    const { user, client, tokens } = await granted('rf-node')
    await using node = await startServer({ beside: app })
    expect(await ping(node, tokens.access_token)).toBe(200)
    await app.server.users.setActive(user.id, false)
    expect(await ping(node, tokens.access_token)).toBe(401)
    expect(refusal(await at(node, client).refresh(tokens.refresh_token))).toBe('400 invalid_grant')
    await app.server.users.setActive(user.id, true)
    expect(await ping(node, tokens.access_token)).toBe(200)
  })

  test('rejects the access and refresh tokens of a deleted user or client', async () => {
    const one = await granted('rf-deleted-user')
    await app.server.users.delete(one.user.id)
    expect(await ping(app, one.tokens.access_token)).toBe(401)
    for (const { refresh_token } of [one.tokens, one.rotated])
      expect(refusal(await one.client.refresh(refresh_token))).toBe('400 invalid_grant')

    const two = await granted('rf-deleted-client')
    const deleted = await app.server.clients.find(two.client.clientId)
    await app.server.clients.delete(two.client.clientId)
    expect(await ping(app, two.tokens.access_token)).toBe(401)
    for (const { refresh_token } of [two.tokens, two.rotated])
      expect(refusal(await two.client.refresh(refresh_token))).toBe('401 invalid_client')
    for (const table of ['token', 'authorization', 'consent'])
      expect(await count(app, table, `client_key = ${deleted?.clientKey}`)).toBe(0)
  })
})

describe('invariants of the stored tokens after the tests above', () => {
  test('stores only tokens of valid authorizations, with scopes that the user granted', async () => {
    await conf.tokens()
    const rows = await app.query(
      `select t.scopes, a.scopes as granted, a.revoked_at, c.scopes as consented
        from oauth2server_token t
        join oauth2server_authorization a on a.id = t.authorization_id
        join oauth2server_consent c on c.user_id = t.user_id and c.client_key = t.client_key`,
    )
    expect(rows.length).toBeGreaterThan(10)
    const within = (inner: unknown, outer: unknown) =>
      String(inner)
        .split(' ')
        .every((scope) => scope === '' || String(outer).split(' ').includes(scope))
    for (const { scopes, granted, revoked_at, consented } of rows) {
      expect(revoked_at).toBeNull()
      expect(within(scopes, granted)).toBe(true)
      expect(within(granted, consented)).toBe(true)
    }
    const doubled = await app.query(
      'select authorization_id from oauth2server_token where authorization_id is not null group by 1 having count(*) > 1',
    )
    expect(doubled).toEqual([])
  })
})

describe('RFC 9700 §4.7, §4.11, §4.12 attacks in the browser', () => {
  test('§4.11.2 attacks AZ-16 before the login, redirects an invalid request to the login page, not to the client [T097]', async () => {
    const evil = await TestClient.register(app, agent, {
      redirectUris: ['https://evil.example/cb'],
      isConfidential: false,
    })
    for (const given of [
      { scope: 'bogus' },
      { response_type: undefined },
      { response_type: 'bogus' },
      { code_challenge: undefined, code_challenge_method: undefined },
      { request: 'x' },
      { state: 'x'.repeat(5_000) },
      { prompt: 'none consent' },
    ]) {
      const first = await new UserAgent().fetch(evil.url(given))
      expect([first.status, first.headers.get('location')?.split('?')[0]]).toEqual([303, '/login'])
    }
  })

  test('§4.12 redirects after the login with 303, so that browsers do not resend the password [T521]', async () => {
    const visitor = new UserAgent()
    const login = await visitor.browse(conf.url())
    const { status, headers } = await visitor.submit(login, {
      email: app.user.email,
      password: app.password,
    })
    expect(status).toBe(303)
    expect(headers.get('location')).toMatch(/^\/oauth\/authorize\?/)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('§4.7.1 rejects a consent form that was shown in an earlier session [T553]', async () => {
    const visitor = new UserAgent()
    await visitor.logIn(app)
    const { hidden } = formIn(await (await visitor.browse(pub.url())).text())
    await visitor.submit(await visitor.browse(`${app.issuer}/login?prompt=login`), {
      email: app.user.email,
      password: app.password,
    })
    const response = await visitor.fetch(`${app.issuer}/oauth/authorize`, {
      method: 'POST',
      body: new URLSearchParams({ ...hidden, confirm: 'yes' }),
    })
    expect([response.status, response.headers.get('location')]).toEqual([403, null])
  })
})
