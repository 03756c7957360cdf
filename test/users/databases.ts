import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoreOpener } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { query } from '../support/database.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase as makePostgres } from '../support/postgres.ts'

/** A database that contains the users of the application, and later the tables of the server. */
export interface Database {
  readonly store: StoreOpener
  run(sql: string): Promise<readonly Record<string, unknown>[]>
  remove(): Promise<void>
}

const makeSqlite = async (): Promise<Database> => {
  const folder = await databaseFolder()
  const file = join(folder, 'app.sqlite')
  return {
    store: sqlite(file),
    async run(sql) {
      if (sql.startsWith('select')) return query(file, sql)
      using database = new DatabaseSync(file, { timeout: 5_000 })
      database.exec(sql)
      return []
    },
    remove: () => rm(folder, { recursive: true }),
  }
}

export type DatabaseKind = 'SQLite' | 'PostgreSQL'

/** The databases of this machine. */
export const databaseKinds: readonly DatabaseKind[] = (await lacks('postgres'))
  ? ['SQLite']
  : ['SQLite', 'PostgreSQL']

export const makeDatabase = async (kind: DatabaseKind): Promise<Database> => {
  if (kind === 'SQLite') return makeSqlite()
  const database = await makePostgres()
  return {
    store: postgres(database.url, { poolSize: 3 }),
    run: (sql) => database.query(sql),
    remove: () => database.drop(),
  }
}
