import { type AroundStore, type LogEntry, StoreUnavailable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FoundToken } from '../../src/model/token.ts'
import { TokenUses } from '../../src/records/tokens/token-uses.ts'
import { decorated } from '../../src/store/decorated.ts'
import { aClient, tokenRow } from '../store/rows.ts'
import { query } from '../support/database.ts'
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
  /** Records a use as a bearer check does, with the last use that the look-up returned. */
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
    await using notes = await openUses()
    const [one, two] = [await notes.aToken(), await notes.aToken()]
    await notes.use(one, 1_000)
    await notes.use(two, 1_001, '::1')
    await notes.use(one, 3_000, '192.0.2.2')
    await vi.advanceTimersByTimeAsync(4_999)
    expect(notes.asked).toEqual([])
    expect(await notes.lastUse(one)).toBeNull()
    await vi.advanceTimersByTimeAsync(1)
    await vi.waitFor(async () => expect(await notes.lastUse(two)).not.toBeNull())
    expect(notes.asked).toEqual(['transaction', 'tokens.touch'])
    expect(await notes.lastUse(one), 'only the latest use is written').toEqual({
      at: 3_000,
      address: '192.0.2.2',
    })
    expect(await notes.lastUse(two)).toEqual({ at: 1_001, address: '::1' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(notes.asked, 'no write without a new use').toHaveLength(2)
  })

  test('is written once a minute if a token is used continuously', async () => {
    await using notes = await openUses()
    const id = await notes.aToken()
    const written: (number | undefined)[] = []
    for (let at = 1_000; at <= 1_000 + 5 * minute; at += 1_000) {
      await notes.use(id, at)
      await vi.advanceTimersByTimeAsync(1_000)
      await vi.waitFor(async () => {
        const touched = notes.asked.filter((name) => name === 'tokens.touch').length
        if (touched > written.length) {
          const last = (await notes.lastUse(id))?.at
          if (last === written.at(-1)) throw new Error('It is being written.')
          written.push(last)
        }
      })
    }
    for (const [index, at] of written.slice(1).entries())
      expect(Number(at) - Number(written[index])).toBeGreaterThanOrEqual(minute)
    expect(written).toHaveLength(5)
  })

  test('is written again after exactly a minute', async () => {
    await using notes = await openUses()
    const id = await notes.aToken()
    await notes.use(id, 1_000)
    await notes.uses.flush()
    await notes.use(id, 1_000 + minute - 1)
    await notes.uses.flush()
    expect((await notes.lastUse(id))?.at).toBe(1_000)
    await notes.use(id, 1_000 + minute)
    await notes.uses.flush()
    expect((await notes.lastUse(id))?.at).toBe(1_000 + minute)
  })

  test('is not written again if the only request since the last write looked up the token before the write', async () => {
    let isWritten: () => void = () => undefined
    const written = new Promise<void>((resolve) => {
      isWritten = resolve
    })
    await using notes = await openUses(async ({ name }, run) => {
      if (name === 'tokens.touch') await written
      return run()
    })
    const id = await notes.aToken()
    await notes.use(id, 1_000)
    const flushed = notes.uses.flush()
    notes.uses.note({ token: { id }, lastUsedAt: null } as FoundToken, 1_500, 'a')
    isWritten()
    await flushed
    notes.uses.note({ token: { id }, lastUsedAt: null } as FoundToken, 2_000, 'a')
    await notes.uses.flush()
    expect(notes.asked).toEqual(['transaction', 'tokens.touch'])
    expect((await notes.lastUse(id))?.at).toBe(1_000)
  })

  test('never changes to an earlier time, even if the clock of another node is wrong', async () => {
    await using notes = await openUses()
    const id = await notes.aToken()
    // Two nodes look up the token before a write. The later use is written first.
    const other = new TokenUses(notes.store, () => expect.unreachable())
    const found = { token: { id }, lastUsedAt: null } as FoundToken
    notes.uses.note(found, 10 * minute, 'a')
    other.note(found, 9 * minute, 'b')
    await notes.uses.flush()
    await other.flush()
    expect(await notes.lastUse(id)).toEqual({ at: 10 * minute, address: 'a' })
    await notes.use(id, 5 * minute, 'c')
    await notes.uses.flush()
    expect(await notes.lastUse(id)).toEqual({ at: 10 * minute, address: 'a' })
  })

  test('is written later if a write fails, and the failure is logged and affects no request', async () => {
    let isDown = true
    await using notes = await openUses((operation, run) => {
      if (isDown && operation.name === 'tokens.touch') throw new StoreUnavailable('down')
      return run()
    })
    const id = await notes.aToken()
    await notes.use(id, 1_000)
    await vi.advanceTimersByTimeAsync(5_000)
    await vi.waitFor(() => expect(notes.log).toHaveLength(1))
    expect(notes.log).toEqual([
      expect.objectContaining({
        level: 'warn',
        event: 'token_uses.lost',
        error: expect.any(StoreUnavailable),
      }),
    ])
    isDown = false
    await notes.use(id, 2_000)
    await vi.advanceTimersByTimeAsync(5_000)
    await vi.waitFor(async () => expect((await notes.lastUse(id))?.at).toBe(2_000))
    expect(notes.log).toHaveLength(1)
  })

  test('is not written if the token was deleted', async () => {
    await using notes = await openUses()
    await notes.use(4_711, 1_000)
    await notes.use(await notes.aToken(), 1_000)
    await notes.uses.flush()
    expect(notes.log).toEqual([])
  })

  test('is recorded for at most 10,000 tokens between two writes', async () => {
    await using notes = await openUses()
    const id = await notes.aToken()
    await notes.use(id, 1_000)
    for (let other = 1; other < 10_000; other += 1)
      notes.uses.note(
        { token: { id: 1_000_000 + other }, lastUsedAt: null } as FoundToken,
        1_000,
        'x',
      )
    const late = await notes.aToken()
    await notes.use(late, 1_001)
    await notes.use(id, 2_000)
    await notes.uses.flush()
    expect((await notes.lastUse(id))?.at).toBe(2_000)
    expect(await notes.lastUse(late)).toBeNull()
    await notes.use(late, 2_001)
    await notes.uses.flush()
    expect((await notes.lastUse(late))?.at).toBe(2_001)
  })
})

describe('the bearer check', () => {
  const lastUses = ({ database }: Pick<TestServer, 'database'>) =>
    query<{ id: number; last_used_at: number | null; last_used_address: string | null }>(
      database,
      'select id, last_used_at, last_used_address from oauth2server_token order by id',
    ).map(({ last_used_at, last_used_address }) => [last_used_at, last_used_address])

  test('runs one store operation, and writes nothing', async () => {
    const asked: string[] = []
    await using app = await startServer({
      aroundStore: ({ name }, run) => {
        asked.push(name)
        return run()
      },
    })
    const token = await app.personalToken()
    asked.length = 0
    for (let times = 0; times < 3; times += 1) expect(await statusOf(app, token)).toBe(200)
    expect(asked).toEqual(['tokens.findByAccess', 'tokens.findByAccess', 'tokens.findByAccess'])
    expect(lastUses(app)).toEqual([[null, null]])
  })

  test('writes the recorded time and IP address when the server closes', async () => {
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

  test('succeeds even if the store fails to write the use, also while the server closes', async () => {
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

  test('closing the server waits until the recorded uses are written', async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 50))
    isDone()
    await closed
    expect(log).toEqual([])
    expect(lastUses(app)).toEqual([[app.now(), '127.0.0.1']])
  })

  test('the last use of a token remains after a rotation, a refresh and a change of the client ID', async () => {
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
