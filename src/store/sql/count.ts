import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Counts the rows of a query, which must have a limit. */
export const countRows = async (
  read: Kysely<Tables>,
  rows: Expression<unknown>,
): Promise<number> => {
  const counted = await sql<{
    count: number
  }>`select count(*) as count from (${rows}) as limited`.execute(read)
  return Number(counted.rows[0]?.count)
}

/** Runs a statement, and returns the number of rows that it has changed. */
export const changedRows = async (
  db: Kysely<Tables>,
  statement: RawBuilder<unknown>,
): Promise<number> => Number((await statement.execute(db)).numAffectedRows ?? 0)

/** Lists columns in a statement. */
export const listOf = (names: readonly string[]): RawBuilder<unknown> =>
  sql.join(names.map((name) => sql.ref(name)))

/** Deletes at most `limit` of the selected rows, in an order that an index must have. @returns their number */
export const deleteSome = (
  db: Kysely<Tables>,
  { table, key }: { readonly table: string; readonly key: readonly string[] },
  where: RawBuilder<unknown>,
  limit: number,
  order: RawBuilder<unknown> = sql``,
): Promise<number> =>
  changedRows(
    db,
    sql`delete from ${sql.table(table)} where (${listOf(key)}) in (select ${listOf(key)} from ${sql.table(table)} where ${where} ${order} limit ${limit})`,
  )
