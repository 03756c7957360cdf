import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test } from 'vitest'
import { kinds, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { type OwnPostgres, startPostgres } from '../../support/own-postgres.ts'
import { type OwnPgBouncer, startPgBouncer } from '../../support/pgbouncer.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { type Site, startSite } from '../../support/site.ts'
import { expectTolerated, longLeeway } from '../../support/sound.ts'
import { startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking = (await lacks('postgres programs')) || (await lacks('pgbouncer'))

/** Options for fewer server connections than three nodes request, each with a lifetime of one second. */
const scarce = { default_pool_size: 6, server_lifetime: 1 }

/**
 * Starts three nodes that use PostgreSQL through PgBouncer. Creates the schema over a direct connection, as the how-to
 * describes.
 */
const siteBehind = async (own: OwnPostgres, bouncer: OwnPgBouncer): Promise<Site> => {
  const database = await makeDatabase(own.url)
  const store = await postgres(database.url).open()
  await store.migrate()
  await store.close()
  const through = `${bouncer.urlOf(new URL(database.url).pathname.slice(1))}?prepare=false`
  return startSite({
    database,
    env: longLeeway,
    envOf: () => ({ DATABASE_URL: through, OAUTH2SERVER_SWEEP_INTERVAL: '1' }),
  })
}

describe.skipIf(isLacking)('three nodes behind PgBouncer in transaction mode', () => {
  test('complete every flow while PgBouncer replaces its server connections continuously', {
    timeout: 600_000,
  }, async () => {
    await using own = await startPostgres()
    await using bouncer = await startPgBouncer(own.url, scarce)
    await using site = await siteBehind(own, bouncer)
    const traffic = await startTraffic(site)
    await traffic.flow(2_500)
    const { client, agent } = site
    const pair = await client.tokens(site.node(0), agent)
    const token = String(pair.access_token)
    const at = (path: string, fields: Record<string, string>) => {
      const { authorization } = client.form(site.node(1), {})
      return post({ url: `${site.node(1).url}${path}`, authorization, fields })
    }
    expect((await at('/oauth/introspect', { token })).body).toMatchObject({ active: true })
    expect((await at('/oauth/revoke', { token })).status).toBe(200)
    expect((await at('/oauth/introspect', { token })).body).toEqual({ active: false })
    const page = await fetch(`${site.node(2).url}/account/settings/applications/`, {
      headers: await site.browserHeaders(),
    })
    expect(page.status).toBe(200)
    await page.body?.cancel()
    const aftermath = await traffic.stop()
    expect(kinds(traffic.samples.filter((sample) => !succeeded(sample)))).toEqual({})
    await expectTolerated(site, 'behind PgBouncer', traffic.samples, aftermath, performance.now())
  })

  test('return 503 while PgBouncer is stopped, and recover afterwards', {
    timeout: 600_000,
  }, async () => {
    await using own = await startPostgres()
    await using bouncer = await startPgBouncer(own.url, scarce)
    await using site = await siteBehind(own, bouncer)
    const traffic = await startTraffic(site)
    await traffic.flow(1_000)
    await bouncer.stop()
    await traffic.flow(2_000)
    await bouncer.start()
    const recovered = performance.now()
    await traffic.recover()
    const aftermath = await traffic.stop()
    await expectTolerated(site, 'PgBouncer restarted', traffic.samples, aftermath, recovered)
  })
})
