import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { postgres } from '../../src/store/postgres.ts'
import { sqlite } from '../../src/store/sqlite.ts'
import type { StoreOpener } from '../../src/store/store.ts'
import { makeDatabase } from '../support/postgres.ts'

/** A database that this module fills without the store, because direct inserts are faster. */
export interface GrowthDatabase {
  readonly opener: StoreOpener
  /** The path or URL of the database. */
  readonly at: string
  /** Returns the folder of the database files. */
  folder(): Promise<string>
  /** Copies the only token until the table has `rows` rows. The first `expired` rows are expired. */
  fill(rows: number, expired: number): Promise<void>
  /** Returns the digests of the access tokens of `count` random rows that are not expired. */
  digests(count: number, expired: number): Promise<readonly string[]>
  bytes(): Promise<number>
  remove(): Promise<void>
}

const chunk = 200_000
const users = 1_000
const clients = 100

/** SQL expressions for the columns in which the copies differ. The column `i` is the number of the copy. */
interface Dialect {
  readonly digest: string
  readonly numbers: (from: number, to: number) => string
}

const copies = ({ numbers }: Dialect): readonly string[] => [
  `insert into oauth2server_user (id, email, password_hash, active, email_verified, is_admin, created_at, seal)
   select id + i - 1, 'user-' || i || '@example.org', password_hash, 1, 1, 0, created_at, seal
   from oauth2server_user as u, ${numbers(2, users)}`,
  `insert into oauth2server_client (client_key, client_id, client_secret, name, description, website, user_id, is_confidential,
   is_internal, is_personal, redirect_uris, default_scopes, created_at, seal, state_seal)
   select client_key + i, client_id || i, client_secret || i, name, '', '', user_id, 1, 0, 0, redirect_uris, default_scopes, created_at, seal, state_seal
   from oauth2server_client as c, ${numbers(2, clients)} where c.name = 'Load'`,
]

/** Returns the statements that create the tokens and authorizations with the numbers `from` to `to`. */
const tokens = (
  { digest, numbers }: Dialect,
  {
    from,
    to,
    expired,
    clientKey,
    userId,
  }: { from: number; to: number; expired: number; clientKey: number; userId: number },
): readonly string[] => {
  const user = `${userId} + i % ${users}`
  const client = `${clientKey} + 2 + i % ${clients - 1}`
  const end = (column: string) => `case when i <= ${expired} then 1 else ${column} end`
  return [
    `insert into oauth2server_authorization (id, client_key, user_id, scopes, code_digest, code_binding, created_at, expires_at, user_agent)
     select i, ${client}, ${user}, scopes, ${digest}, code_binding, created_at, ${end('expires_at')}, user_agent
     from oauth2server_authorization as a, ${numbers(from, to)} where a.id = 1`,
    `insert into oauth2server_token (id, client_key, user_id, authorization_id, token_type, access_token, access_token_digest,
     refresh_token, refresh_token_digest, expires, refresh_expires, ends_at, scopes, is_personal, is_internal, created_at)
     select i, ${client}, ${user}, i, token_type, access_token, ${digest}, refresh_token, ${digest}, ${end('expires')},
     ${end('refresh_expires')}, ${end('ends_at')}, scopes, is_personal, is_internal, created_at
     from oauth2server_token as t, ${numbers(from, to)} where t.id = 1`,
  ]
}

const inChunks = async (
  rows: number,
  one: (from: number, to: number) => Promise<void>,
): Promise<void> => {
  for (let from = 2; from <= rows; from += chunk) await one(from, Math.min(rows, from + chunk - 1))
}

const inSqlite: Dialect = {
  // The text is as long and as random as a digest.
  digest: 'substr(hex(randomblob(22)), 1, 43)',
  numbers: (from, to) =>
    `(with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to}) select i from n) as n`,
}

// Build the indexes at the end, which is ten times as fast as updating the indexes for each row.
const indexesOfSqlite = `select name, sql from sqlite_master
  where type = 'index' and sql is not null and tbl_name in ('oauth2server_token', 'oauth2server_authorization')`

/** Creates a SQLite database in a temporary folder. */
export const sqliteGrowth = async (): Promise<GrowthDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-growth-'))
  const path = join(folder, 'growth.sqlite')
  return {
    opener: sqlite(path),
    at: path,
    folder: async () => folder,
    async fill(rows, expired) {
      using database = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: 1000 })
      database.exec('pragma synchronous = off; pragma cache_size = -4000000')
      const row = database.prepare('select client_key, user_id from oauth2server_client').get()
      const [clientKey, userId] = [Number(row?.client_key), Number(row?.user_id)]
      for (const statement of copies(inSqlite)) database.exec(statement)
      const dropped = database.prepare(indexesOfSqlite).all()
      for (const { name } of dropped) database.exec(`drop index ${name}`)
      await inChunks(rows, async (from, to) => {
        database.exec('begin')
        for (const statement of tokens(inSqlite, { from, to, expired, clientKey, userId }))
          database.exec(statement)
        database.exec('commit')
      })
      for (const { sql } of dropped) database.exec(String(sql))
      database.exec('pragma wal_checkpoint(truncate)')
    },
    async digests(count, expired) {
      using database = new DatabaseSync(path, { readOnly: true })
      const last = Number(
        database.prepare('select max(id) as last from oauth2server_token').get()?.last,
      )
      return randomIds(last, count, expired).map((id) =>
        String(
          database
            .prepare('select access_token_digest as digest from oauth2server_token where id = ?')
            .get(id)?.digest,
        ),
      )
    },
    bytes: async () => (await stat(path)).size,
    remove: () => rm(folder, { recursive: true }),
  }
}

/** Returns random IDs of tokens that are not expired. */
const randomIds = (last: number, count: number, expired: number): readonly number[] => {
  const first = Math.floor(last * expired) + 2
  return Array.from({ length: count }, () => first + Math.floor(Math.random() * (last - first)))
}

const inPostgres: Dialect = {
  digest: `substr(encode(sha256((random()::text || i)::bytea), 'hex'), 1, 43)`,
  numbers: (from, to) => `generate_series(${from}, ${to}) as i`,
}

const indexesOfPostgres = `select conrelid::regclass as name, conname as index, true as is_constraint, pg_get_constraintdef(oid) as made
  from pg_constraint where contype = 'u' and conrelid in ('oauth2server_token'::regclass, 'oauth2server_authorization'::regclass)
  union all
  select indrelid::regclass, indexrelid::regclass::text, false, pg_get_indexdef(indexrelid)
  from pg_index where not exists (select from pg_constraint where conindid = indexrelid)
  and indrelid in ('oauth2server_token'::regclass, 'oauth2server_authorization'::regclass)`

/** Creates a database on the PostgreSQL server at a URL. */
export const postgresGrowth = async (at: string): Promise<GrowthDatabase> => {
  const made = await makeDatabase(at)
  return {
    opener: postgres(made.url),
    at: made.url,
    async folder() {
      const [row] = await made.query(`select current_setting('data_directory') as folder`)
      return String(row?.folder)
    },
    async fill(rows, expired) {
      const client = new Client({ connectionString: made.url })
      await client.connect()
      const run = async (sql: string) => (await client.query(sql)).rows
      try {
        // Skip the foreign keys: the copies satisfy them, and the checks would take longer than the inserts.
        await run(`set session_replication_role = replica`)
        await run(`set synchronous_commit = off`)
        await run(`set maintenance_work_mem = '1GB'`)
        const [row] = await run('select client_key, user_id from oauth2server_client')
        const [clientKey, userId] = [Number(row?.client_key), Number(row?.user_id)]
        for (const statement of copies(inPostgres)) await run(statement)
        const dropped = await run(indexesOfPostgres)
        for (const { name, index, is_constraint } of dropped)
          await run(
            is_constraint ? `alter table ${name} drop constraint ${index}` : `drop index ${index}`,
          )
        await inChunks(rows, async (from, to) => {
          for (const statement of tokens(inPostgres, { from, to, expired, clientKey, userId }))
            await run(statement)
        })
        for (const { name, index, is_constraint, made: as } of dropped)
          await run(is_constraint ? `alter table ${name} add constraint ${index} ${as}` : as)
        // Perform the work of autovacuum immediately.
        await run('vacuum analyze')
        await run('checkpoint')
      } finally {
        await client.end()
      }
    },
    async digests(count, expired) {
      const [row] = await made.query('select max(id) as last from oauth2server_token')
      const rows = await made.query(
        'select access_token_digest as digest from oauth2server_token where id = any($1) order by random()',
        [randomIds(Number(row?.last), count, expired)],
      )
      return rows.map(({ digest }) => String(digest))
    },
    async bytes() {
      const [row] = await made.query(
        `select sum(pg_total_relation_size(t)) as bytes from unnest(array['oauth2server_token', 'oauth2server_authorization']::regclass[]) as t`,
      )
      return Number(row?.bytes)
    },
    remove: () => made.drop(),
  }
}
