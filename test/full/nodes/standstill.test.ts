import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { call, kinds, type Outcome, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { startSite } from '../../support/site.ts'

/**
 * Milliseconds for which the process is stopped. A node closes a connection that is silent for 3,500 ms, and the pool
 * closes a connection that is idle for 10,000 ms.
 */
const standstill = 4_500

/** Distinguishes the connections of the node from the connections of this process. */
const applicationName = 'node'

/**
 * Selects the connections that have run a statement and are not inside an idle transaction. The node may replace a
 * connection that it is still opening. PostgreSQL may close a connection that is idle inside a transaction.
 */
const established = `select pid from pg_stat_activity
  where datname = current_database() and application_name = $1 and backend_type = 'client backend'
  and query <> '' and state in ('idle', 'active') and state_change > clock_timestamp() - $2::interval`

test.skipIf(await lacks('postgres'))(
  'a node that was stopped by SIGSTOP completes the requests in flight, and reuses its established connections',
  { timeout: 60_000 },
  async () => {
    const database = await makeDatabase()
    const DATABASE_URL = `${database.url}?application_name=${applicationName}`
    await using site = await startSite({ count: 1, database, envOf: () => ({ DATABASE_URL }) })
    const { client, records, user } = site
    const node = site.node(0)
    const { accessToken } = await records.tokens.createPersonal('Token', user.id)
    const headers = { authorization: `Bearer ${accessToken}` }
    const connections = async (usedWithin: string) => {
      const rows = await database.query(established, [applicationName, usedWithin])
      return new Set(rows.map(({ pid }) => pid))
    }
    const asks: readonly (() => Promise<Outcome>)[] = [
      () => call({ url: `${node.url}/oauth/ping`, headers, isAlone: true }),
      () => post(client.form(node, { grant_type: 'client_credentials' }), { isAlone: true }),
      () => call({ url: `${node.url}/health/ready`, isAlone: true }),
    ]
    let isOver = false
    const outcomes: Outcome[] = []
    // There are more workers than connections, so that some requests wait for a connection when the process is stopped.
    const workers = Array.from({ length: 40 }, async (_, index) => {
      while (!isOver) outcomes.push(await (asks[index % asks.length] as (typeof asks)[number])())
    })
    const isWarm = () => expect(outcomes.length).toBeGreaterThan(200)
    await vi.waitFor(isWarm, { timeout: 20_000, interval: 50 })
    const stopped = performance.now()
    node.program.kill('SIGSTOP')
    // Wait until PostgreSQL has completed the statements in flight.
    await delay(100)
    const before = await connections('2 seconds')
    await delay(standstill)
    node.program.kill('SIGCONT')
    await delay(1_000)
    const after = await connections('1 hour')
    isOver = true
    await Promise.all(workers)
    // Include the requests that were sent while the process was stopped: the number of earlier requests varies.
    const resumed = stopped + standstill
    const inFlight = outcomes.filter(({ began, ended }) => began < resumed && ended > resumed)
    expect(inFlight.length, 'requests in flight').toBeGreaterThan(10)
    expect(kinds(outcomes)).toEqual({ '200': outcomes.length })
    expect(before.size).toBeGreaterThan(0)
    expect([...before].filter((pid) => !after.has(pid))).toEqual([])
  },
)
