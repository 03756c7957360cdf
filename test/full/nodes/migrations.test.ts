import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { StoreUnavailable } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { describe, expect, test } from 'vitest'
import type { Digest } from '../../../src/crypto/digest.ts'
import { lacks } from '../../support/needs.ts'
import { databaseIn, query, startNode } from '../../support/nodes.ts'
import { makeDatabase } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/processes.ts'
import { startSite } from '../../support/site.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { figures, settle, startTraffic, succeeded } from '../../support/traffic.ts'

const isLacking = await lacks('postgres')
const ten = Array.from({ length: 10 }, (_, index) => index)

/** The migrations that there are. */
const known = async (): Promise<readonly string[]> => {
  const store = await sqlite(':memory:').open()
  const migrations = await store.migrate({ dryRun: true })
  await store.close()
  return migrations.map(({ name }) => name)
}

const isReady = async ({ url }: { readonly url: string }): Promise<number> =>
  (await fetch(`${url}/health/ready`)).status

describe('ten nodes that start together on an empty database', () => {
  test.skipIf(isLacking)('PostgreSQL: all serve, and each migration ran once', async () => {
    await using site = await startSite({ count: ten.length })
    expect(await Promise.all(site.nodes.map(isReady))).toEqual(ten.map(() => 200))
    const rows = await site.database.query('select name from oauth2server_migration order by name')
    expect(rows.map(({ name }) => name)).toEqual(await known())
    // They are one server: what one issues, all know.
    const { access_token } = await site.client.tokens(site.node(0), site.agent)
    const headers = { authorization: `Bearer ${access_token}` }
    const answers = site.nodes.map(({ url }) => fetch(`${url}/oauth/ping`, { headers }))
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(ten.map(() => 200))
  })

  test('SQLite: all serve, and each migration ran once', async () => {
    await using folder = await temporaryFolder()
    const cluster = { data: folder.path, issuer: 'http://localhost:8080' }
    const nodes = await Promise.all(ten.map(() => startNode(cluster)))
    expect(await Promise.all(nodes.map(isReady))).toEqual(ten.map(() => 200))
    await Promise.all(nodes.map(({ program }) => program.crash()))
    const rows = query(folder.path, 'select name from oauth2server_migration order by name')
    expect(rows.map(({ name }) => name)).toEqual(await known())
    expect(databaseIn(folder.path)).toContain('oauth2server.sqlite')
  })
})

describe.skipIf(isLacking)('the version before goes on while a later one migrates', () => {
  test('columns are added to every table under nodes that serve: no request fails', async () => {
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

  test('what it reads and writes goes on while the settings pages are migrated', async () => {
    const database = await makeDatabase()
    const store = await postgres(database.url).open()
    const client = new Client({ connectionString: database.url })
    await client.connect()
    try {
      await store.migrate({ to: '0001-initial' })
      let isOver = false
      const counts = { before: 0, after: 0 }
      const works = (async () => {
        for (let index = 0; !isOver || counts.after < 30; index += 1) {
          await ofFirstVersion(client, index)
          counts[isOver ? 'after' : 'before'] += 1
          await delay(5)
        }
      })()
      await delay(300)
      expect(await store.migrate()).not.toEqual([])
      isOver = true
      await works
      console.log('statements of the version before, in rounds:', counts)
      // What it has written afterwards, the later version understands.
      const token = await store.tokens.findByAccess('access-1' as Digest)
      expect(token).toMatchObject({
        successorId: null,
        lastUse: null,
        client: { isDisabled: false },
      })
      const last = await store.clients.find(`client-${counts.before + counts.after - 1}`)
      expect(last?.fields).toMatchObject({ optionalScopes: [], isVerified: false })
    } finally {
      await client.end()
      await store.close()
      await database.drop()
    }
  })

  test('a node that starts waits for another that migrates, however long that takes', async () => {
    const database = await makeDatabase()
    const other = new Client({ connectionString: database.url })
    await other.connect()
    // As Kysely takes it. Longer than any statement of a request may take.
    await other.query('select pg_advisory_lock(3853314791062309107)')
    const released = delay(6_500).then(() => other.end())
    await using site = await startSite({ count: 1, database })
    expect(await isReady(site.node(0))).toBe(200)
    await released
  })

  test('a node that is cut off while it migrates gives the tables back', async () => {
    const database = await makeDatabase()
    const store = await postgres(database.url).open()
    await store.migrate({ to: '0001-initial' })
    const isCutOff = Promise.withResolvers<void>()
    let isSilent = false
    await using proxy = await startProxy(database.url, () => ({
      toServer(bytes) {
        if (isSilent) return undefined
        // The statement itself arrives, and takes the table; its answer does not come back.
        if (bytes.includes('alter table "oauth2server_token"')) {
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
    // Waits for the table, as the requests of every other node do.
    expect(await database.query('select * from oauth2server_token')).toEqual([])
    expect((await store.migrate()).map(({ name }) => name)).toEqual((await known()).slice(1))
    await proxy[Symbol.asyncDispose]()
    expect(await migration).toBeInstanceOf(StoreUnavailable)
    await cut.close()
    await store.close()
    await database.drop()
  })
})

/** What the first version does for a client, prepared: it knows the columns of then, and no other. */
const ofFirstVersion = async (client: Client, index: number): Promise<void> => {
  const run = async (name: string, text: string, values: readonly unknown[]) =>
    (await client.query({ name, text, values: [...values] })).rows
  await client.query('begin')
  const [user] = await run(
    'user',
    'insert into oauth2server_user (email, password_hash, active, email_verified, is_admin, created_at) values ($1, null, 1, 1, 0, 1) returning id',
    [`user-${index}@example.org`],
  )
  const clientId = `client-${index}`
  await run(
    'client',
    `insert into oauth2server_client (client_id, client_secret, name, description, website, user_id, is_confidential,
     is_internal, is_personal, redirect_uris, default_scopes, created_at, seal) values ($1, $1, 'x', '', '', $2, 1, 0, 0, '', '', 1, '')`,
    [clientId, user.id],
  )
  const [authorization] = await run(
    'authorization',
    'insert into oauth2server_authorization (client_id, user_id, scopes, created_at, expires_at) values ($1, $2, $3, 1, 2) returning id',
    [clientId, user.id, 'notes:read'],
  )
  await run(
    'token',
    `insert into oauth2server_token (client_id, user_id, authorization_id, token_type, access_token, access_token_digest,
     scopes, is_personal, is_internal, created_at) values ($1, $2, $3, 'bearer', 'x', $4, '', 0, 0, 1)`,
    [clientId, user.id, authorization.id, `access-${index}`],
  )
  await run(
    'consent',
    "insert into oauth2server_consent (user_id, client_id, id, scopes, granted_at, seal) values ($1, $2, $2, '', 1, '')",
    [user.id, clientId],
  )
  await client.query('commit')
  const found = await run(
    'find',
    `select t.id, t.scopes, c.name, u.active from oauth2server_token t join oauth2server_client c on c.client_id = t.client_id
     left join oauth2server_user u on u.id = t.user_id where t.access_token_digest = $1`,
    [`access-${index}`],
  )
  if (found.length !== 1) throw new Error('The token is not found.')
}
