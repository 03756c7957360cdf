import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { whenTablesAreFree } from '../postgres/migrate.ts'

/**
 * A migration whose slow work does not lock the tables. `up` adds columns and tables in one short transaction. `online`
 * runs after the commit, outside of a transaction, while nodes of the previous version handle requests.
 */
export interface OnlineMigration extends Migration {
  /**
   * Must be idempotent, because `online` runs again from the beginning after a crash or an error. The `up` of a later
   * migration must not depend on the result of `online`.
   */
  online?(db: Kysely<unknown>): Promise<void>
}

/** The maximum number of rows per statement, so that requests do not wait long for locked rows. */
const batchSize = 1_000

/**
 * Sets a column in the rows in which the column is null. Updates batches in the order of the primary key, each in a
 * separate transaction. After each batch, pauses for the duration of the batch, so that requests and replicas keep up.
 * Rows that the previous version inserts later remain null. Therefore, the column needs a default, or readers must
 * accept null.
 */
export const fillInBatches = async (
  db: Kysely<unknown>,
  {
    table,
    key = 'id',
    column,
    value,
  }: {
    readonly table: string
    /** The primary key: one column, a number or text. */
    readonly key?: string
    readonly column: string
    /** An expression over the columns of the row. The result must not be null. */
    readonly value: RawBuilder<unknown>
  },
): Promise<void> => {
  const id = sql.ref(key)
  let after: unknown = null
  for (;;) {
    const began = performance.now()
    const isRemaining: RawBuilder<boolean> = after === null ? sql`true` : sql`${id} > ${after}`
    const { rows } = await sql<{
      last: unknown
    }>`select max(${id}) as last from (select ${id} from ${sql.table(table)}
      where ${isRemaining} order by ${id} limit ${sql.lit(batchSize)}) as part`.execute(db)
    const last = rows[0]?.last ?? null
    if (last === null) return
    // Requests also lock rows. A batch that finds a locked row is rolled back and retried.
    await whenTablesAreFree(() =>
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value}
        where ${isRemaining} and ${id} <= ${last} and ${sql.ref(column)} is null`.execute(db),
    )
    after = last
    await delay(performance.now() - began)
  }
}

/** Drops an index if it exists. On PostgreSQL, does not block requests. */
export const dropIndexOnline = async (db: Kysely<unknown>, name: string): Promise<void> => {
  if (isPostgres(db))
    await withoutLockTimeout(db, () =>
      sql`drop index concurrently if exists ${sql.id(name)}`.execute(db),
    )
  else await sql`drop index if exists ${sql.id(name)}`.execute(db)
}

/**
 * Creates an index if it is missing. On PostgreSQL, does not block requests, and replaces an invalid index that a
 * failed attempt left behind.
 */
export const createIndexOnline = async (
  db: Kysely<unknown>,
  {
    name,
    table,
    columns,
  }: { readonly name: string; readonly table: string; readonly columns: readonly string[] },
): Promise<void> => {
  const target = sql`${sql.id(name)} on ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})`
  if (!isPostgres(db)) {
    await sql`create index if not exists ${target}`.execute(db)
    return
  }
  await withoutLockTimeout(db, async () => {
    const { rows } = await sql<{
      is_valid: boolean
    }>`select indisvalid as is_valid from pg_index where indexrelid = to_regclass(${name})`.execute(
      db,
    )
    if (rows[0]?.is_valid) return
    if (rows[0]) await sql`drop index concurrently ${sql.id(name)}`.execute(db)
    await sql`create index concurrently ${target}`.execute(db)
  })
}

const isPostgres = (db: Kysely<unknown>): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter

// A statement with `concurrently` waits for all open transactions, without blocking other statements. A timeout would
// leave an invalid index.
const withoutLockTimeout = async (
  db: Kysely<unknown>,
  work: () => Promise<unknown>,
): Promise<void> => {
  await sql`set lock_timeout = 0`.execute(db)
  try {
    await whenTablesAreFree(work)
  } finally {
    await sql`reset lock_timeout`.execute(db)
  }
}
