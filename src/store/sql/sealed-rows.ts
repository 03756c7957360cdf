import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Sealed } from '../../crypto/sealed.ts'
import type { ResealedRow, RowKey, SealedRow, SealedRows } from '../contract/sealed.ts'
import { listOf } from './count.ts'
import type { Handle } from './handle.ts'
import type { Tables } from './tables.ts'

/** A table with sealed values, and the conversion of its rows. */
export interface SealedTable {
  readonly table: string
  /** The columns of the primary key. */
  readonly key: readonly string[]
  readonly seals: readonly { readonly column: string }[]
  /** Values of other tables that the seal covers. */
  readonly joinedValues?: RawBuilder<unknown>
  fromRow(row: never): object
}

type TableRow = Readonly<Record<string, Sealed | string | number | null>>

/** The maximum number of rows that one statement writes. */
const maxPerStatement = 50

const either = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql`(${sql.join(conditions, sql` or `)})`

/** Reads and writes the sealed rows of a table. Every statement reads a bounded number of rows. */
export const sealedRows = (
  { read, write, transact, locking, inTransaction }: Handle,
  { table, key, seals, joinedValues, fromRow }: SealedTable,
): SealedRows => {
  const columns = seals.map(({ column }) => column)
  const from = sql.table(table)
  const keyColumns = sql`(${listOf(key)})`
  const isKey = (rowKey: RowKey) => sql`${keyColumns} = (${sql.join(rowKey)})`
  const keyOf = (row: TableRow): RowKey => key.map((name) => row[name] as string | number)
  const ordered = (direction: 'asc' | 'desc') =>
    sql.join(key.map((name) => sql`${sql.ref(name)} ${sql.raw(direction)}`))

  // Not every database supports `in` with a list of tuples.
  const isAmong = (rows: readonly ResealedRow[]) =>
    key.length === 1
      ? sql`${keyColumns} in (${sql.join(rows.map(({ before }) => before.key[0]))})`
      : either(rows.map(({ before }) => isKey(before.key)))

  const isAsRead = ({ before }: ResealedRow) => {
    const same = columns.map((name, at) => {
      const value = before.sealed[at]
      return value === null ? sql`${sql.ref(name)} is null` : sql`${sql.ref(name)} = ${value}`
    })
    return sql`(${isKey(before.key)} and ${sql.join(same, sql` and `)})`
  }

  // Update many rows in one statement, because round trips cost more than the updates.
  const reseal = async (db: Kysely<Tables>, rows: readonly ResealedRow[]): Promise<number> => {
    const set = columns.map((name, at) => {
      const values = rows.map(
        ({ before, sealed }) => sql`when ${isKey(before.key)} then ${sealed[at]}`,
      )
      return sql`${sql.ref(name)} = case ${sql.join(values, sql` `)} end`
    })
    const { numAffectedRows = 0n } =
      await sql`update ${from} set ${sql.join(set)} where ${isAmong(rows)} and ${either(rows.map(isAsRead))}`.execute(
        db,
      )
    return Number(numAffectedRows)
  }

  // Locks the rows and returns them, without rows that are already locked. Waiting for these rows could cause a
  // deadlock, and PostgreSQL might then cancel a request.
  const locked = async (
    db: Kysely<Tables>,
    rows: readonly ResealedRow[],
  ): Promise<readonly ResealedRow[]> => {
    const lockedRows =
      await sql<TableRow>`select ${listOf(key)} from ${from} where ${isAmong(rows)} for no key update skip locked`.execute(
        db,
      )
    const lockedKeys = new Set(lockedRows.rows.map((row) => keyOf(row).join(' ')))
    return rows.filter(({ before }) => lockedKeys.has(before.key.join(' ')))
  }

  return {
    table,

    async notUnder(keyId, after, limit) {
      const below = after ? sql`${keyColumns} < (${sql.join(after)})` : sql`1 = 1`
      // First find the last key of the page with a query that reads only keys. The second query is then bounded, even
      // if few rows match.
      const ends =
        await sql<TableRow>`select ${listOf(key)} from ${from} where ${below} order by ${ordered('desc')} limit 1 offset ${limit - 1}`.execute(
          read,
        )
      const [end] = ends.rows
      const next = end ? keyOf(end) : null
      const within = next ? sql`${below} and ${keyColumns} >= (${sql.join(next)})` : below
      const isNotUnder = columns.map((name) => sql`${sql.ref(name)} not like ${`${keyId}.%`}`)
      const { rows } =
        await sql<TableRow>`select ${from}.*${joinedValues ? sql`, ${joinedValues}` : sql``} from ${from} where ${within} and ${either(isNotUnder)}`.execute(
          read,
        )
      return {
        rows: rows.map(
          (row): SealedRow => ({
            key: keyOf(row),
            sealed: columns.map((name) => row[name] as Sealed | null),
            row: fromRow(row as never),
          }),
        ),
        next,
      }
    },

    async reseal(rows) {
      const resealAll = async (db: Kysely<Tables>): Promise<number> => {
        const writable = locking ? await locked(db, rows) : rows
        let written = 0
        for (let done = 0; done < writable.length; done += maxPerStatement)
          written += await reseal(db, writable.slice(done, done + maxPerStatement))
        return written
      }
      return inTransaction ? resealAll(write) : transact(resealAll)
    },

    async countUnder(keyId, limit) {
      const isUnder = columns.map((name) => sql`${sql.ref(name)} like ${`${keyId}.%`}`)
      const { rows } = await sql<{
        readonly seen: number
        readonly found: number
      }>`select count(*) as seen, count(case when ${either(isUnder)} then 1 end) as found from (select ${listOf(columns)} from ${from} order by ${ordered('asc')} limit ${limit}) as first_rows`.execute(
        read,
      )
      const [{ seen, found } = { seen: 0, found: 0 }] = rows
      return { rows: Number(found), isAll: Number(seen) < limit }
    },
  }
}
