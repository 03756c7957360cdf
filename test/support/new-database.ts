import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreOpener } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { query } from './database.ts'
import { databaseFolder } from './database-folder.ts'
import { makeDatabase } from './postgres.ts'

/** A new database without tables. */
export interface NewDatabase {
  readonly opener: StoreOpener
  /** Runs a query outside of the store. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>
  readonly drop: () => Promise<unknown>
}

/** Creates a database of each kind. */
export const newDatabase = {
  async SQLite(): Promise<NewDatabase> {
    const folder = await databaseFolder()
    const file = join(folder, 'test.sqlite')
    return {
      opener: sqlite(file),
      query: async (sql) => query(file, sql),
      drop: () => rm(folder, { recursive: true }),
    }
  },
  async PostgreSQL(): Promise<NewDatabase> {
    const { url, query, drop } = await makeDatabase()
    return { opener: postgres(url), query, drop }
  },
} as const
