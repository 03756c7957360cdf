import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { kinds, post } from '../../support/load.ts'
import { lacks, postgresPrograms } from '../../support/needs.ts'
import {
  createUserAndClient,
  databaseIn,
  openRecords,
  ping,
  query,
  startNode,
} from '../../support/nodes.ts'
import { startPostgres } from '../../support/own-postgres.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/processes.ts'
import { browser } from '../../support/session.ts'
import { type Site, startSite } from '../../support/site.ts'
import { longLeeway } from '../../support/sound.ts'
import { settle, startTraffic, succeeded } from '../../support/traffic.ts'
import { UserAgent } from '../../support/user-agent.ts'

const run = promisify(execFile)
const isLacking = await lacks('postgres programs')

/** Credentials that were issued or used before and after a backup. */
interface Around {
  readonly before: Awaited<ReturnType<Awaited<ReturnType<typeof startTraffic>>['stop']>>
  /** A refresh token that was redeemed after the backup, and its successor. */
  readonly pair: { readonly earlier: string; readonly later: string }
  /** An access token that was revoked after the backup. */
  readonly revoked: string
  /** An access token that was issued after the backup. */
  readonly issued: string
}

/**
 * Makes a backup during traffic. Returns credentials that restoring the backup affects, as docs/operations.md
 * describes.
 */
const backUpDuringTraffic = async (site: Site, copy: () => Promise<void>): Promise<Around> => {
  const { client, agent } = site
  const first = await startTraffic(site)
  await first.flow(1_000)
  const before = await first.stop()
  const refreshed = await client.tokens(site.node(0), agent)
  const revoked = String((await client.tokens(site.node(0), agent)).access_token)
  const beside = await startTraffic(site)
  await beside.flow(500)
  await copy()
  await beside.flow(500)
  await beside.stop()
  expect(kinds(beside.samples.filter((sample) => !succeeded(sample)))).toEqual({})
  const earlier = String(refreshed.refresh_token)
  const { body } = await post(client.refreshForm(site.node(0), earlier))
  const { authorization } = client.form(site.node(0), {})
  const url = `${site.node(0).url}/oauth/revoke`
  expect((await post({ url, authorization, fields: { token: revoked } })).status).toBe(200)
  expect(await ping(site.node(0), revoked)).toBe(401)
  return {
    before,
    pair: { earlier, later: String(body.refresh_token) },
    revoked,
    issued: String(body.access_token),
  }
}

const expectRestored = async (site: Site, { before, pair, revoked, issued }: Around) => {
  const settled = await settle(site, before)
  console.log('restored:', settled)
  expect(settled.tokens).toEqual({ 200: before.tokens.length })
  expect(settled.families).toBe(settled.redeemed)
  expect(settled.doubled).toBe(0)
  expect(Object.keys(settled.again)).toEqual(['400 invalid_grant'])
  const node = site.node(0)
  expect(await ping(node, issued), 'rejects a token that was issued after the backup').toBe(401)
  expect(await ping(node, revoked), 'accepts a token that was revoked after the backup').toBe(200)
  const later = await post(site.client.refreshForm(node, pair.later))
  expect([later.status, later.error]).toEqual([400, 'invalid_grant'])
  expect((await post(site.client.refreshForm(node, pair.earlier))).status).toBe(200)
}

describe('a backup of SQLite during traffic', () => {
  const copies = {
    'VACUUM INTO': async (from: string, to: string) => {
      using database = new DatabaseSync(from, { timeout: 5_000 })
      database.prepare('vacuum into ?').run(to)
    },
    '.backup': async (from: string, to: string) => {
      using database = new DatabaseSync(from, { timeout: 5_000 })
      await backup(database, to)
    },
  }
  test.each(Object.entries(copies))(
    'made with %s can be restored by replacing the database file with the copy',
    {
      timeout: 600_000,
    },
    async (_, copy) => {
      await using folder = await temporaryFolder()
      await using restored = await temporaryFolder()
      const cluster = { data: folder.path, issuer: 'http://localhost:8080', env: longLeeway }
      const open = async (data: string, known?: Pick<Site, 'user' | 'client'>): Promise<Site> => {
        const node = await startNode({ ...cluster, data })
        const records = await openRecords({ ...cluster, data })
        const agent = new UserAgent({ 'user-agent': browser })
        return {
          cluster,
          nodes: [node],
          records,
          ...(known ?? (await createUserAndClient(records))),
          agent,
          node: () => node,
          browserHeaders: async () => ({
            'user-agent': browser,
            cookie: await agent.jar.getCookieString('http://localhost'),
          }),
          database: {
            url: databaseIn(data),
            query: async (sql, [list] = []) =>
              query(
                data,
                sql.replace('= any($1)', 'in (select value from json_each(?))'),
                JSON.stringify(list),
              ),
            drop: async () => undefined,
          },
          async [Symbol.asyncDispose]() {
            await node.program.crash()
            await records.close()
          },
        }
      }
      const site = await open(folder.path)
      const file = databaseIn(restored.path)
      const around = await backUpDuringTraffic(site, () => copy(databaseIn(folder.path), file))
      await site[Symbol.asyncDispose]()
      await using again = await open(restored.path, site)
      await expectRestored(again, around)
    },
  )
})

describe.skipIf(isLacking)('a backup of PostgreSQL during traffic', () => {
  test('made with pg_dump can be restored with pg_restore in another PostgreSQL cluster', {
    timeout: 600_000,
  }, async () => {
    await using folder = await temporaryFolder()
    await using own = await startPostgres()
    await using other = await startPostgres()
    const file = join(folder.path, 'dump')
    const site = await startSite({ database: await makeDatabase(own.url), env: longLeeway })
    const around = await backUpDuringTraffic(site, async () => {
      const dump = ['--format=custom', `--file=${file}`, site.database.url]
      await run(join(postgresPrograms, 'pg_dump'), dump)
    })
    await Promise.all(site.nodes.map(({ program }) => program.crash()))
    await site.records.close()
    const target = await makeDatabase(other.url)
    await run(join(postgresPrograms, 'pg_restore'), [`--dbname=${target.url}`, file])
    const env = { ...site.cluster.env, DATABASE_URL: target.url }
    const node = await startNode({ ...site.cluster, env })
    await expectRestored({ ...site, database: target, node: () => node }, around)
    await node.program.crash()
  })
})
