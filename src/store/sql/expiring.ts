import { type RawBuilder, sql } from 'kysely'
import type { Expiring } from '../contract/expiring.ts'
import { changedRows, countRows, listOf } from './count.ts'
import type { Handle } from './handle.ts'

/** An entity whose rows expire. */
interface ExpiringTable {
  readonly table: string
  readonly key: readonly string[]
  /** The column that decides when a row expires. An index must have the order of this column. */
  readonly end: string
  /** Selects the rows that expire; by default all. */
  readonly where?: RawBuilder<boolean>
}

/** Selects columns of at most `limit` rows that expired up to `end`, the earliest first. */
export const expiredRows = (
  { table, key, end, where = sql`1 = 1` }: ExpiringTable,
  at: number,
  limit: number,
  columns: readonly string[] = key,
): RawBuilder<unknown> =>
  sql`select ${listOf(columns)} from ${sql.table(table)} where ${where} and ${sql.ref(end)} <= ${at} order by ${sql.ref(end)} limit ${limit}`

/** Deletes and counts the expired rows of a table. Each statement is bounded, and reads an index. */
export const expiring = ({ read, purge }: Handle, expired: ExpiringTable): Expiring => {
  const { table, key, end } = expired
  return {
    deleteExpired: (at, limit) =>
      // Check the end again, because a request may have extended it while this statement waited for the lock.
      changedRows(
        purge,
        sql`delete from ${sql.table(table)} where (${listOf(key)}) in (${expiredRows(expired, at, limit)}) and ${sql.ref(end)} <= ${at}`,
      ),
    countExpired: (at, max) => countRows(read, expiredRows(expired, at, max)),
  }
}
