/**
 * Measures an upgrade of a large token table during traffic. A fictitious second version adds a column, fills the
 * column in batches, and creates an index.
 *
 *     npm run test:load -- upgrade [--rows TOKENS]
 *
 * Uses the PostgreSQL server at TEST_POSTGRES_URL.
 */
import { parseArgs } from 'node:util'
import { postgres } from '../../src/store/postgres.ts'
import { copyTokens, migrateToSecond } from '../support/second-version.ts'
import { startSite } from '../support/site.ts'
import { figures, startTraffic } from '../support/traffic.ts'

/** Milliseconds for which the script measures the load without an upgrade. */
const idle = 5_000

/** Fills the table, upgrades the database, and prints the figures. @returns whether all requests succeeded */
export const run = async (args: readonly string[]): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: { rows: { type: 'string', default: '4000000' } },
  })
  const rows = Number(values.rows)
  // Raise the limit per user, because all requests belong to one user.
  const env = { OAUTH2SERVER_AUTHORIZATIONS_PER_APPLICATION: '100000' }
  await using site = await startSite({ env })
  await site.client.tokens(site.node(0), site.agent)
  await site.database.query(copyTokens(rows))

  const traffic = await startTraffic(site)
  await traffic.flow(idle)
  const before = figures(traffic.samples, 0)
  const store = await postgres(site.database.url).open()
  const began = performance.now()
  await migrateToSecond(store)
  const seconds = Math.round((performance.now() - began) / 100) / 10
  await store.close()
  await traffic.stop()

  const during = figures(
    traffic.samples.filter(({ ended }) => ended >= began),
    0,
  )
  console.table({
    'before the upgrade': {
      requests: before.requests,
      'longest, ms': before.slowest,
      failed: before.failed,
    },
    'during the upgrade': {
      requests: during.requests,
      'longest, ms': during.slowest,
      failed: during.failed,
    },
  })
  console.log(`${rows} rows upgraded in ${seconds} s`, during.kinds)
  return before.failed === 0 && during.failed === 0
}
