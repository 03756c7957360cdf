import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoreOpener } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { describe, expect, test } from 'vitest'
import { type Cell, literal, type Row } from '../attacks/support/database-writer.ts'
import { everyKind, expectAllWork } from '../records/every-kind.ts'
import { query } from '../support/database.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { tokenRequest, UserAgent } from '../support/user-agent.ts'

// An upgrade must not invalidate a token, a client or a session. The file contains the rows that the first version
// wrote, with the seals of its secret key. A new column therefore needs a migration with a default, and a new claim must
// be omitted for this default. Until the first version is released, FIRST_VERSION=write replaces the file.

const file = join(import.meta.dirname, 'first-version.json')
const firstMigration = '0001-initial'
const email = 'first@example.org'

interface FirstVersion {
  /** The time of the rows, in milliseconds since the epoch. */
  readonly at: number
  readonly made: {
    readonly basic: { readonly clientId: string; readonly clientSecret: string }
    readonly cookie: string
    readonly personal: string
    readonly access: string
    readonly current: string
    readonly rotated: string
    readonly answered: string
  }
  readonly tables: Readonly<Record<string, readonly Row[]>>
}

const write = async (): Promise<void> => {
  await using app = await startServer()
  const user = await app.newUser({ email })
  const made = await everyKind({
    ...app,
    user,
    client: (input) => app.client({ userId: user.id, ...input }),
    personalToken: async (scopes = []) =>
      (await app.server.tokens.createPersonal('Test', user.id, { scopes })).accessToken,
  })
  await app.server.sweep()
  const names = query<{ name: string }>(
    app.database,
    `select name from sqlite_master where type = 'table' and name like 'oauth2server%'
     and name not like '%migration%' and name <> 'oauth2server_transient' order by name`,
  )
  const tables = Object.fromEntries(
    names.map(({ name }) => [
      name,
      query<Record<string, Cell>>(app.database, `select * from ${name}`),
    ]),
  )
  // Each server of a test creates its own user.
  const users = tables.oauth2server_user?.filter((row) => row.email === email) ?? []
  const { basic, cookie, personal, access, current, rotated, answered } = made
  const texts = { cookie, personal, access, current, rotated, answered: answered.access_token }
  const content = {
    at: app.now(),
    made: { basic, ...texts },
    tables: { ...tables, oauth2server_user: users },
  }
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`)
}
if (process.env.FIRST_VERSION === 'write') await write()

const first = JSON.parse(await readFile(file, 'utf8')) as FirstVersion

interface Database {
  readonly opener: StoreOpener
  /** Runs statements without foreign key checks. */
  readonly run: (sql: string) => Promise<unknown>
  readonly columnsOf: (table: string) => Promise<readonly string[]>
  readonly drop: () => Promise<unknown>
}

const sqliteDatabase = async (): Promise<Database> => {
  const folder = await databaseFolder()
  const path = join(folder, 'first.sqlite')
  return {
    opener: sqlite(path),
    async run(sql) {
      using database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
      database.exec(sql)
    },
    columnsOf: async (table) =>
      query<{ name: string }>(path, `select name from pragma_table_info('${table}')`).map(
        ({ name }) => name,
      ),
    drop: () => rm(folder, { recursive: true }),
  }
}

const postgresDatabase = async (): Promise<Database> => {
  const { url, query: ask, drop } = await makeDatabase()
  const sequences = ['token', 'authorization', 'audit']
    .map((name) => `oauth2server_${name}`)
    .map((t) => `select setval(pg_get_serial_sequence('${t}', 'id'), (select max(id) from ${t}))`)
  return {
    opener: postgres(url),
    run: (sql) => ask(`set session_replication_role = 'replica'; ${sql}; ${sequences.join('; ')}`),
    columnsOf: async (table) =>
      (
        await ask(
          'select column_name as name from information_schema.columns where table_name = $1',
          [table],
        )
      ).map(({ name }) => String(name)),
    drop,
  }
}

const insertsOf = (tables: FirstVersion['tables']): string =>
  Object.entries(tables)
    .flatMap(([table, rows]) =>
      rows.map((row) => {
        const values = Object.values(row).map(literal)
        return `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`
      }),
    )
    .join(';\n')

const madeAt = async (app: TestServer): Promise<Awaited<ReturnType<typeof everyKind>>> => {
  const { made } = first
  const agent = new UserAgent({ 'user-agent': browser })
  for (const pair of made.cookie.split('; '))
    await agent.jar.setCookie(`${pair}; Path=/`, `${app.issuer}/`)
  const { basic } = made
  const refresh = (at: TestServer, token: unknown) =>
    tokenRequest(
      at.issuer,
      { grant_type: 'refresh_token', refresh_token: String(token) },
      { basic },
    )
  return { ...made, agent, refresh, answered: { access_token: made.answered }, untouched: [] }
}

describe.each([
  ['SQLite', sqliteDatabase, false],
  ['PostgreSQL', postgresDatabase, await lacks('postgres')],
] as const)('a database of the first version on %s', (_, create, isMissing) => {
  test.skipIf(isMissing)(
    'the current version migrates it, and accepts each of its credentials [T3033]',
    async () => {
      const database = await create()
      const store = await database.opener.open()
      await store.migrate({ to: firstMigration })
      await store.close()
      for (const [table, [row]] of Object.entries(first.tables))
        if (row)
          expect(Object.keys(row).sort()).toEqual([...(await database.columnsOf(table))].sort())
      await database.run(insertsOf(first.tables))

      const app = await startServer({ store: database.opener, clock: () => first.at })
      const user = await app.server.users.findByEmail(email)
      if (!user) throw new Error('The user of the first version is missing.')
      const upgraded = { ...app, user }
      await expectAllWork(upgraded, await madeAt(upgraded))
      expect((await app.server.activity.verify({})).defects).toBe(0)
      expect(app.log.filter(({ level }) => level === 'error')).toEqual([])
      await app.close()
      await database.drop()
    },
  )
})
