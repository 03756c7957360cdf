import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { databaseFolder } from '../../support/database-folder.ts'
import { makeDatabase } from '../../support/postgres.ts'
import type { TestServer } from '../../support/server.ts'
import { isOnNodes, startServer, type TestOptions } from '../../support/server.ts'

export type Cell = string | number | null
export type Row = Readonly<Record<string, Cell>>

/** An attacker who reads and writes the whole database, but does not have the secret key. */
export interface DatabaseWriter {
  /** Runs a statement without foreign key checks. */
  run(sql: string): Promise<readonly Row[]>
  /** The query that returns the columns of all tables: `table_name`, `name`, `type`. */
  readonly columnsQuery: string
  close(): Promise<void>
}

/** A server, and an attacker who can write to its database. */
export interface AttackedServer {
  readonly app: TestServer
  readonly db: DatabaseWriter
  close(): Promise<void>
}

export const storeNames = ['SQLite', 'PostgreSQL'] as const
export type StoreName = (typeof storeNames)[number]

/** Formats a value as an SQL literal. */
export const literal = (value: Cell): string => {
  if (value === null) return 'null'
  if (value === Number.POSITIVE_INFINITY) return '9e999'
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
}

const sqliteWriter = (file: string): DatabaseWriter => {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false, timeout: 5000 })
  return {
    columnsQuery: `select m.name as table_name, c.name, c.type from sqlite_master as m, pragma_table_info(m.name) as c
      where m.type = 'table' and m.name like 'oauth2server%'`,
    run: async (sql) => database.prepare(sql).all() as Row[],
    close: async () => database.close(),
  }
}

const postgresWriter = async (url: string): Promise<DatabaseWriter> => {
  // Parse int8 as numbers instead of text: all integers are less than 2^53.
  const types = {
    getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)),
  }
  const client = new pg.Client({ connectionString: url, types: types as never })
  await client.connect()
  await client.query("set session_replication_role = 'replica'")
  return {
    columnsQuery: `select table_name, column_name as name, data_type as type from information_schema.columns
      where table_schema = 'public' and table_name like 'oauth2server%'`,
    run: async (sql) => (await client.query(sql)).rows,
    close: () => client.end(),
  }
}

/** Starts a server with this type of database. */
export const startAttacked = async (
  name: StoreName,
  options: TestOptions = {},
): Promise<AttackedServer> => {
  if (name === 'SQLite') {
    // On nodes, a server without this option uses PostgreSQL.
    const folder = isOnNodes ? await databaseFolder() : undefined
    const file = folder && join(folder, 'attacked.sqlite')
    const app = await startServer({ ...(file && { store: sqlite(file) }), ...options })
    const db = sqliteWriter(file ?? app.database)
    const close = async () => {
      await db.close()
      await app.close()
      if (folder) await rm(folder, { recursive: true })
    }
    return { app, db, close }
  }
  const database = await makeDatabase()
  const app = await startServer({ store: postgres(database.url, { poolSize: 3 }), ...options })
  const db = await postgresWriter(database.url)
  const close = async () => {
    await db.close()
    await app.close()
    await database.drop()
  }
  return { app, db, close }
}
