import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { call, kinds, type Outcome, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { startSite } from '../../support/site.ts'

/**
 * Milliseconds: more than the 3,500 after which a connection counts as dead, and less than the 10,000 after which the
 * pool closes an idle connection.
 */
const standstill = 4_500

/** Distinguishes the connections of the node from the connections of this process. */
const applicationName = 'node'

/**
 * Selects the connections that have run a statement. The node may replace a connection that is still being opened,
 * because its timeout fires first, and PostgreSQL may end a connection that is idle inside a transaction.
 */
const established = `select pid from pg_stat_activity
  where datname = current_database() and application_name = $1 and backend_type = 'client backend'
  and query <> '' and state in ('idle', 'active') and state_change > clock_timestamp() - $2::interval`

test.skipIf(await lacks('postgres'))(
  'a node whose event loop was stopped completes the requests in flight, and reuses its established connections',
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
    // PostgreSQL completes the statements in flight.
    await delay(100)
    const before = await connections('2 seconds')
    await delay(standstill)
    node.program.kill('SIGCONT')
    await delay(1_000)
    const after = await connections('1 hour')
    isOver = true
    await Promise.all(workers)
    // Include the requests that were sent right after the stop, because the number before depends on the machine.
    const resumed = stopped + standstill
    const inFlight = outcomes.filter(({ began, ended }) => began < resumed && ended > resumed)
    expect(inFlight.length, 'requests in flight').toBeGreaterThan(10)
    expect(kinds(outcomes)).toEqual({ '200': outcomes.length })
    expect(before.size).toBeGreaterThan(0)
    expect([...before].filter((pid) => !after.has(pid))).toEqual([])
  },
)
