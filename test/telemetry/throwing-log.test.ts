import { type AroundStore, type LogEntry, type LogSink, StoreUnavailable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test, vi } from 'vitest'
import type { FoundToken } from '../../src/model/token.ts'
import { TokenUses } from '../../src/records/tokens/token-uses.ts'
import { safeSink } from '../../src/server/telemetry/log-to.ts'
import { decorated } from '../../src/store/decorated.ts'
import { aClient, tokenRow } from '../store/rows.ts'
import { startServer, type TestOptions } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'

const sinks: readonly { readonly how: string; readonly fail: () => unknown }[] = [
  {
    how: 'throws',
    fail: () => {
      throw new Error('The disk of the log is full.')
    },
  },
  { how: 'rejects', fail: async () => Promise.reject(new Error('The disk of the log is full.')) },
]

/** Starts a server whose log throws at every entry, and whose store fails at the listed operations. */
const start = async (fail: () => unknown, options: TestOptions = {}) => {
  const entries: LogEntry[] = []
  const failing = new Set<string>()
  const log = ((entry) => {
    entries.push(entry)
    return fail()
  }) as LogSink
  const aroundStore: AroundStore = ({ name }, run) => {
    if (failing.has(name)) throw new StoreUnavailable('The store is away.')
    return run()
  }
  const app = await startServer({ log, aroundStore, ...options })
  const count = (event: string) => entries.filter((entry) => entry.event === event).length
  return { app, failing, count, [Symbol.asyncDispose]: () => app.close() }
}

test.each(sinks)('if the log $how, later uses of tokens are still recorded', async ({ fail }) => {
  const entries: LogEntry[] = []
  let isAway = true
  const store = await sqlite(':memory:').open()
  await store.migrate()
  const log = safeSink(((entry) => {
    entries.push(entry)
    return fail()
  }) as LogSink)
  const around: AroundStore = ({ name }, run) => {
    if (isAway && name === 'tokens.touch') throw new StoreUnavailable('The store is away.')
    return run()
  }
  const uses = new TokenUses(decorated(store, around), log)
  const id = Number(await store.tokens.insert(tokenRow({ clientId: await aClient(store) })))
  const note = (at: number) =>
    uses.note({ token: { id }, lastUsedAt: null } as FoundToken, at, '192.0.2.1')
  note(1_000)
  await uses.flush()
  expect(entries.map(({ event }) => event)).toEqual(['token_uses.lost'])
  isAway = false
  note(2_000)
  await uses.flush()
  expect((await store.tokens.find(id))?.lastUse?.at).toBe(2_000)
  await store.close()
})

test.each(sinks)('if the log $how, background work continues', async ({ fail }) => {
  await using host = await start(fail, { sweepInterval: 1 })
  const { app, failing, count } = host
  failing.add('tokens.deleteExpired')
  await vi.waitFor(() => expect(count('sweeper.failed')).toBeGreaterThanOrEqual(1), 10_000)
  // The sweeper runs again after a run whose failure could not be logged.
  await vi.waitFor(() => expect(count('sweeper.failed')).toBeGreaterThanOrEqual(2), 10_000)

  let heard = 0
  app.server.on('personal_token.created', () => {
    heard += 1
    throw new Error('The hook fails.')
  })
  for (const times of [1, 2]) {
    await app.personalToken()
    await vi.waitFor(() => expect(count('hook.failed')).toBe(times))
  }
  expect(heard).toBe(2)
})

test.each(sinks)('if the log $how, responses do not change', async ({ fail }) => {
  await using host = await start(fail)
  const { app, failing } = host
  const ready = () => fetch(`${app.issuer}/health/ready`)
  failing.add('ping')
  expect((await ready()).status).toBe(503)
  failing.clear()
  expect((await ready()).status).toBe(200)
  failing.add('tokens.findByAccess')
  expect(await statusOf(app, 'x')).toBe(503)
})

test('emits one process warning for a log that throws', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  try {
    await using host = await start(sinks[0]?.fail as () => unknown)
    host.failing.add('ping')
    await fetch(`${host.app.issuer}/health/ready`)
    host.failing.clear()
    await fetch(`${host.app.issuer}/health/ready`)
    await vi.waitFor(() =>
      expect(warnings.filter(({ name }) => name === 'OAuth2ServerLogWarning')).toHaveLength(1),
    )
  } finally {
    process.off('warning', note)
  }
})
