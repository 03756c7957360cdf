import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { call, kinds, type Outcome, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { startSite } from '../../support/site.ts'

/**
 * Milliseconds for which the process is stopped at least. A node closes a connection that is silent for 3,500 ms, and
 * the pool closes a connection that is idle for 10,000 ms.
 */
const standstill = 4_500
/** The number of clients. It exceeds the number of connections, so that some requests wait for a connection. */
const clients = 40

/** Distinguishes the connections of the node from the connections of this process. */
const applicationName = 'node'

/** Selects the connections that have run a statement. The node may replace a connection that it is still opening. */
const established = `select pid, state, wait_event_type, state_change > $2::timestamptz as is_recent
  from pg_stat_activity where datname = current_database() and application_name = $1
  and backend_type = 'client backend' and query <> ''`

test.skipIf(await lacks('postgres'))(
  'a node that was stopped by SIGSTOP completes the requests in flight, and reuses its established connections',
  { timeout: 600_000 },
  async () => {
    const database = await makeDatabase()
    const DATABASE_URL = `${database.url}?application_name=${applicationName}`
    await using site = await startSite({ count: 1, database, envOf: () => ({ DATABASE_URL }) })
    const { client, records, user } = site
    const node = site.node(0)
    const { accessToken } = await records.tokens.createPersonal('Token', user.id)
    const headers = { authorization: `Bearer ${accessToken}` }
    const connections = (since: unknown) => database.query(established, [applicationName, since])
    const asks: readonly (() => Promise<Outcome>)[] = [
      () => call({ url: `${node.url}/oauth/ping`, headers }),
      () => post(client.form(node, { grant_type: 'client_credentials' })),
      () => call({ url: `${node.url}/health/ready` }),
    ]
    let isOver = false
    const outcomes: Outcome[] = []
    const workers = Array.from({ length: clients }, async (_, index) => {
      while (!isOver) outcomes.push(await (asks[index % asks.length] as (typeof asks)[number])())
    })
    const completed = async (further: number) => {
      const enough = outcomes.length + further
      await vi.waitFor(() => expect(outcomes.length).toBeGreaterThan(enough), 30_000)
    }
    await completed(200)
    const [clock] = await database.query(`select clock_timestamp() - interval '2 seconds' as since`)
    node.program.kill('SIGSTOP')
    // PostgreSQL completes the statements in flight, except those that wait for a lock of the stopped process.
    const before = await vi.waitFor(async () => {
      const all = await connections(clock?.since)
      const isRunning = (row: (typeof all)[number]) =>
        row.state === 'active' && row.wait_event_type !== 'Lock'
      expect(all.filter(isRunning)).toEqual([])
      // PostgreSQL may close a connection that is idle inside a transaction.
      return all.filter(({ state, is_recent }) => state === 'idle' && is_recent)
    })
    // Fixed time: the process must be stopped for longer than a node waits for a connection.
    await delay(standstill)
    const resumed = performance.now()
    node.program.kill('SIGCONT')
    await completed(4 * clients)
    const after = new Set((await connections(clock?.since)).map(({ pid }) => pid))
    isOver = true
    await Promise.all(workers)
    const inFlight = outcomes.filter(({ began, ended }) => began < resumed && ended > resumed)
    expect(inFlight.length, 'requests in flight').toBeGreaterThan(10)
    expect(kinds(outcomes)).toEqual({ '200': outcomes.length })
    expect(before.length).toBeGreaterThan(0)
    expect(before.filter(({ pid }) => !after.has(pid))).toEqual([])
  },
)
