import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test } from 'vitest'
import { lastMigration } from '../../support/migrations.ts'
import { lacks } from '../../support/needs.ts'
import { ping, startNode } from '../../support/nodes.ts'
import { makeDatabase, type TestDatabase } from '../../support/postgres.ts'
import { type Program, runNode } from '../../support/processes.ts'
import {
  copyTokens,
  migrateToSecond,
  secondIndex,
  secondName,
} from '../../support/second-version.ts'
import { startSite } from '../../support/site.ts'
import { longLeeway } from '../../support/sound.ts'
import { figures, settle, startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking = await lacks('postgres')

/** The number of token rows that the test adds. */
const copies = process.env.NODES === 'whole' ? 200_000 : 100_000

/** The permitted delay in milliseconds: longer than a short lock, and less than the statement timeout of 3,000 ms. */
const longestRequest = 2_500

/** The timeout in milliseconds. The upgrade pauses after each batch, and the machine may be busy. */
const timeout = 200_000

const upgradeProgram = resolve(import.meta.dirname, '../fixtures/upgrade.ts')
const startUpgrade = ({ url }: TestDatabase): Program =>
  runNode([upgradeProgram], { env: { DATABASE_URL: url }, limit: timeout })

const finished = async (program: Program): Promise<string> => {
  const { code } = await program.exited
  expect(program.stderr).toBe('')
  expect(code).toBe(0)
  return program.stdout
}

const rowsLeft = async (database: TestDatabase): Promise<number> => {
  const [row] = await database.query(
    'select count(*) as rows from oauth2server_token where scopes_copy is null',
  )
  return Number(row?.rows)
}

const indexes = (database: TestDatabase) =>
  database.query(
    `select c.relname as name, i.indisvalid as is_valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname like $1`,
    [`${secondIndex}%`],
  )

const onlineDone = (database: TestDatabase) =>
  database.query('select name from oauth2server_migration_online where name = $1', [secondName])

/** Waits until a query returns a row. */
const until = async (database: TestDatabase, sql: string): Promise<void> => {
  const limit = performance.now() + timeout
  while ((await database.query(sql).catch(() => [])).length === 0) {
    if (performance.now() > limit) throw new Error(`No row in time: ${sql}`)
    // Fixed time: the interval of the poll.
    await delay(20)
  }
}

/** Selects a row while some token rows are filled and others are not. */
const isFilling = `select 1 where exists (select from oauth2server_token where scopes_copy is not null)
  and exists (select from oauth2server_token where scopes_copy is null)`
const isIndexing = `select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relname = '${secondIndex}' and not i.indisvalid`

describe.skipIf(isLacking)('an upgrade of a large token table', () => {
  test('completes after two interruptions, and rejects no request to the previous version', {
    timeout: 2 * timeout,
  }, async () => {
    await using site = await startSite({ env: longLeeway })
    const { database } = site
    await site.client.tokens(site.node(0), site.agent)
    await database.query(copyTokens(copies))
    const traffic = await startTraffic(site)
    await traffic.flow(2_000)
    const before = figures(traffic.samples, 0)
    const began = performance.now()

    const killed = startUpgrade(database)
    await until(database, isFilling)
    await killed.crash()
    expect(await rowsLeft(database)).toBeGreaterThan(0)
    expect(await onlineDone(database)).toEqual([])

    // The new index remains invalid until this open transaction ends.
    const open = new Client({ connectionString: database.url })
    // If the test fails, it drops the database before this connection closes. Ignore the resulting error.
    open.on('error', () => undefined)
    await open.connect()
    await open.query(
      'begin isolation level repeatable read; select count(*) from oauth2server_client',
    )
    const terminated = startUpgrade(database)
    // A node of the previous version starts during the upgrade.
    const late = await startNode(site.cluster)
    await late.program.says(/schema\.newer/, { on: 'stderr' })
    site.nodes.push(late)
    await until(database, isIndexing)
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'create index concurrently%' and pid <> pg_backend_pid()`,
    )
    expect((await terminated.exited).code).not.toBe(0)
    expect(await indexes(database)).toEqual([{ name: secondIndex, is_valid: false }])
    await open.query('commit')
    await open.end()

    expect(await finished(startUpgrade(database))).toContain(secondName)
    const aftermath = await traffic.stop()
    const during = figures(
      traffic.samples.filter((sample) => sample.began >= began),
      0,
    )
    console.log(`upgrade of ${copies} tokens:`, during, 'slowest before:', before.slowest)
    expect(traffic.samples.filter((sample) => !succeeded(sample))).toEqual([])
    expect(during.slowest).toBeLessThan(before.slowest + longestRequest)
    expect(traffic.samples.some(({ port }) => port === late.port)).toBe(true)
    // The copies existed before the upgrade, so each is filled. Rows that the previous version inserted later may not be.
    const [unfilled] = await database.query(
      `select count(*) as missing from oauth2server_token where access_token_digest like 'copy %' and scopes_copy is null`,
    )
    expect(Number(unfilled?.missing)).toBe(0)
    expect(await indexes(database)).toEqual([{ name: secondIndex, is_valid: true }])
    expect(await onlineDone(database)).toEqual([{ name: secondName }])
    const { tokens, redeemed, families } = await settle(site, aftermath)
    expect(tokens).toEqual({ 200: aftermath.tokens.length })
    expect(families).toBe(redeemed)
    expect(await ping(late, aftermath.tokens[0])).toBe(200)
  })

  test('runs once if two servers start it concurrently', async () => {
    const database = await makeDatabase()
    const stores = await Promise.all([1, 2].map(() => postgres(database.url).open()))
    const [first, second] = stores
    if (!first || !second) throw new Error('There are no stores.')
    await first.migrate()
    const done = await Promise.all([migrateToSecond(first), migrateToSecond(second)])
    expect(done.flat().map(({ name }) => name)).toEqual([secondName])
    expect(await indexes(database)).toEqual([{ name: secondIndex, is_valid: true }])
    expect(await migrateToSecond(first)).toEqual([])

    // Revert the migration, so that the online steps run again.
    const to = lastMigration
    expect(await migrateToSecond(first, { to })).toEqual([{ name: secondName, direction: 'down' }])
    expect(await indexes(database)).toEqual([])
    expect(await migrateToSecond(second)).toEqual([{ name: secondName, direction: 'up' }])
    expect(await indexes(database)).toEqual([{ name: secondIndex, is_valid: true }])
    await Promise.all(stores.map((store) => store.close()))
    await database.drop()
  })
})
