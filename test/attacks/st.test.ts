import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AroundStore } from 'svc-oauth2server'
import { afterEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/crypto/random.ts'
import { clientKeyOf, count, execute, query } from '../support/database.ts'
import { Device, decideOn } from '../support/device.ts'
import { basicOf, postForm } from '../support/form.ts'
import { repeatingRandom } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { formIn, refusal } from '../support/user-agent.ts'
import { type AttackServer, basic, scopes, startAttackServer } from './support/attack-server.ts'

const hour = 3_600
const day = 24 * hour
const form = 'application/x-www-form-urlencoded'

describe('ST-01 Stored credentials [T555]', () => {
  /** Returns the encodings in which a secret could be stored. */
  const writings = (secret: string): readonly string[] => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    // The base64 encoding in a longer text depends on the position of the secret modulo three.
    ...[0, 1, 2].map((offset) => {
      const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
      return bytes.toString('base64').slice(offset === 0 ? 0 : 4, -4)
    }),
  ]

  /** Uses all features, and returns every issued or sent secret by its name. */
  const useEverything = async (it: AttackServer): Promise<Map<string, string>> => {
    const { server, clients } = it
    const secrets = new Map<string, string>()
    const keep = (name: string, secret: unknown): string => {
      expect(secret, name).toMatch(/^.{8,}$/)
      secrets.set(name, String(secret))
      return String(secret)
    }
    keep('password', it.users.a.password)
    keep('client secret', clients.conf.clientSecret)
    keep('personal token', (await it.personalToken('a', [scopes.r])).value)
    keep('verifier', it.verifier)
    const browser = await it.newBrowser('a')
    const { agent } = browser
    keep('session', browser.identifier)
    keep('JWT', browser.jwt)
    keep('CSRF token', browser.csrfToken)
    const page = await it.authorize({ prompt: 'consent' }, { agent, submit: null })
    keep('pending request', formIn(page.text).hidden.authorization_request)
    keep('state', (await it.authorize({ state: 'the-state-of-a-client' }, { agent })).query.state)
    keep('unused code', await it.code({}, { agent }))
    const code = keep('code', await it.code({}, { agent }))
    const issued = await it.token({ code })
    keep('access token', issued.body.access_token)
    const refreshToken = keep('refresh token', issued.body.refresh_token)
    const refreshed = await it.refresh(refreshToken)
    keep('next access token', refreshed.body.access_token)
    keep('next refresh token', refreshed.body.refresh_token)
    // Also send invalid values, because errors are logged.
    await it.token({ code })
    await it.token({ code, code_verifier: keep('wrong verifier', 'wrong'.repeat(10)) })
    const wrong = { ...clients.conf, clientSecret: keep('wrong secret', 'a wrong client secret') }
    await it.token({ code: 'x' }, { client: wrong })
    await it.ping(keep('unknown token', 'Unknown0'.repeat(5)))
    await it.request(`/oauth/ping?access_token=${secrets.get('unknown token')}`)
    const machine = await it.token({ grant_type: 'client_credentials' }, { client: 'm2m' })
    keep('token of a machine', machine.body.access_token)
    const implicit = { response_type: 'token', code_challenge: undefined }
    const over = { ...implicit, code_challenge_method: undefined }
    const granted = await it.authorize(over, { client: 'imp', agent })
    keep('implicit token', granted.fragment.access_token)

    const device = await Device.register(server)
    const codes = await device.codes()
    keep('user code', codes.user_code)
    keep('user code without its dash', codes.user_code.replace('-', ''))
    keep('unused device code', (await device.codes()).device_code)
    await decideOn(server, browser, codes)
    keep('device code', codes.device_code)
    keep('token of a device', (await device.poll(codes)).body.access_token)

    const { search } = new URL(it.authorizeUrl())
    const { body } = await postForm(
      `${it.issuer}/oauth/par`,
      search.slice(1),
      basicOf(clients.conf),
    )
    keep('request_uri', String(body.request_uri).split(':').at(-1))
    const registration = await it.request('/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://client.example/cb'] }),
    })
    keep('registered secret', registration.body.client_secret)
    keep('registration access token', registration.body.registration_access_token)
    const { clientId } = clients.evil
    const { clientSecret } = await server.server.clients.resetClientSecret(clientId)
    keep('new secret', clientSecret)
    return secrets
  }

  test('stores no secret in plain text in the database, its journal or the log [T082]', async () => {
    await using it = await startAttackServer({ logLevel: 'debug' })
    const secrets = await useEverything(it)
    expect(secrets.size).toBe(29)
    const { folder, log } = it.server
    const names = await readdir(folder)
    expect(names.some((name) => name.endsWith('-wal'))).toBe(true)
    const places = await Promise.all(
      names.map(async (name) => [name, await readFile(join(folder, name), 'latin1')] as const),
    )
    const everywhere = [...places, ['the log', JSON.stringify(log)] as const]
    // Check that the files contain the written values, so that the search could find a secret.
    expect(everywhere.map(([, text]) => text).join('')).toContain(it.users.a.email)
    expect(JSON.stringify(log)).toContain('authorization_code.reused')
    const found = everywhere.flatMap(([place, text]) =>
      [...secrets].flatMap(([name, secret]) =>
        writings(secret).some((writing) => text.includes(writing)) ? [`${name} in ${place}`] : [],
      ),
    )
    expect(found).toEqual([])
  })

  test('seals each value with a new nonce, and rejects a sealed value in another row', async () => {
    await using it = await startAttackServer()
    const [one, other] = [await it.grant(), await it.grant({}, { as: 'b' })]
    const rows = await it.server.query(
      'select id, access_token, refresh_token from oauth2server_token where refresh_token is not null order by id',
    )
    const sealed = rows.flatMap((row) => [row.access_token, row.refresh_token].map(String))
    expect(new Set(sealed).size).toBe(4)
    // The first 96 bits of a sealed value are the AES-GCM nonce, which must not repeat.
    const nonces = sealed.map((text) => text.split('.').at(-1)?.slice(0, 16))
    expect(new Set(nonces).size).toBe(4)
    for (const token of [one, other]) expect((await it.ping(token.accessToken)).status).toBe(200)

    it.leaveUnaudited('The test swaps values between rows.')
    const [a, b] = rows.map(({ id }) => Number(id))
    const { database } = it.server
    const put = (value: unknown, id: number | undefined) =>
      execute(
        database,
        'update oauth2server_token set access_token = ? where id = ?',
        String(value),
        Number(id),
      )
    put(rows[1]?.access_token, a)
    put(rows[0]?.access_token, b)
    for (const token of [one, other]) expect((await it.ping(token.accessToken)).status).toBe(401)
    put(rows[0]?.access_token, a)
    put(rows[1]?.access_token, b)
    for (const token of [one, other]) expect((await it.ping(token.accessToken)).status).toBe(200)
    // A changed user ID changes the claims of the row.
    execute(database, `update oauth2server_token set user_id = ${it.users.b.id} where id = ${a}`)
    expect((await it.ping(one.accessToken)).status).toBe(401)
    expect((await it.ping(other.accessToken)).status).toBe(200)
  })
})

describe('ST-04 Collisions of random values', () => {
  const source = repeatingRandom()
  let it: AttackServer | undefined
  const start = async (): Promise<AttackServer> => {
    it = await startAttackServer({ random: source.random })
    source.drawn()
    return it
  }
  afterEach(async () => {
    // Check that all repeated bytes were used, because otherwise no collision occurred.
    expect(source.left).toBe(0)
    await it?.close()
  })

  /** Runs the work twice. The second run first receives the random bytes of the first run. */
  const twice = async <T>(
    work: () => Promise<T>,
    choose = (drawn: readonly Uint8Array[]) => drawn,
  ): Promise<readonly [T, T]> => {
    source.drawn()
    const first = await work()
    source.repeat(choose(source.drawn()))
    return [first, await work()]
  }
  const json = { 'content-type': 'application/json' }

  type Kind = readonly [string, (it: AttackServer) => Promise<readonly [string, string]>]
  const kinds: readonly Kind[] = [
    [
      'a client ID',
      async (it) => {
        const [one, other] = await twice(() => it.client({ grantTypes: ['client_credentials'] }))
        for (const client of [one, other])
          expect((await it.token({ grant_type: 'client_credentials' }, { client })).status).toBe(
            200,
          )
        expect(one.clientSecret).not.toBe(other.clientSecret)
        return [one.clientId, other.clientId]
      },
    ],
    [
      'the client ID of a registration',
      async (it) => {
        const register = () =>
          it.request('/oauth/register', {
            method: 'POST',
            headers: json,
            body: JSON.stringify({ redirect_uris: ['https://client.example/cb'] }),
          })
        const [one, other] = await twice(register)
        expect([one.status, other.status]).toEqual([201, 201])
        return [String(one.body.client_id), String(other.body.client_id)]
      },
    ],
    [
      'an authorization code',
      async (it) => {
        // Consent first, so that only the codes use random bytes.
        await it.code()
        const [one, other] = await twice(() => it.code())
        for (const code of [one, other]) expect((await it.token({ code })).status).toBe(200)
        return [one, other]
      },
    ],
    [
      'a pending request',
      async (it) => {
        await it.grant()
        const shown = async () => {
          const page = await it.authorize({ prompt: 'consent' }, { submit: null })
          return formIn(page.text).hidden.authorization_request ?? ''
        }
        return twice(shown)
      },
    ],
    [
      'an access token and a refresh token',
      async (it) => {
        const codes = [await it.code(), await it.code()]
        const [one, other] = await twice(() => it.token({ code: codes.pop() }))
        expect([one.status, other.status]).toEqual([200, 200])
        for (const { body } of [one, other]) {
          expect((await it.ping(String(body.access_token))).status).toBe(200)
          expect((await it.refresh(String(body.refresh_token))).status).toBe(200)
        }
        return [String(one.body.refresh_token), String(other.body.refresh_token)]
      },
    ],
    [
      'the tokens of a rotation',
      async (it) => {
        const grants = [await it.grant(), await it.grant({}, { as: 'b' })]
        const [one, other] = await twice(() => it.refresh(grants.pop()?.refreshToken ?? ''))
        expect([one.status, other.status]).toEqual([200, 200])
        for (const { body } of [one, other])
          expect((await it.ping(String(body.access_token))).status).toBe(200)
        return [String(one.body.access_token), String(other.body.access_token)]
      },
    ],
    [
      'a client_credentials token',
      async (it) => {
        const machine = { grant_type: 'client_credentials' }
        const [one, other] = await twice(() => it.token(machine, { client: 'm2m' }))
        for (const { body } of [one, other])
          expect((await it.ping(String(body.access_token))).status).toBe(200)
        return [String(one.body.access_token), String(other.body.access_token)]
      },
    ],
    [
      'a personal token',
      async (it) => {
        const [one, other] = await twice(() => it.personalToken('a', [scopes.r]))
        for (const { value } of [one, other]) expect((await it.ping(value)).status).toBe(200)
        return [one.value, other.value]
      },
    ],
    [
      'a session identifier',
      async (it) => {
        const browser = { cookie: null, address: '127.0.0.1', userAgent: 'test' }
        const { sessions } = it.server.server
        const ids = [it.users.a.id, it.users.b.id]
        const [one, other] = await twice(() => sessions.signIn(ids.pop() ?? 0, browser))
        const userOf = async (cookie: string) =>
          (await sessions.signedIn({ ...browser, cookie: cookie.split(';')[0] ?? '' }))?.user.id
        expect([await userOf(one), await userOf(other)]).toEqual([it.users.b.id, it.users.a.id])
        return [one, other]
      },
    ],
    [
      'the reference of a pushed request',
      async (it) => {
        const { search } = new URL(it.authorizeUrl())
        const push = () =>
          postForm(`${it.issuer}/oauth/par`, search.slice(1), basicOf(it.clients.conf))
        const [one, other] = await twice(push)
        expect([one.status, other.status]).toEqual([201, 201])
        return [String(one.body.request_uri), String(other.body.request_uri)]
      },
    ],
    [
      'a device code',
      async (it) => {
        const device = await Device.register(it.server)
        const [one, other] = await twice(() => device.codes())
        expect(one.user_code).not.toBe(other.user_code)
        await decideOn(it.server, await it.browser('a'), other)
        expect(refusal(await device.poll(one))).toBe('400 authorization_pending')
        expect((await device.poll(other)).status).toBe(200)
        return [one.device_code, other.device_code]
      },
    ],
    [
      'a user code',
      async (it) => {
        const device = await Device.register(it.server)
        const drawsOfUserCode = (drawn: readonly Uint8Array[]) =>
          drawn.flatMap((bytes) => (bytes.length === 24 ? [bytes] : [systemRandom(bytes.length)]))
        const [one, other] = await twice(() => device.codes(), drawsOfUserCode)
        return [one.user_code, other.user_code]
      },
    ],
  ]

  test.each(kinds)('creates another value if %s already exists', async (_what, work) => {
    const [one, other] = await work(await start())
    expect(one).not.toBe('')
    expect(other).not.toBe(one)
  })

  test('fails after several collisions without changing the existing row', async () => {
    const { server } = await start()
    await server.client()
    const drawn = source.drawn()
    const before = query(server.database, 'select * from oauth2server_client order by 1')
    source.repeat(Array.from({ length: 5 }, () => drawn).flat())
    await expect(server.client()).rejects.toThrow(/repeats values/)
    expect(query(server.database, 'select * from oauth2server_client order by 1')).toEqual(before)
  })
})

describe('ST-05 Foreign keys, cascades and the sweeper', () => {
  const orphans = ({ database }: TestServer) => query(database, 'pragma foreign_key_check')

  test('deletes dependent rows on every node', async () => {
    await using it = await startAttackServer()
    await using other = await startServer({ beside: it.server })
    for (const { server } of [it.server, other]) {
      for (const as of ['a', 'b'] as const) {
        const { refreshToken } = await it.grant({}, { as })
        await it.refresh(refreshToken)
        await it.code({}, { as })
      }
      const client = await it.client({ userId: it.users.b.id })
      const { accessToken } = await it.grant({}, { client })
      const { value } = await it.personalToken('b')
      expect(await server.clients.delete(client.clientId)).toBe(true)
      expect((await it.ping(accessToken)).status).toBe(401)
      expect(orphans(it.server)).toEqual([])
      expect((await it.ping(value)).status).toBe(200)
    }
    const { value } = await it.personalToken('m')
    await other.server.users.delete(it.users.m.id)
    expect((await it.ping(value)).status).toBe(401)
    await it.server.server.users.delete(it.users.b.id)
    expect(orphans(it.server)).toEqual([])
    for (const table of ['token', 'authorization', 'consent', 'session', 'client']) {
      const [row] = await it.server.query(
        `select count(*) as n from oauth2server_${table} where user_id in (${it.users.b.id}, ${it.users.m.id})`,
      )
      expect(row, table).toEqual({ n: 0 })
    }
  })

  test('does not delete tokens without expiry or rotated refresh tokens of valid authorizations when expired rows are swept', async () => {
    await using it = await startAttackServer({ dynamicRegistration: 'off' })
    const personal = await it.personalToken('a')
    const code = await it.code()
    const first = await it.token({ code })
    let latest = String(first.body.refresh_token)
    for (let week = 0; week < 5; week += 1) {
      latest = String((await it.refresh(latest)).body.refresh_token)
      it.server.advance(7 * day)
      await it.server.server.sweep()
    }
    expect(count(it.server.database, 'oauth2server_rotated_refresh_token')).toBe(5)
    // The server still detects the replay of the code after five weeks.
    expect((await it.token({ code })).body.error).toBe('invalid_grant')
    expect((await it.refresh(latest)).body.error).toBe('invalid_grant')
    it.server.advance(40 * day)
    await it.server.server.sweep()
    expect(count(it.server.database, 'oauth2server_rotated_refresh_token')).toBe(0)
    expect(count(it.server.database, 'oauth2server_authorization')).toBe(0)
    it.server.advance(50 * 365 * day)
    await it.server.server.sweep()
    expect(await statusOf(it.server, personal.value)).toBe(200)
  })

  test('neither sweeps valid tokens nor accepts expired tokens after the clock was set back', async () => {
    let offset = 0
    await using it = await startAttackServer({ dynamicRegistration: 'off' })
    const { server } = it
    await using skewed = await startServer({
      beside: server,
      clock: () => server.now() + offset,
    })
    const { accessToken } = await it.grant()
    const state = await it.state()
    offset = -365 * day * 1000
    expect(await skewed.server.sweep()).toBe(0)
    expect(await it.state()).toEqual(state)
    expect((await it.ping(accessToken)).status).toBe(200)
    // Swept tokens are rejected even if the clock is set back.
    server.advance(400 * day)
    await server.server.sweep()
    offset = -400 * day * 1000
    expect(await statusOf(skewed, accessToken)).toBe(401)
  })

  test('sweeps on two nodes in batches without blocking requests', async () => {
    const batches: number[] = []
    const counting: AroundStore = async ({ name }, run) => {
      const result = await run()
      if (name === 'tokens.deleteExpired') batches.push(Number(result))
      return result
    }
    await using it = await startAttackServer({ aroundStore: counting })
    await using other = await startServer({ beside: it.server, aroundStore: counting })
    const rows = 2_000
    execute(
      it.server.database,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
      insert into oauth2server_token (client_key, token_type, access_token, access_token_digest, expires, ends_at, scopes, is_personal, is_internal, created_at)
      select ${clientKeyOf(it.server.database, it.clients.m2m.clientId)}, 'bearer', 'x', 'digest-' || i, 1, 1, '', 0, 0, 1 from n`,
    )
    const { accessToken } = await it.grant()
    const sweeping = Promise.all([it.server.server.sweep(), other.server.sweep()])
    let answered = 0
    let isOver = false
    void sweeping.then(() => {
      isOver = true
    })
    while (!isOver) {
      const { status } = await it.token({ grant_type: 'client_credentials' }, { client: 'm2m' })
      expect(status).toBe(200)
      answered += 1
    }
    const removed = await sweeping
    // The sweepers also remove expired values of other kinds.
    expect(removed.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(rows)
    // The sweeper deletes at most 1,000 rows in one statement.
    expect(Math.max(...batches)).toBeLessThanOrEqual(1_000)
    // Several requests wrote tokens between the batches.
    expect(answered).toBeGreaterThan(3)
    expect((await it.ping(accessToken)).status).toBe(200)
  })
})

describe('ST-06 Time representation', () => {
  const zone = process.env.TZ
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })

  const introspected = async (it: AttackServer, token: string) => {
    const { clientId, clientSecret } = it.clients.conf
    const response = await it.request('/oauth/introspect', {
      method: 'POST',
      body: `token=${token}`,
      headers: { 'content-type': form, authorization: basic(clientId, clientSecret) },
    })
    return response.body
  }

  test.each([
    ['Asia/Kathmandu', Date.UTC(2026, 10, 21)],
    ['UTC', Date.UTC(2026, 10, 21)],
    // Half a minute before the clock skips or repeats an hour because of daylight saving time.
    ['Europe/Berlin', Date.UTC(2027, 2, 28, 0, 59, 30)],
    ['Europe/Berlin', Date.UTC(2027, 9, 31, 0, 59, 30)],
    ['America/St_Johns', Date.UTC(2027, 2, 14, 5, 29, 30)],
    // Seconds that exceed 31 bits.
    ['UTC', Date.UTC(2038, 0, 19, 3, 14, 0)],
    ['UTC', Date.UTC(2100, 0, 1)],
  ])(
    'stores UTC times and applies the same lifetimes in the time zone %s at %i',
    async (timeZone, at) => {
      process.env.TZ = timeZone
      await using it = await startAttackServer({ dynamicRegistration: 'off' })
      const { server } = it
      server.advance((at - server.now()) / 1000)
      const { accessToken, refreshToken, response } = await it.grant()
      expect(response.body.expires_in).toBe(hour)
      const [row] = await server.query(
        'select expires, created_at from oauth2server_token where refresh_token is not null',
      )
      expect(row).toEqual({ expires: at + hour * 1000, created_at: at })
      expect(await introspected(it, accessToken)).toMatchObject({
        active: true,
        iat: at / 1000,
        exp: at / 1000 + hour,
      })
      server.advance(hour - 1)
      expect((await it.ping(accessToken)).status).toBe(200)
      server.advance(1)
      expect((await it.ping(accessToken)).status).toBe(401)
      expect((await it.refresh(refreshToken)).body.expires_in).toBe(hour)

      const code = await it.code({}, { agent: (await it.newBrowser('b')).agent })
      server.advance(60)
      expect((await it.token({ code })).body.error).toBe('invalid_grant')
    },
  )

  test('rejects tokens with a changed expiry, and accepts only personal tokens without an expiry', async () => {
    await using it = await startAttackServer()
    it.leaveUnaudited('The test changes rows directly.')
    const { database } = it.server
    const { accessToken } = await it.grant()
    const machine = await it.token({ grant_type: 'client_credentials' }, { client: 'm2m' })
    const short = await it.server.server.tokens.createPersonal('Short', it.users.a.id, {
      expiresIn: hour,
    })
    const lasting = await it.personalToken('a')
    const values = [accessToken, String(machine.body.access_token), short.accessToken]
    for (const end of ['0', 'null', '-1', '9007199254740991']) {
      const held = query<{ id: number; expires: number; ends_at: number }>(
        database,
        'select id, expires, ends_at from oauth2server_token where expires is not null',
      )
      expect(held).toHaveLength(3)
      execute(
        database,
        `update oauth2server_token set expires = ${end}, ends_at = ${end} where expires is not null`,
      )
      for (const value of values) expect((await it.ping(value)).status, end).toBe(401)
      for (const { id, expires, ends_at } of held)
        execute(
          database,
          'update oauth2server_token set expires = ?, ends_at = ? where id = ?',
          expires,
          ends_at,
          id,
        )
      for (const value of values) expect((await it.ping(value)).status).toBe(200)
    }
    it.server.advance(200 * 365 * day)
    expect((await it.ping(lasting.value)).status).toBe(200)
    execute(database, 'update oauth2server_token set expires = 0 where id = ?', lasting.id)
    expect((await it.ping(lasting.value)).status).toBe(401)
  })

  test('returns expires_in as a non-negative integer', async () => {
    await using it = await startAttackServer({ tokenExpiresIn: 10, refreshTokenLeeway: 60 })
    const { refreshToken, response } = await it.grant()
    expect(response.body.expires_in).toBe(10)
    const { body } = await it.refresh(refreshToken)
    expect(body.expires_in).toBe(10)
    it.server.advance(9)
    expect((await it.refresh(refreshToken)).body).toMatchObject({
      access_token: body.access_token,
      expires_in: 1,
    })
    // A repeated response contains the same access token, which has expired in the meantime.
    it.server.advance(30)
    const late = await it.refresh(refreshToken)
    expect(late.status).toBe(200)
    expect(late.body.expires_in).toBe(0)
    const machine = await it.token({ grant_type: 'client_credentials' }, { client: 'm2m' })
    expect(machine.body.expires_in).toBe(10)
    const over = { response_type: 'token', code_challenge: undefined }
    const { fragment } = await it.authorize(
      { ...over, code_challenge_method: undefined },
      { client: 'imp' },
    )
    expect(fragment.expires_in).toBe('10')
  })
})
