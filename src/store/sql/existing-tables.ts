import { type Kysely, PostgresAdapter, sql } from 'kysely'
import type { Tables } from './tables.ts'

const isPostgres = (db: Kysely<Tables>): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter

/**
 * Returns the PostgreSQL schema in which `create table` creates a table without a schema in its name. Returns null if no
 * schema of the search path exists, and undefined for SQLite.
 */
export const currentSchema = async (db: Kysely<Tables>): Promise<string | null | undefined> => {
  if (!isPostgres(db)) return undefined
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(db)
  return rows[0]?.name ?? null
}

/** Returns the names of the tables in the current schema. Other schemas may contain the tables of other servers. */
export const existingTables = async (db: Kysely<Tables>): Promise<readonly string[]> => {
  const schema = await currentSchema(db)
  const tables = await db.introspection.getTables()
  return tables
    .filter((table) => schema === undefined || table.schema === schema)
    .map(({ name }) => name)
}
