import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { type OwnPostgres, startPostgres, startReplica } from '../../support/own-postgres.ts'
import { makeDatabase, queryAt } from '../../support/postgres.ts'
import { newCable } from '../../support/redis.ts'
import { startSite } from '../../support/site.ts'
import { expectTolerated, longLeeway } from '../../support/sound.ts'
import { startTraffic } from '../../support/traffic.ts'

const isLacking = await lacks('postgres programs')

/** Configures the primary to confirm a commit only after the replica has written it. */
const replicateSynchronously = async (primary: OwnPostgres): Promise<void> => {
  await queryAt(primary.url, "alter system set synchronous_standby_names = '*'")
  await queryAt(primary.url, 'select pg_reload_conf()')
}

describe.skipIf(isLacking)('fail-over from a primary to its synchronous replica', () => {
  test('loses no issued token, redeems no code twice, and makes nodes unready until the replica is promoted [T568]', {
    timeout: 600_000,
  }, async () => {
    await using primary = await startPostgres()
    await using replica = await startReplica(primary)
    await replicateSynchronously(primary)
    // This proxy simulates the address of a managed database, which always forwards to the current primary.
    await using address = await newCable(primary.port)
    const through = Object.assign(new URL(primary.url), { port: String(address.port) }).href
    await using site = await startSite({
      database: await makeDatabase(through),
      env: longLeeway,
    })
    const traffic = await startTraffic(site)
    await traffic.flow(1_000)
    await primary.stop('immediate')
    await traffic.flow(1_000)
    address.forwardTo(replica.port)
    // The replica is read-only until its promotion. Nodes that use the replica are not ready, and return 503.
    await traffic.flow(1_000)
    const ready = site.nodes.map(async ({ url }) => (await fetch(`${url}/health/ready`)).status)
    expect(await Promise.all(ready)).toEqual([503, 503, 503])
    await replica.promote()
    const promoted = performance.now()
    await traffic.recover()
    const aftermath = await traffic.stop()
    await expectTolerated(site, 'fail-over', traffic.samples, aftermath, promoted)
  })
})
