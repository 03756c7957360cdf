import { type AroundStore, type LogEntry, StoreUnavailable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FoundToken } from '../../src/model/token.ts'
import { TokenUses } from '../../src/records/tokens/token-uses.ts'
import { decorated } from '../../src/store/decorated.ts'
import { aClient, tokenRow } from '../store/rows.ts'
import { query } from '../support/database.ts'
import { recordOperations } from '../support/operations.ts'
import { startServer, type TestServer, withoutWarnings } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'

const minute = 60_000

/** Creates a TokenUses whose store records its operations. */
const openUses = async (around?: AroundStore) => {
  const opened = await sqlite(':memory:').open()
  await opened.migrate()
  const asked: string[] = []
  const store = decorated(opened, (operation, run) => {
    asked.push(operation.name)
    return around ? around(operation, run) : run()
  })
  const clientId = await aClient(opened)
  const log: LogEntry[] = []
  const uses = new TokenUses(store, (entry) => log.push(entry))
  const aToken = async () => Number(await opened.tokens.insert(tokenRow({ clientId })))
  /** Looks up the token, and calls `note` with the last use in its row, like a bearer check. */
  const use = async (id: number, at: number, address = '192.0.2.1') => {
    const row = await opened.tokens.find(id)
    uses.note({ token: { id }, lastUsedAt: row?.lastUse?.at ?? null } as FoundToken, at, address)
  }
  const lastUse = async (id: number) => (await opened.tokens.find(id))?.lastUse
  return {
    uses,
    store,
    log,
    asked,
    aToken,
    use,
    lastUse,
    [Symbol.asyncDispose]: async () => {
      await uses.flush()
      await opened.close()
    },
  }
}

describe('the last use of a token', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('is recorded without a store operation, and written five seconds later in one transaction', async () => {
    await using fixture = await openUses()
    const [one, two] = [await fixture.aToken(), await fixture.aToken()]
    await fixture.use(one, 1_000)
    await fixture.use(two, 1_001, '::1')
    await fixture.use(one, 3_000, '192.0.2.2')
    await vi.advanceTimersByTimeAsync(4_999)
    expect(fixture.asked).toEqual([])
    expect(await fixture.lastUse(one)).toBeNull()
    await vi.advanceTimersByTimeAsync(1)
    await vi.waitFor(async () => expect(await fixture.lastUse(two)).not.toBeNull())
    expect(fixture.asked).toEqual(['transaction', 'tokens.touch'])
    expect(await fixture.lastUse(one), 'only the latest use is written').toEqual({
      at: 3_000,
      address: '192.0.2.2',
    })
    expect(await fixture.lastUse(two)).toEqual({ at: 1_001, address: '::1' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(fixture.asked, 'no write without a new use').toHaveLength(2)
  })

  test('is written at most once a minute if a token is used continuously', async () => {
    await using fixture = await openUses()
    const id = await fixture.aToken()
    const written: (number | undefined)[] = []
    for (let at = 1_000; at <= 1_000 + 5 * minute; at += 1_000) {
      await fixture.use(id, at)
      await vi.advanceTimersByTimeAsync(1_000)
      await vi.waitFor(async () => {
        const touched = fixture.asked.filter((name) => name === 'tokens.touch').length
        if (touched > written.length) {
          const last = (await fixture.lastUse(id))?.at
          if (last === written.at(-1))
            throw new Error('The write has started, but the row still contains the previous use.')
          written.push(last)
        }
      })
    }
    for (const [index, at] of written.slice(1).entries())
      expect(Number(at) - Number(written[index])).toBeGreaterThanOrEqual(minute)
    expect(written).toHaveLength(5)
  })

  test('is written again for a use a minute after the last written use, but not for an earlier use', async () => {
    await using fixture = await openUses()
    const id = await fixture.aToken()
    await fixture.use(id, 1_000)
    await fixture.uses.flush()
    await fixture.use(id, 1_000 + minute - 1)
    await fixture.uses.flush()
    expect((await fixture.lastUse(id))?.at).toBe(1_000)
    await fixture.use(id, 1_000 + minute)
    await fixture.uses.flush()
    expect((await fixture.lastUse(id))?.at).toBe(1_000 + minute)
  })

  test('is not written again for a use within a minute, even if its request looked up the token before the write', async () => {
    let isWritten: () => void = () => undefined
    const written = new Promise<void>((resolve) => {
      isWritten = resolve
    })
    await using fixture = await openUses(async ({ name }, run) => {
      if (name === 'tokens.touch') await written
      return run()
    })
    const id = await fixture.aToken()
    await fixture.use(id, 1_000)
    const flushed = fixture.uses.flush()
    fixture.uses.note({ token: { id }, lastUsedAt: null } as FoundToken, 1_500, 'a')
    isWritten()
    await flushed
    fixture.uses.note({ token: { id }, lastUsedAt: null } as FoundToken, 2_000, 'a')
    await fixture.uses.flush()
    expect(fixture.asked).toEqual(['transaction', 'tokens.touch'])
    expect((await fixture.lastUse(id))?.at).toBe(1_000)
  })

  test('never changes to an earlier time, even if the clock of another node is wrong', async () => {
    await using fixture = await openUses()
    const id = await fixture.aToken()
    // Two nodes look up the token before a write. The later use is written first.
    const other = new TokenUses(fixture.store, () => expect.unreachable())
    const found = { token: { id }, lastUsedAt: null } as FoundToken
    fixture.uses.note(found, 10 * minute, 'a')
    other.note(found, 9 * minute, 'b')
    await fixture.uses.flush()
    await other.flush()
    expect(await fixture.lastUse(id)).toEqual({ at: 10 * minute, address: 'a' })
    await fixture.use(id, 5 * minute, 'c')
    await fixture.uses.flush()
    expect(await fixture.lastUse(id)).toEqual({ at: 10 * minute, address: 'a' })
  })

  test('is lost if its write fails, with a warning in the log; the next use is written', async () => {
    let isDown = true
    await using fixture = await openUses((operation, run) => {
      if (isDown && operation.name === 'tokens.touch') throw new StoreUnavailable('down')
      return run()
    })
    const id = await fixture.aToken()
    await fixture.use(id, 1_000)
    await vi.advanceTimersByTimeAsync(5_000)
    await vi.waitFor(() => expect(fixture.log).toHaveLength(1))
    expect(fixture.log).toEqual([
      expect.objectContaining({
        level: 'warn',
        event: 'token_uses.lost',
        error: expect.any(StoreUnavailable),
      }),
    ])
    isDown = false
    await fixture.use(id, 2_000)
    await vi.advanceTimersByTimeAsync(5_000)
    await vi.waitFor(async () => expect((await fixture.lastUse(id))?.at).toBe(2_000))
    expect(fixture.log).toHaveLength(1)
  })

  test('is ignored without a warning if the token was deleted before the write', async () => {
    await using fixture = await openUses()
    const [deleted, other] = [await fixture.aToken(), await fixture.aToken()]
    await fixture.use(deleted, 1_000)
    await fixture.use(other, 1_000)
    await fixture.store.tokens.delete({ id: deleted })
    await fixture.uses.flush()
    expect(fixture.log).toEqual([])
    expect((await fixture.lastUse(other))?.at).toBe(1_000)
  })

  test('is recorded for at most 10,000 tokens between two writes', async () => {
    await using fixture = await openUses()
    const id = await fixture.aToken()
    await fixture.use(id, 1_000)
    for (let other = 1; other < 10_000; other += 1)
      fixture.uses.note(
        { token: { id: 1_000_000 + other }, lastUsedAt: null } as FoundToken,
        1_000,
        'x',
      )
    const late = await fixture.aToken()
    await fixture.use(late, 1_001)
    await fixture.use(id, 2_000)
    await fixture.uses.flush()
    expect((await fixture.lastUse(id))?.at).toBe(2_000)
    expect(await fixture.lastUse(late)).toBeNull()
    await fixture.use(late, 2_001)
    await fixture.uses.flush()
    expect((await fixture.lastUse(late))?.at).toBe(2_001)
  })
})

describe('the bearer check', () => {
  const lastUses = ({ database }: Pick<TestServer, 'database'>) =>
    query<{ id: number; last_used_at: number | null; last_used_address: string | null }>(
      database,
      'select id, last_used_at, last_used_address from oauth2server_token order by id',
    ).map(({ last_used_at, last_used_address }) => [last_used_at, last_used_address])

  test('runs one store operation, and writes nothing', async () => {
    const { operations: asked, aroundStore } = recordOperations()
    await using app = await startServer({ aroundStore })
    const token = await app.personalToken()
    asked.length = 0
    for (let times = 0; times < 3; times += 1) expect(await statusOf(app, token)).toBe(200)
    expect(asked).toEqual(['tokens.findByAccess', 'tokens.findByAccess', 'tokens.findByAccess'])
    expect(lastUses(app)).toEqual([[null, null]])
  })

  test('records the time and IP address of a use, which the server writes when it closes', async () => {
    await using app = await startServer()
    const [personal, unused] = [await app.personalToken(), await app.personalToken()]
    const { accessToken } = await authorizationOf(app, (await app.client()).clientId)
    expect(unused).not.toBe(personal)
    const from = (token: string, address: string) => ({
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address },
    })
    {
      await using node = await startServer({ beside: app, trustedProxies: ['127.0.0.1'] })
      await fetch(`${node.issuer}/api/me`, from(personal, '192.0.2.9'))
      await fetch(`${node.issuer}/oauth/ping`, from(accessToken, '2001:db8::1'))
    }
    expect(lastUses(app)).toEqual([
      [app.now(), '192.0.2.9'],
      [null, null],
      [app.now(), '2001:db8::1'],
    ])
  })

  test('does not record the use of a rejected token', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    const [disabled, expired] = [
      await authorizationOf(app, clientId),
      await app.server.personalTokens.create('T', app.user.id, { expiresIn: 60 }),
    ]
    await app.server.clients.mark(clientId, { isDisabled: true })
    app.advance(60)
    {
      await using node = await startServer({ beside: app })
      for (const { accessToken } of [disabled, expired])
        expect(await statusOf(node, accessToken)).toBe(401)
    }
    expect(lastUses(app)).toEqual([
      [null, null],
      [null, null],
    ])
  })

  test('succeeds although the store cannot write the use; closing the server succeeds too and logs a warning', async () => {
    await using app = await startServer()
    const token = await app.personalToken()
    const log: LogEntry[] = []
    {
      await using node = await startServer({
        beside: app,
        ...withoutWarnings,
        log: (entry) => log.push(entry),
        aroundStore: ({ name }, run) => {
          if (name === 'tokens.touch') throw new StoreUnavailable('down')
          return run()
        },
      })
      expect(await statusOf(node, token)).toBe(200)
    }
    expect(log.map(({ event }) => event)).toEqual(['token_uses.lost'])
    expect(JSON.stringify(log)).not.toContain(token)
    expect(await statusOf(app, token)).toBe(200)
  })

  test('records a use; closing the server waits until it is written', async () => {
    let isDone: () => void = () => undefined
    const done = new Promise<void>((resolve) => {
      isDone = resolve
    })
    const asked: string[] = []
    const log: LogEntry[] = []
    await using app = await startServer()
    const token = await app.personalToken()
    const node = await startServer({
      beside: app,
      ...withoutWarnings,
      log: (entry) => log.push(entry),
      aroundStore: async ({ name }, run) => {
        asked.push(name)
        if (name === 'tokens.touch') await done
        return run()
      },
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      expect(await statusOf(node, token)).toBe(200)
      await vi.advanceTimersByTimeAsync(5_000)
    } finally {
      vi.useRealTimers()
    }
    await vi.waitFor(() => expect(asked).toContain('tokens.touch'))
    const closed = node.close()
    // Fixed time: close() could end too early.
    await new Promise((resolve) => setTimeout(resolve, 50))
    isDone()
    await closed
    expect(log).toEqual([])
    expect(lastUses(app)).toEqual([[app.now(), '127.0.0.1']])
  })
})

describe('the last use of a token, through the server', () => {
  test('remains after a rotation, a change of the scopes and a change of the client ID', async () => {
    await using app = await startServer()
    const personal = await app.server.personalTokens.create('T', app.user.id)
    const { clientId } = await app.client()
    const { accessToken, token } = await authorizationOf(app, clientId)
    {
      await using node = await startServer({ beside: app })
      for (const value of [personal.accessToken, accessToken]) await statusOf(node, value)
    }
    const used = { at: app.now(), address: '127.0.0.1' }
    app.advance(10)
    await app.server.personalTokens.rotate(personal.id, { overlap: 60 })
    await app.server.clients.resetClientId(clientId)
    const managed = await app.server.personalTokens.find(app.user.id, personal.id)
    expect(managed?.lastUse).toEqual(used)
    await app.server.personalTokens.update(managed ?? expect.unreachable(), { scopes: [] })
    expect((await app.server.personalTokens.find(app.user.id, personal.id))?.lastUse).toEqual(used)
    expect(
      (await app.server.authorizedApplications.device(app.user.id, token.id))?.lastUse,
    ).toEqual(used)
  })
})
