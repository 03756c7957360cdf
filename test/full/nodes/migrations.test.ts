import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { StoreUnavailable } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { databaseIn, query, startNode } from '../../support/nodes.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/processes.ts'
import { startSite } from '../../support/site.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { figures, settle, startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking = await lacks('postgres')
const several = Array.from({ length: 6 }, (_, index) => index)

/** Returns the names of the migrations of this version. */
const known = async (): Promise<readonly string[]> => {
  const store = await sqlite(':memory:').open()
  const migrations = await store.migrate({ dryRun: true })
  await store.close()
  return migrations.map(({ name }) => name)
}

const isReady = async ({ url }: { readonly url: string }): Promise<number> =>
  (await fetch(`${url}/health/ready`)).status

describe('several nodes start concurrently on an empty database', () => {
  test.skipIf(isLacking)(
    'in PostgreSQL, and all nodes serve requests after each migration ran once',
    async () => {
      await using site = await startSite({ count: several.length })
      expect(await Promise.all(site.nodes.map(isReady))).toEqual(several.map(() => 200))
      const rows = await site.database.query(
        'select name from oauth2server_migration order by name',
      )
      expect(rows.map(({ name }) => name)).toEqual(await known())
      // Each node accepts a token that another node issued.
      const { access_token } = await site.client.tokens(site.node(0), site.agent)
      const headers = { authorization: `Bearer ${access_token}` }
      const responses = site.nodes.map(({ url }) => fetch(`${url}/oauth/ping`, { headers }))
      expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(
        several.map(() => 200),
      )
    },
  )

  test('in SQLite, and all nodes become ready after each migration ran once', async () => {
    await using folder = await temporaryFolder()
    const cluster = { data: folder.path, issuer: 'http://localhost:8080' }
    const nodes = await Promise.all(several.map(() => startNode(cluster)))
    expect(await Promise.all(nodes.map(isReady))).toEqual(several.map(() => 200))
    await Promise.all(nodes.map(({ program }) => program.crash()))
    const rows = query(folder.path, 'select name from oauth2server_migration order by name')
    expect(rows.map(({ name }) => name)).toEqual(await known())
    expect(databaseIn(folder.path)).toContain('oauth2server.sqlite')
  })
})

describe.skipIf(isLacking)('migrations while other nodes use the database', () => {
  test('adding columns to every table during traffic causes no failed request', async () => {
    await using site = await startSite({ redisUrl: undefined })
    const tables = await site.database.query(
      "select table_name as name from information_schema.tables where table_name like 'oauth2server%' order by 1",
    )
    const traffic = await startTraffic(site)
    await traffic.flow(1_000)
    for (const { name } of tables) {
      await site.database.query(`alter table ${name} add column of_a_later_version text`)
      await traffic.flow(150)
    }
    await traffic.flow(500)
    const aftermath = await traffic.stop()
    console.log('columns added under load:', figures(traffic.samples, 0))
    expect(traffic.samples.filter((sample) => !succeeded(sample))).toEqual([])
    const { tokens, redeemed, families } = await settle(site, aftermath)
    expect(tokens).toEqual({ 200: aftermath.tokens.length })
    expect(families).toBe(redeemed)
  })

  test('a starting node waits for the migration of another node, even longer than the statement timeout', async () => {
    const database = await makeDatabase()
    const other = new Client({ connectionString: database.url })
    await other.connect()
    // Acquire the lock of Kysely's migrations for longer than the statement timeout.
    await other.query('select pg_advisory_lock(3853314791062309107)')
    // Fixed time: longer than the statement timeout.
    const released = delay(3_500).then(() => other.end())
    await using site = await startSite({ count: 1, database })
    expect(await isReady(site.node(0))).toBe(200)
    await released
  })

  test('a node that loses its connection during a migration does not block the tables', async () => {
    const database = await makeDatabase()
    const store = await postgres(database.url).open()
    const isCutOff = Promise.withResolvers<void>()
    let isSilent = false
    await using proxy = await startProxy(database.url, () => ({
      toServer(bytes) {
        if (isSilent) return undefined
        // The statement reaches the database, but its response is lost.
        if (bytes.includes('create table "oauth2server_token"')) {
          isSilent = true
          isCutOff.resolve()
        }
        return bytes
      },
      toClient: (bytes) => (isSilent ? undefined : bytes),
    }))
    const cut = await postgres(proxy.url).open()
    const migration = cut.migrate().catch((error: unknown) => error)
    await isCutOff.promise
    // This migration waits until PostgreSQL releases the lock of the lost connection.
    expect((await store.migrate()).map(({ name }) => name)).toEqual(await known())
    await proxy[Symbol.asyncDispose]()
    expect(await migration).toBeInstanceOf(StoreUnavailable)
    await cut.close()
    await store.close()
    await database.drop()
  })
})
