import { setTimeout as delay } from 'node:timers/promises'
import { type AroundStore, StoreUnavailable, type TransientsOpener } from 'svc-oauth2server'
import { redis } from 'svc-oauth2server/redis'
import { describe, expect, test, vi } from 'vitest'
import { clientKeyOf, count, execute, query } from '../support/database.ts'
import { storeOf } from '../support/internals.ts'
import { lacks } from '../support/needs.ts'
import { newPrefix, removeKeys, sharedRedis } from '../support/redis.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { tokenRequest } from '../support/user-agent.ts'

const browser = { cookie: null, address: '127.0.0.1', userAgent: 'test' }
const withoutRedis = await lacks('redis')
const keysOf = ({ database }: { readonly database: string }) =>
  query<{ key: string }>(database, 'select key from oauth2server_transient').map(({ key }) => key)
/** Creates tokens that expired long ago. */
const expiredTokens = ({ database }: TestServer, clientId: string, howMany: number) =>
  execute(
    database,
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${howMany})
    insert into oauth2server_token (client_key, token_type, access_token, access_token_digest, expires, ends_at, scopes, is_personal, is_internal, created_at)
    select ?, 'bearer', 'x', 'digest-' || i, 1, 1, '', 0, 0, 1 from n`,
    clientKeyOf(database, clientId),
  )
const hour = 3_600
const day = 24 * hour

// These tests mostly wait, since a sweep rests between its batches.
describe('sweeper', { concurrent: true }, () => {
  test('removes expired tokens, authorizations, sessions and transients, and returns their numbers', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    const client = await app.server.clients.find(clientId)
    if (!client) throw new Error('The client is gone.')
    await authorizationOf(app, clientId)
    await app.server.tokens.issue({ type: 'client', client, subject: null, scopes: [] })
    await app.server.tokens.createPersonal('Short', app.user.id, { expiresIn: hour })
    await app.server.sessions.signIn(app.user.id, browser)
    await storeOf(app.server).transients.put('x', 'x', app.now() + 60_000, app.now())
    expect(await app.server.sweep()).toBe(0)

    app.advance(61)
    expect(await app.server.sweep()).toBe(1)
    expect(count(app.database, 'oauth2server_transient')).toBe(0)
    app.advance(hour)
    // The run deletes the token of the client and the short-lived personal token, but no token with a refresh token.
    expect(await app.server.sweep()).toBe(2)
    expect(count(app.database, 'oauth2server_client')).toBe(1)
    app.advance(day)
    expect(await app.server.sweep()).toBe(1)
    expect(count(app.database, 'oauth2server_session')).toBe(0)
    app.advance(30 * day)
    expect(await app.server.sweep()).toBe(2)
    expect(count(app.database, 'oauth2server_token')).toBe(0)
    expect(count(app.database, 'oauth2server_authorization')).toBe(0)
    expect(await app.server.sweep()).toBe(0)
  })

  test('ST-05 keeps rows without expiry, and the tombstones of live authorizations', async () => {
    await using app = await startServer()
    const personal = await app.personalToken()
    const basic = await app.client()
    const { refreshToken } = await authorizationOf(app, basic.clientId)
    const refresh = (token: unknown) =>
      tokenRequest(
        app.issuer,
        { grant_type: 'refresh_token', refresh_token: String(token) },
        { basic },
      )
    let latest: unknown = refreshToken
    for (let week = 0; week < 6; week += 1) {
      latest = (await refresh(latest)).body.refresh_token
      app.advance(7 * day)
      await app.server.sweep()
    }
    expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBe(6)
    expect(await statusOf(app, personal)).toBe(200)
    // The first refresh token was rotated six weeks ago. Its tombstone still detects the reuse.
    expect((await refresh(refreshToken)).body.error).toBe('invalid_grant')
    expect((await refresh(latest)).body.error).toBe('invalid_grant')
    app.advance(31 * day)
    await app.server.sweep()
    expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBe(0)
    app.advance(100 * 365 * day)
    await app.server.sweep()
    expect(await statusOf(app, personal)).toBe(200)
  })

  test('retains the tombstone of a code until the code expires, even if its tokens expire earlier', async () => {
    await using app = await startServer({
      tokenExpiresIn: 1,
      refreshTokenExpiresIn: 1,
      authorizationCodeExpiresIn: 600,
    })
    const basic = await app.client()
    const client = await app.server.clients.find(basic.clientId)
    if (!client) throw new Error('The client is gone.')
    const code = {
      kind: 'authorization_code',
      value: 'the code',
      binding: {
        clientId: basic.clientId,
        redirectUri: 'x',
        redirectUriGiven: true,
        extensions: {},
      },
    } as const
    const redeem = () =>
      app.server.tokens.issue({
        type: 'user',
        client,
        subject: app.user,
        scopes: [],
        refreshable: true,
        code,
      })
    const { refreshToken } = await redeem()
    const { status } = await tokenRequest(
      app.issuer,
      { grant_type: 'refresh_token', refresh_token: refreshToken ?? '' },
      { basic },
    )
    expect(status).toBe(200)
    app.advance(500)
    await app.server.sweep()
    await expect(redeem()).rejects.toThrow(expect.objectContaining({ code: 'invalid_grant' }))
  })

  /** The operations that removed rows of each kind, in order, with the number of rows. */
  const recorded = () => {
    const parts: { name: string; rows: number }[] = []
    const aroundStore: AroundStore = async ({ name }, run) => {
      const result = await run()
      if (/\.deleteExpired$|^auditCheckpoints\.insert$/.test(name))
        parts.push({ name, rows: Number(result) })
      return result
    }
    const of = (kind: string) => parts.filter(({ name }) => name === kind).map(({ rows }) => rows)
    return { parts, of, aroundStore }
  }

  test('removes a backlog in growing batches without blocking the event loop', async () => {
    const { of, aroundStore } = recorded()
    await using app = await startServer({ aroundStore })
    const { clientId } = await app.client()
    expiredTokens(app, clientId, 3_000)
    const personal = await app.personalToken()
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const swept = app.server.sweep()
    expect(await app.server.sweep(), 'two concurrent calls share one run').toBe(3_000)
    clearInterval(timer)
    expect(await swept).toBe(3_000)
    const parts = of('tokens.deleteExpired')
    expect(parts[0]).toBe(20)
    expect(Math.max(...parts)).toBeGreaterThan(20)
    expect(Math.max(...parts)).toBeLessThanOrEqual(1_000)
    expect(turns).toBeGreaterThan(parts.length / 2)
    expect(count(app.database, 'oauth2server_token')).toBe(1)
    expect(await statusOf(app, personal)).toBe(200)
  })

  test('alternates between kinds, so that a backlog of tokens delays no other kind', async () => {
    const { parts, aroundStore } = recorded()
    await using app = await startServer({ aroundStore })
    const { clientId } = await app.client()
    await authorizationOf(app, clientId)
    await app.server.sessions.signIn(app.user.id, browser)
    app.advance(365 * day)
    expiredTokens(app, clientId, 3_000)
    await storeOf(app.server).transients.put('x', 'x', 1, 0)
    await app.server.sweep()
    const firsts = ['authorizations', 'sessions', 'transientRows', 'auditCheckpoints'].map((kind) =>
      parts.findIndex(({ name, rows }) => name.startsWith(`${kind}.`) && rows > 0),
    )
    const tokens = parts.flatMap(({ name }, index) => (name.startsWith('tokens.') ? [index] : []))
    expect(Math.min(...firsts)).toBeGreaterThan(0)
    expect(Math.max(...firsts)).toBeLessThan(tokens[1] ?? 0)
  })

  test('runs smaller batches and rests longer after a slow batch', async () => {
    const length = 25
    const rests: number[] = []
    const rows: number[] = []
    let ended = Number.NaN
    const slow: AroundStore = async ({ name }, run) => {
      if (name !== 'tokens.deleteExpired') return run()
      if (rows.length > 0) rests.push(performance.now() - ended)
      // Fixed time: the control of the rests.
      await delay(length)
      const removed = await run()
      rows.push(Number(removed))
      ended = performance.now()
      return removed
    }
    await using app = await startServer({ aroundStore: slow })
    const { clientId } = await app.client()
    expiredTokens(app, clientId, 40)
    expect(await app.server.sweep()).toBe(40)
    expect(rows.slice(0, 5)).toEqual([20, 10, 5, 2, 1])
    expect(Math.min(...rests)).toBeGreaterThan(3 * length)
  })

  test('close() waits for the current batch only', async () => {
    const app = await startServer()
    const { clientId } = await app.client()
    expiredTokens(app, clientId, 3_000)
    const swept = app.server.sweep()
    await app.close()
    expect(await swept).toBeLessThan(3_000)
  })

  test('skips a kind that fails', async () => {
    const aroundStore: AroundStore = ({ name }, run) =>
      name === 'authorizations.deleteExpired' ? Promise.reject(new StoreUnavailable(name)) : run()
    await using app = await startServer({ aroundStore })
    await storeOf(app.server).transients.put('x', 'x', 1, 0)
    await expect(app.server.sweep()).rejects.toThrow(StoreUnavailable)
    expect(keysOf(app)).not.toContain('x')
  })

  test('removes an authorization with very many rotations in batches', async () => {
    const { of, aroundStore } = recorded()
    await using app = await startServer({ aroundStore })
    const { clientId } = await app.client()
    await authorizationOf(app, clientId)
    execute(
      app.database,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
      insert into oauth2server_rotated_refresh_token (digest, authorization_id, successor, parameters, rotated_at, seal)
      select 'digest-' || i, 1, '', '', 1, '' from n`,
    )
    app.advance(365 * day)
    await app.server.sweep()
    const parts = of('authorizations.deleteExpired')
    expect(parts[0]).toBe(20)
    expect(Math.max(...parts)).toBeLessThanOrEqual(1_000)
    expect(parts.reduce((sum, rows) => sum + rows)).toBe(1_201)
    expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBe(0)
  })

  test('ST-05 two concurrent nodes remove every row once', async () => {
    await using one = await startServer()
    await using other = await startServer({ beside: one })
    const { clientId } = await one.client()
    for (let n = 0; n < 300; n += 1) await storeOf(one.server).transients.put(`k${n}`, 'x', 1, 0)
    await authorizationOf(one, clientId)
    const removed = await Promise.all([one.server.sweep(), other.server.sweep()])
    expect(removed.reduce((sum, rows) => sum + rows)).toBe(300)
  })

  test('runs automatically at the interval, and again after an outage; an interval of 0 disables the sweeper', async () => {
    let runs = 0
    let isDown = true
    const aroundStore: AroundStore = (operation, run) => {
      if (operation.name === 'tokens.deleteExpired') {
        runs += 1
        if (isDown) throw new StoreUnavailable('down')
      }
      return run()
    }
    await using app = await startServer({ sweepInterval: 1, aroundStore })
    await using off = await startServer()
    for (const { server, now } of [app, off])
      await storeOf(server).transients.put('x', 'x', now() - 1, now() - 2)
    const failed = expect.objectContaining({ level: 'warn', event: 'sweeper.failed' })
    await vi.waitFor(() => expect(app.log).toContainEqual(failed))
    expect(runs).toBeGreaterThan(0)
    isDown = false
    await vi.waitFor(() => expect(keysOf(app)).not.toContain('x'))
    expect(keysOf(off)).toEqual(['x'])
  })

  const oneOfTwo = async (transients?: TransientsOpener) => {
    const runs = { one: 0, other: 0 }
    const attempts = { one: 0, other: 0 }
    const options = { sweepInterval: 1, ...(transients && { transients }) }
    const counting =
      (node: keyof typeof runs): AroundStore =>
      ({ name }, run) => {
        if (name === 'tokens.deleteExpired') runs[node] += 1
        // Each scheduled run tries to take the lease.
        if (name === 'transients.put') attempts[node] += 1
        return run()
      }
    const bothTriedAgain = async () => {
      const before = { ...attempts }
      await vi.waitFor(() => {
        expect(attempts.one).toBeGreaterThan(before.one + 1)
        expect(attempts.other).toBeGreaterThan(before.other + 1)
      })
    }
    await using one = await startServer({ ...options, aroundStore: counting('one') })
    await using other = await startServer({
      ...options,
      beside: one,
      aroundStore: counting('other'),
    })
    // The clock of the test stands still, so the lease of the sweeping node does not expire.
    await vi.waitFor(() => expect(runs.one + runs.other).toBe(1))
    await bothTriedAgain()
    expect(runs.one + runs.other).toBe(1)
    await (runs.one ? other : one).server.sweep()
    expect([runs.one, runs.other]).toEqual([1, 1])
    one.advance(1)
    await vi.waitFor(() => expect(runs.one + runs.other).toBe(3))
    await bothTriedAgain()
    expect(runs.one + runs.other).toBe(3)
  }

  test('runs automatically on one of two nodes, and on request on either node', () => oneOfTwo())

  test.skipIf(withoutRedis)(
    'runs automatically on one of two nodes with short-lived values in Redis',
    async () => {
      const keyPrefix = newPrefix()
      await oneOfTwo(redis(sharedRedis, { keyPrefix }))
      await removeKeys(keyPrefix)
    },
  )

  test('renews the lease of a run that takes longer than the lease', async () => {
    const aroundStore: AroundStore = ({ name }, run) => {
      // Each of the twelve kinds that expire takes half of the interval.
      if (name.endsWith('.deleteExpired')) app.advance(0.5)
      return run()
    }
    const app: TestServer = await startServer({ sweepInterval: 1, aroundStore })
    try {
      const began = app.now()
      const { transients } = storeOf(app.server)
      await vi.waitFor(() => expect(app.now()).toBe(began + 6_000))
      expect(await transients.put('sweeper', '', began + 9_000, app.now())).toBe(false)
    } finally {
      await app.close()
    }
  })
})
