import { type AroundStore, StoreUnavailable, StoreUnusable } from 'svc-oauth2server'
import { describe, expect, test, vi } from 'vitest'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { clientKeyOf, count, execute, query } from '../support/database.ts'
import { storeOf } from '../support/internals.ts'
import { secretKey, startServer, type TestServer, withoutWarnings } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { tokenRequest } from '../support/user-agent.ts'
import { everyKind, expectAllWork, ownToken, redeem } from './every-kind.ts'

const next = 'the next secret key, of more than 32 bytes'
const third = 'a third secret key, also of more than 32 bytes'
const idOf = (secret: string): string => new KeyRing([secret]).currentId

/** The sealed columns of every table. */
const columns = [
  ['token', 'access_token'],
  ['token', 'refresh_token'],
  ['rotated_refresh_token', 'seal'],
  ['client', 'seal'],
  ['consent', 'seal'],
  ['session', 'seal'],
  ['user', 'password_hash'],
] as const

/** Counts the values of each kind that a key has sealed. */
const countUnder = ({ database }: TestServer, secret: string): Record<string, number> =>
  Object.fromEntries(
    columns
      .map(([table, column]): [string, number] => {
        const where = `where ${column} like '${idOf(secret)}.%'`
        return [`${table}.${column}`, count(database, `oauth2server_${table} ${where}`)]
      })
      .filter(([, rows]) => rows > 0),
  )

const registeredKeys = ({ database }: TestServer): readonly string[] =>
  query<{ id: string }>(database, 'select id from oauth2server_secret_key').map(({ id }) => id)

/** Starts another node with the given keys on the same database. */
const node = (app: TestServer, secretKeys: readonly string[], aroundStore?: AroundStore) =>
  startServer({
    beside: app,
    issuer: app.issuer,
    secretKeys,
    ...withoutWarnings,
    // Raise the limit, because one user has thousands of tokens.
    authorizationsPerApplication: 100_000,
    ...(aroundStore ? { aroundStore } : {}),
  })

/** Calls `work` once, before the first store operation with the given name. */
const beforeFirst = (operation: string, work: () => Promise<unknown>): AroundStore => {
  let isDone = false
  return async ({ name }, run) => {
    if (name === operation && !isDone) {
      isDone = true
      await work()
    }
    return run()
  }
}

describe('a rotation of the secret keys', { timeout: 600_000 }, () => {
  test('does not invalidate any kind of row before, during or after the rotation, or without the previous key', async () => {
    await using app = await startServer()
    const made = await everyKind(app)
    await expectAllWork(app, made)
    expect(Object.keys(countUnder(app, secretKey))).toHaveLength(columns.length)

    // Every server must have the new key before a server writes with the new key.
    const knowing = await node(app, [secretKey, next])
    await expectAllWork(knowing, made)
    await using writing = await node(app, [next, secretKey])
    const checked = new Set<string>()
    await using rotating = await node(app, [next, secretKey], async ({ name }, run) => {
      const result = await run()
      if (name.startsWith('sealed.') && !checked.has(name)) {
        checked.add(name)
        for (const at of [knowing, writing]) await expectAllWork(at, made)
      }
      return result
    })
    await rotating.server.rotateSecretKeys()
    expect(checked.size).toBeGreaterThanOrEqual(11)
    await knowing.close()

    const { unreadable, isComplete, keepFor } = await rotating.server.rotateSecretKeys()
    expect({ unreadable, isComplete, keepFor }).toEqual({
      unreadable: [],
      isComplete: true,
      keepFor: 86_400,
    })
    expect(countUnder(app, secretKey)).toEqual({})
    expect(registeredKeys(app)).toEqual([idOf(next)])
    for (const at of [writing, rotating]) await expectAllWork(at, made)

    await using after = await node(app, [next])
    await expectAllWork(after, made)
    for (const { accessToken, refreshToken } of made.untouched) {
      expect(await statusOf(after, accessToken)).toBe(200)
      expect((await made.refresh(after, refreshToken)).status).toBe(200)
    }
    // The rotation also seals rotated refresh tokens again. After the leeway, reusing a rotated token revokes its
    // authorization.
    after.advance(61)
    expect((await made.refresh(after, made.rotated)).body.error).toBe('invalid_grant')
    expect(await statusOf(after, String(made.answered.access_token))).toBe(401)
    expect([rotating, writing, after].flatMap(({ log }) => log).map(({ event }) => event)).toEqual([
      'refresh_token.reused',
    ])
  })

  test('a node without the key that sealed a row returns 503 instead of rejecting the credentials', async () => {
    await using behind = await startServer()
    await using ahead = await node(behind, [next, secretKey])
    const basic = await ahead.client()
    const personal = await ahead.personalToken()
    const { refreshToken } = await authorizationOf(ahead, basic.clientId)
    expect(await statusOf(behind, personal)).toBe(503)
    const refresh = (at: TestServer) =>
      tokenRequest(
        at.issuer,
        { grant_type: 'refresh_token', refresh_token: refreshToken ?? '' },
        { basic },
      )
    const response = await refresh(behind)
    expect([response.status, response.body.error]).toEqual([503, 'temporarily_unavailable'])
    expect(behind.log.map(({ error }) => String(error))).toContainEqual(
      expect.stringContaining(`Secret key ${idOf(next)} is used by other nodes`),
    )
    expect(behind.log.map(({ event }) => event)).not.toContain('token.tampered')
    expect(behind.log.map(({ event }) => event)).not.toContain('client.tampered')
    expect(await statusOf(ahead, personal)).toBe(200)
    expect((await refresh(ahead)).status).toBe(200)
  })

  test('reports progress and the number of resealed rows, which is 0 in a second run', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    for (let index = 0; index < 600; index += 1) await authorizationOf(app, clientId)
    await using rotating = await node(app, [next, secretKey])
    const progress: { table: string; resealed: number }[] = []
    const onProgress = (step: { table: string; resealed: number }) => progress.push(step)
    expect((await rotating.server.rotateSecretKeys({ onProgress })).resealed).toBe(602)
    expect(progress.slice(0, 3)).toEqual([
      { table: 'oauth2server_token', resealed: 250 },
      { table: 'oauth2server_token', resealed: 500 },
      { table: 'oauth2server_token', resealed: 600 },
    ])
    const places = [...new Set(progress.map(({ table }) => table))]
    expect(places.slice(-3)).toEqual([
      'oauth2server_user',
      'oauth2server_signing_key',
      'oauth2server_audit_checkpoint',
    ])
    expect(progress.at(-1)).toEqual({ table: 'oauth2server_audit_checkpoint', resealed: 602 })
    const before = progress.length
    expect(await rotating.server.rotateSecretKeys({ onProgress })).toMatchObject({ resealed: 0 })
    expect(progress.slice(before).every(({ resealed }) => resealed === 0)).toBe(true)
  })

  test('seals the rows of several previous keys in one run, and can be reverted', async () => {
    await using app = await startServer()
    const tokens = [await app.personalToken()]
    const second = await node(app, [next, secretKey])
    tokens.push(await second.personalToken())
    await second.close()
    await using all = await node(app, [third, next, secretKey])
    tokens.push(await all.personalToken())
    // The rows are two tokens with their clients, and the user.
    expect((await all.server.rotateSecretKeys()).resealed).toBe(5)
    expect(registeredKeys(app)).toEqual([idOf(third)])
    await using back = await node(app, [secretKey, third])
    // The additional rows are the third token with its client, and the audit checkpoint of the first rotation.
    expect((await back.server.rotateSecretKeys()).resealed).toBe(8)
    expect(registeredKeys(app)).toEqual([idOf(secretKey)])
    for (const token of tokens) expect(await statusOf(app, token)).toBe(200)
  })

  test('two concurrent runs together seal every row once', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    const issued = []
    for (let index = 0; index < 700; index += 1) issued.push(await authorizationOf(app, clientId))
    await using one = await node(app, [next, secretKey])
    await using another = await node(app, [next, secretKey])
    const rotations = await Promise.all(
      [one, another].map(({ server }) => server.rotateSecretKeys()),
    )
    expect(rotations.map(({ isComplete }) => isComplete)).toEqual([true, true])
    expect(rotations.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(702)
    await using after = await node(app, [next])
    for (const { accessToken } of issued.slice(0, 20))
      expect(await statusOf(after, accessToken)).toBe(200)
    expect(
      await after.server.tokens.find({ refreshToken: issued[9]?.refreshToken ?? '' }),
    ).toBeDefined()
  })

  test('can be repeated after an interruption, and the second run seals the remaining rows', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    for (let index = 0; index < 600; index += 1) await authorizationOf(app, clientId)
    let writes = 0
    const failing = await node(app, [next, secretKey], async ({ name }, run) => {
      if (name !== 'sealed.tokens.reseal') return run()
      writes += 1
      if (writes === 2) throw new StoreUnavailable('The database is away.')
      return run()
    })
    await expect(failing.server.rotateSecretKeys()).rejects.toThrow(StoreUnavailable)
    await failing.close()
    expect(countUnder(app, next)['token.access_token']).toBe(250)
    expect(new Set(registeredKeys(app))).toEqual(new Set([idOf(secretKey), idOf(next)]))
    const failure = await node(app, [next]).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnusable)
    expect(String(failure)).toContain(
      `key ${idOf(secretKey)} is missing, and needed by rows: 350 in oauth2server_token, 1 in oauth2server_client, 1 in oauth2server_user.`,
    )
    await using again = await node(app, [next, secretKey])
    expect((await again.server.rotateSecretKeys()).resealed).toBe(352)
    await using after = await node(app, [next])
    expect(after.log).toEqual([])
  })
})

describe('a rotation of the secret keys during concurrent changes', () => {
  const rotatingWith = (app: TestServer, operation: string, work: () => Promise<unknown>) =>
    node(app, [next, secretKey], beforeFirst(operation, work))

  test('preserves refreshes, revocations and new client IDs of tokens that the rotation has already read', async () => {
    await using app = await startServer()
    const made = await everyKind(app)
    const { refresh, untouched, basic } = made
    const [refreshed, revoked, kept] = untouched
    if (!refreshed || !revoked || !kept) throw new Error('Too few authorizations were made.')
    const other = await app.client()
    const ofOther = await authorizationOf(app, other.clientId)
    await app.server.consents.grant(app.user.id, other.clientId, ['notes:read'])
    await using knowing = await node(app, [secretKey, next])
    let renamed = ''
    let pair: Record<string, unknown> = {}
    await using rotating = await rotatingWith(app, 'sealed.tokens.reseal', async () => {
      pair = (await refresh(knowing, refreshed.refreshToken)).body
      await knowing.server.tokens.revoke(revoked.token)
      renamed = (await knowing.server.clients.resetClientId(other.clientId)).clientId
    })
    expect((await rotating.server.rotateSecretKeys()).isComplete).toBe(true)
    await using after = await node(app, [next])
    // The replaced access token remains valid for the leeway, under the seal of the new key.
    expect(await statusOf(after, refreshed.accessToken)).toBe(200)
    expect(await statusOf(after, String(pair.access_token))).toBe(200)
    expect((await refresh(after, pair.refresh_token)).status).toBe(200)
    expect(await statusOf(after, revoked.accessToken)).toBe(401)
    expect((await refresh(after, revoked.refreshToken)).status).toBe(400)
    expect(await statusOf(after, kept.accessToken)).toBe(200)
    const found = await after.server.tokens.find({ accessToken: ofOther.accessToken })
    expect(found?.token.clientId).toBe(renamed)
    expect(await after.server.tokens.find({ refreshToken: ofOther.refreshToken })).toBeDefined()
    expect(await after.server.consents.find(app.user.id, renamed)).toBeDefined()
    expect(await after.server.clients.find(basic.clientId)).toBeDefined()
    expect(after.log).toEqual([])
  })

  test('preserves changes of clients, consents and passwords that the rotation has already read', async () => {
    await using app = await startServer()
    const { basic } = await everyKind(app)
    const { clientId } = basic
    await using knowing = await node(app, [secretKey, next])
    const { clients, consents, users } = knowing.server
    const work = new Map<string, () => Promise<unknown>>([
      [
        'sealed.clients.reseal',
        () => clients.update(clientId, { redirectUris: ['https://new.example/cb'] }),
      ],
      [
        'sealed.consents.reseal',
        () => consents.grant(app.user.id, clientId, ['notes:read', 'notes:write']),
      ],
      ['sealed.users.reseal', () => users.setPassword(app.user.id, 'another long password')],
    ])
    await using rotating = await node(app, [next, secretKey], async ({ name }, run) => {
      const change = work.get(name)
      work.delete(name)
      await change?.()
      return run()
    })
    expect((await rotating.server.rotateSecretKeys()).isComplete).toBe(true)
    expect(work.size).toBe(0)
    await using after = await node(app, [next])
    expect((await after.server.clients.find(clientId))?.redirectUris).toEqual([
      'https://new.example/cb',
    ])
    const consent = await after.server.consents.find(app.user.id, clientId)
    expect(consent?.scopes).toEqual(['notes:read', 'notes:write'])
    const { email } = app.user
    expect(await after.server.users.withPassword(email, 'another long password')).toBeDefined()
    expect(await after.server.users.withPassword(email, app.password)).toBeUndefined()
    expect(after.log).toEqual([])
  })

  test('a login succeeds if the rotation seals the password hash after the check, but fails if the hash changes', async () => {
    await using app = await startServer()
    await using rotating = await node(app, [next, secretKey])
    const { users, sessions } = rotating.server
    const store = storeOf(rotating.server)
    const browser = { cookie: null, address: '127.0.0.1', userAgent: 'test', raw: undefined }
    const checked = await store.users.find({ email: app.user.email })
    expect((await rotating.server.rotateSecretKeys()).resealed).toBe(1)
    const again = await store.users.find({ email: app.user.email })
    expect(again?.passwordHash).not.toBe(checked?.passwordHash)
    expect(await sessions.signIn(app.user.id, browser, checked?.passwordHash)).toMatch(/session=/)
    await users.setPassword(app.user.id, app.password)
    await expect(sessions.signIn(app.user.id, browser, checked?.passwordHash)).rejects.toThrow()
  })
})

describe('a rotation with rows that no configured key opens', () => {
  test('counts altered rows, does not change them, and does not make them valid', async () => {
    await using app = await startServer()
    const made = await everyKind(app)
    const [widened, restorable, kept] = made.untouched
    if (!widened || !restorable || !kept) throw new Error('Too few authorizations were made.')
    const set = (table: string, columns: string, where: string, value: string | number | null) =>
      expect(
        execute(
          app.database,
          `update oauth2server_${table} set ${columns} where ${where} = ?`,
          value,
        ),
      ).toBe(1)
    const { user } = app
    const other = await app.server.users.create({ email: 'user-b@example.org', password: null })
    set('token', "scopes = 'notes:read notes:write'", 'id', widened.token.id)
    set(
      'authorization',
      "scopes = 'notes:read notes:write'",
      'id',
      restorable.token.authorizationId,
    )
    set('client', "redirect_uris = 'https://evil.example/cb'", 'client_id', made.basic.clientId)
    set(
      'consent',
      "scopes = 'notes:write'",
      'client_key',
      clientKeyOf(app.database, made.basic.clientId),
    )
    set('session', `user_id = ${Number(other.id)}`, 'user_id', Number(user.id))
    set('rotated_refresh_token', 'rotated_at = rotated_at + 1000000', '1', 1)
    set('user', "password_hash = 'no hash of ours'", 'id', Number(user.id))

    await using rotating = await node(app, [next, secretKey])
    const rotation = await rotating.server.rotateSecretKeys()
    const old = idOf(secretKey)
    expect(rotation.unreadable).toEqual([
      { table: 'oauth2server_token', keyId: old, rows: 2 },
      { table: 'oauth2server_rotated_refresh_token', keyId: old, rows: 1 },
      { table: 'oauth2server_client', keyId: old, rows: 1 },
      { table: 'oauth2server_consent', keyId: old, rows: 1 },
      { table: 'oauth2server_session', keyId: old, rows: 1 },
      { table: 'oauth2server_user', keyId: null, rows: 1 },
    ])
    expect(rotation.isComplete).toBe(true)
    expect(countUnder(app, secretKey)).toEqual({
      'token.access_token': 1,
      'token.refresh_token': 1,
      'rotated_refresh_token.seal': 1,
      'client.seal': 1,
      'consent.seal': 1,
      'session.seal': 1,
    })
    const reported = rotating.log.filter(({ event }) => event === 'secret_key.unreadable_rows')
    expect(reported.map(({ level, message }) => `${level}: ${message}`)).toEqual(
      expect.arrayContaining([
        `error: Rows of oauth2server_token that key ${old} does not open, because the rows were tampered with: 2. The server refuses these rows, and the rotation did not change them.`,
        'error: Rows of oauth2server_user that are not sealed: 1. The server refuses these rows, and the rotation did not change them.',
      ]),
    )

    // The server starts without the previous key, because the previous key does not open the altered rows.
    await using after = await node(app, [next])
    const { clients, consents, users, tokens } = after.server
    expect(await clients.find(made.basic.clientId)).toBeUndefined()
    expect(await consents.find(user.id, made.basic.clientId)).toBeUndefined()
    expect(await users.withPassword(user.email, app.password)).toBeUndefined()
    expect(await statusOf(after, widened.accessToken)).toBe(401)
    expect(await tokens.find({ refreshToken: restorable.refreshToken })).toBeUndefined()
    // Rows that the attacker did not alter remain valid.
    expect(await statusOf(after, restorable.accessToken)).toBe(200)
    expect(await tokens.find({ refreshToken: kept.refreshToken })).toBeDefined()
  })

  test('reports the ID of an unknown key of a row', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    const issued = await authorizationOf(app, clientId)
    execute(
      app.database,
      "update oauth2server_token set access_token = '0123abcd' || substr(access_token, 9) where id = ?",
      issued.token.id,
    )
    await using rotating = await node(app, [next, secretKey])
    expect(await rotating.server.rotateSecretKeys()).toMatchObject({
      unreadable: [{ table: 'oauth2server_token', keyId: '0123abcd', rows: 1 }],
    })
    expect(rotating.log).toMatchObject([
      { message: expect.stringContaining('under key 0123abcd, which is not configured: 1.') },
    ])
    // The rotation has sealed the unaltered refresh token in the row again.
    expect(countUnder(app, next)).toMatchObject({ 'token.refresh_token': 1 })
  })
})

describe('nodes that still write with a previous key', () => {
  test('make the rotation report that it is incomplete, and the key remains registered', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    const late = await node(app, [secretKey, next])
    let isLate = true
    await using rotating = await node(app, [next, secretKey], async ({ name }, run) => {
      if (isLate && name === 'sealed.users.notUnder') await authorizationOf(late, clientId)
      return run()
    })
    expect(await rotating.server.rotateSecretKeys()).toMatchObject({ isComplete: false })
    expect(registeredKeys(app)).toContain(idOf(secretKey))
    isLate = false
    await late.close()
    expect(await rotating.server.rotateSecretKeys()).toMatchObject({
      resealed: 1,
      isComplete: true,
    })
    expect(registeredKeys(app)).toEqual([idOf(next)])
  })

  test('register the key again within a minute after they resume writing', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      await using app = await startServer()
      const { clientId } = await app.client()
      await using late = await node(app, [secretKey, next])
      await using rotating = await node(app, [next, secretKey])
      await rotating.server.rotateSecretKeys()
      expect(registeredKeys(app)).toEqual([idOf(next)])
      const { accessToken } = await authorizationOf(late, clientId)
      vi.advanceTimersByTime(60_000)
      await vi.waitFor(() => expect(registeredKeys(app)).toContain(idOf(secretKey)))
      await expect(node(app, [next])).rejects.toThrow(/1 in oauth2server_token/)
      expect((await rotating.server.rotateSecretKeys()).resealed).toBe(1)
      expect(await statusOf(rotating, accessToken)).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a missing key', () => {
  test('is reported with the tables and the numbers of rows that the key sealed', async () => {
    await using app = await startServer()
    const made = await everyKind(app)
    await app.server.clients.create({ name: 'Another' })
    const failure: unknown = await node(app, [next]).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnusable)
    const tokens = count(app.database, 'oauth2server_token')
    expect((failure as Error).message).toBe(
      `The configured secret keys do not match the database: key ${idOf(secretKey)} is missing, and needed by rows: ${tokens} in oauth2server_token, 1 in oauth2server_rotated_refresh_token, 3 in oauth2server_client, 1 in oauth2server_consent, 1 in oauth2server_session, 1 in oauth2server_user. Set SECRET_KEY to the missing key, or add the missing key to SECRET_KEY_PREVIOUS.`,
    )
    expect((failure as Error).message).not.toContain(secretKey)
    await expectAllWork(app, made)
  })

  test('is reported as unused if it has sealed no row', async () => {
    await using app = await startServer()
    execute(app.database, "insert into oauth2server_secret_key values ('0123abcd', 1)")
    await expect(node(app, [secretKey])).rejects.toThrow(
      /key 0123abcd is missing, and no row is sealed under it\./,
    )
  })
})

describe('under load', () => {
  test('the rotation of 2,000 tokens causes no failed request at two servers', {
    timeout: 600_000,
  }, async () => {
    await using app = await startServer({ authorizationsPerApplication: 100_000 })
    const made = await everyKind(app)
    const issued = []
    for (let index = 0; index < 2_000; index += 1)
      issued.push(await authorizationOf(app, made.basic.clientId))
    await using one = await node(app, [next, secretKey])
    await using another = await node(app, [next, secretKey])
    const failures: string[] = []
    const done = { bearer: 0, refresh: 0, code: 0, client: 0 }
    let isOver = false
    const attempt = async (what: keyof typeof done, request: () => Promise<number>) => {
      const status = await request().catch((error: unknown) => String(error))
      done[what] += 1
      if (status !== 200) failures.push(`${what}: ${status}`)
    }
    const load = async (
      at: TestServer,
      from: TestServer,
      pairs: { accessToken: string; refreshToken: string }[],
    ) => {
      for (let turn = 0; !isOver; turn += 1) {
        const pair = pairs[turn % pairs.length]
        if (!pair) return
        await attempt('bearer', () => statusOf(at, pair.accessToken))
        await attempt('refresh', async () => {
          const { status, body } = await made.refresh(at, pair.refreshToken)
          pair.accessToken = String(body.access_token)
          pair.refreshToken = String(body.refresh_token)
          return status
        })
        await attempt('bearer', () => statusOf(from, pair.accessToken))
        await attempt('code', () => redeem(from, at, made))
        await attempt('client', () => ownToken(at, made))
      }
    }
    const pairs = issued.map(({ accessToken, refreshToken }) => ({ accessToken, refreshToken }))
    const running = [
      load(one, another, pairs.slice(0, 400)),
      load(another, one, pairs.slice(400, 800)),
      load(one, one, pairs.slice(1200, 1600)),
      load(another, another, pairs.slice(1600)),
    ]
    const isDone = (times: number) =>
      expect
        .poll(() => Math.min(...Object.values(done)), { timeout: 60_000 })
        .toBeGreaterThan(times)
    await isDone(5)
    const [rotation] = await Promise.all(
      [one, another].map(({ server }) => server.rotateSecretKeys()),
    )
    await isDone(20)
    isOver = true
    await Promise.all(running)
    expect(failures).toEqual([])
    expect(rotation).toMatchObject({ unreadable: [], isComplete: true })
    await using after = await node(app, [next])
    const lost: string[] = []
    for (const { accessToken, refreshToken } of pairs) {
      if (!(await after.server.tokens.find({ accessToken }))) lost.push(accessToken)
      if (!(await after.server.tokens.find({ refreshToken }))) lost.push(refreshToken)
    }
    expect(lost).toEqual([])
    expect([one, another, after].flatMap(({ log }) => log)).toEqual([])
  })
})
