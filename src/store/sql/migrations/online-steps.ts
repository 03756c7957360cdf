import { type Kysely, sql } from 'kysely'
import { existingTables } from '../existing-tables.ts'
import type { Tables } from '../tables.ts'
import type { OnlineMigration } from './online.ts'

type Migrations = Readonly<Record<string, OnlineMigration>>

const table = 'oauth2server_migration_online'

/** Returns the names of the migrations up to `to` whose online steps have not completed in this database. */
export const pendingOnline = async (
  db: Kysely<Tables>,
  migrations: Migrations,
  to: string | undefined,
): Promise<readonly string[]> => {
  const names = Object.keys(migrations).filter(
    (name) => migrations[name]?.online && (to === undefined || name <= to),
  )
  if (names.length === 0 || !(await hasTable(db))) return names
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db)
  return names.filter((name) => !rows.some((row) => row.name === name))
}

/**
 * Runs the pending online steps, and records each migration when its steps are complete. On PostgreSQL, one node runs
 * the steps under the migration lock. On SQLite, several processes may run the steps concurrently, because the steps
 * are idempotent.
 * @returns the names of the migrations that this call completed
 */
export const runOnline = (
  db: Kysely<Tables>,
  migrations: Migrations,
  to: string | undefined,
): Promise<readonly string[]> =>
  db.connection().execute(async (connection) => {
    const { adapter } = connection.getExecutor()
    const lock = { lockTable: `${table}_lock`, lockRowId: 'migration_lock' }
    await adapter.acquireMigrationLock(connection, lock)
    try {
      const pending = await pendingOnline(connection, migrations, to)
      if (pending.length > 0)
        await sql`create table if not exists ${sql.table(table)} (name text primary key not null)`.execute(
          connection,
        )
      const completed: string[] = []
      for (const name of pending) {
        await migrations[name]?.online?.(connection as unknown as Kysely<unknown>)
        const { numAffectedRows } =
          await sql`insert into ${sql.table(table)} (name) values (${name}) on conflict do nothing`.execute(
            connection,
          )
        if (numAffectedRows) completed.push(name)
      }
      return completed
    } finally {
      await adapter.releaseMigrationLock(connection, lock)
    }
  })

/** Deletes the records of online steps before migrations are reverted, so that a later `up` runs the steps again. */
export const forgetOnlineAfter = async (db: Kysely<Tables>, to: string): Promise<void> => {
  if (await hasTable(db)) await sql`delete from ${sql.table(table)} where name > ${to}`.execute(db)
}

const hasTable = async (db: Kysely<Tables>): Promise<boolean> =>
  (await existingTables(db)).includes(table)
