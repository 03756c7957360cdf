import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import type { StoreOpener, TransientsOpener } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { redis } from 'svc-oauth2server/redis'
import { sqlite } from 'svc-oauth2server/sqlite'
import { checksumOf } from '../../src/crypto/checksum.ts'
import { query } from './database.ts'
import { databaseFolder } from './database-folder.ts'
import { makeDatabase } from './postgres.ts'
import { sharedRedis } from './redis.ts'
import { clockIn, clockVariable, setClock } from './shared-clock.ts'

type Rows = readonly Record<string, unknown>[]

/** A short-lived value as it is stored. The text of `value` is sealed. */
export interface ShortLivedRow {
  readonly key: string
  readonly value: string
  readonly owner: string | null
}

interface Column {
  readonly table: string
  readonly name: string
}

/** The storage and the clock of the servers of a test. */
export interface Place {
  readonly folder: string
  /** The database file, or the URL of the database. */
  readonly database: string
  readonly options: { readonly store: StoreOpener; readonly transients?: TransientsOpener }
  /** The environment variables for the storage. */
  readonly env: Readonly<Record<string, string>>
  now(): number
  advance(seconds: number): void
  /** Runs a statement directly on the database. */
  query(sql: string): Promise<Rows>
  /** Returns the table and the name of every column. */
  columns(): Promise<readonly Column[]>
  /** Returns the short-lived values of a server whose keys begin with a text. */
  shortLived(issuer: string, start: string): Promise<readonly ShortLivedRow[]>
  remove(): Promise<void>
}

const start = Date.UTC(2026, 10, 21)

/** Creates a SQLite file, and a clock for this process. */
export const sqlitePlace = async (): Promise<Place> => {
  const folder = await databaseFolder()
  const database = join(folder, 'test.sqlite')
  let now = start
  return {
    folder,
    database,
    options: { store: sqlite(database) },
    env: {},
    now: () => now,
    advance(seconds) {
      now += seconds * 1000
    },
    query: async (sql) => query(database, sql),
    columns: async () =>
      query<Column & Record<string, unknown>>(
        database,
        `select m.name as "table", c.name from sqlite_master as m, pragma_table_info(m.name) as c
          where m.type = 'table' and m.name like 'oauth2server%'`,
      ),
    shortLived: async (_issuer, start) =>
      query<ShortLivedRow & Record<string, unknown>>(
        database,
        `select key, value, owner from oauth2server_transient where key like '${start}%'`,
      ),
    remove: () => rm(folder, { recursive: true }),
  }
}

// Use a separate Redis database for each vitest worker, because concurrent tests use the same IP addresses and users.
const pool = (Number(process.env.VITEST_POOL_ID ?? 0) % 15) + 1
const redisUrl = `${sharedRedis}/${pool}`

/** Deletes the rate-limit counters of earlier tests from Redis. */
const removeCounters = async (): Promise<void> => {
  const client = await createClient({ url: redisUrl }).connect()
  for await (const keys of client.scanIterator({ MATCH: 'oauth2server:*:limit:*', COUNT: 1_000 }))
    if (keys.length > 0) await client.del(keys)
  client.destroy()
}

/** Reads the values of a server in Redis: src/store/redis/transients.ts. */
const shortLivedInRedis = async (
  issuer: string,
  start: string,
): Promise<readonly ShortLivedRow[]> => {
  const client = await createClient({ url: redisUrl }).connect()
  const prefix = `oauth2server:${checksumOf(issuer)}:`
  const keysLike = (pattern: string) => client.keys(prefix + pattern)
  const owners = new Map<string, string>()
  for (const owner of await keysLike('owner:*'))
    for (const key of await client.zRange(owner, 0, -1)) owners.set(key, owner)
  const rows = await Promise.all(
    (await keysLike(`${start}*`))
      .filter((key) => !key.startsWith(`${prefix}owner:`))
      .map(async (name) => {
        const key = name.slice(prefix.length)
        const value = await client.hGet(name, 'value')
        return { key, value: value ?? '', owner: owners.get(key) ?? null }
      }),
  )
  client.destroy()
  return rows
}

/** The number of connections of each process. It is small because many test files share one server. */
const poolSize = 5

/** Creates a PostgreSQL database, a store of short-lived values in Redis, and a clock that all processes read. */
export const sharedPlace = async (): Promise<Place> => {
  const [folder, database] = await Promise.all([databaseFolder(), makeDatabase(), removeCounters()])
  const clock = join(folder, 'clock')
  setClock(clock, start)
  const now = clockIn(clock)
  return {
    folder,
    database: database.url,
    options: { store: postgres(database.url, { poolSize }), transients: redis(redisUrl) },
    env: {
      DATABASE_URL: database.url,
      OAUTH2_CACHE_REDIS_URL: redisUrl,
      [clockVariable]: clock,
    },
    now,
    advance: (seconds) => setClock(clock, now() + seconds * 1000),
    query: (sql) => database.query(sql),
    columns: async () =>
      (
        await database.query(
          `select table_name as "table", column_name as name from information_schema.columns
            where table_schema = 'public' and table_name like 'oauth2server%'`,
        )
      ).map(({ table, name }) => ({ table: String(table), name: String(name) })),
    shortLived: shortLivedInRedis,
    async remove() {
      await Promise.all([database.drop(), rm(folder, { recursive: true })])
    },
  }
}
