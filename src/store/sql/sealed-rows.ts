import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Sealed } from '../../crypto/sealed.ts'
import type { ResealedRow, RowKey, SealedRow, SealedRows } from '../contract/sealed.ts'
import type { Handle } from './handle.ts'
import type { Tables } from './tables.ts'

/** A table with sealed values, and how one of its rows is read. */
export interface SealedTable<TableRow, Row> {
  readonly table: keyof Tables
  /** The columns of the primary key. */
  readonly key: readonly (keyof TableRow & string)[]
  /** The columns that are sealed. */
  readonly columns: readonly (keyof TableRow & string)[]
  /** What a seal claims beside the columns of its own row. */
  readonly beside?: RawBuilder<unknown>
  fromRow(row: TableRow): Row
}

/** Rows that one statement writes. */
const atOnce = 50

const refs = (names: readonly string[]): RawBuilder<unknown> =>
  sql.join(names.map((name) => sql.ref(name)))

const either = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql`(${sql.join(conditions, sql` or `)})`

/** The sealed rows of any table. Every statement looks at a bounded number of rows. */
export const sealedRows = <TableRow, Row>(
  { read, write, transact, locking, inTransaction }: Handle,
  { table, key, columns, beside, fromRow }: SealedTable<TableRow, Row>,
): SealedRows<Row> => {
  const from = sql.table(table)
  const keyColumns = sql`(${refs(key)})`
  const isKey = (of: RowKey) => sql`${keyColumns} = (${sql.join(of)})`
  const keyOf = (row: TableRow): RowKey => key.map((name) => row[name] as string | number)
  const ordered = (direction: 'asc' | 'desc') =>
    sql.join(key.map((name) => sql`${sql.ref(name)} ${sql.raw(direction)}`))

  // A list of pairs is not understood everywhere.
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

  // One statement for many rows: the way to the database and back costs more than what it does.
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

  // Never wait for a lock while holding others: a deadlock would also cancel a request.
  const locked = async (
    db: Kysely<Tables>,
    rows: readonly ResealedRow[],
  ): Promise<readonly ResealedRow[]> => {
    const had =
      await sql<TableRow>`select ${refs(key)} from ${from} where ${isAmong(rows)} for no key update skip locked`.execute(
        db,
      )
    const names = new Set(had.rows.map((row) => keyOf(row).join(' ')))
    return rows.filter(({ before }) => names.has(before.key.join(' ')))
  }

  return {
    table,

    async notUnder(keyId, after, limit) {
      const below = after ? sql`${keyColumns} < (${sql.join(after)})` : sql`1 = 1`
      // First where the part ends: of the table's own rows only the key is read for it.
      const ends =
        await sql<TableRow>`select ${refs(key)} from ${from} where ${below} order by ${ordered('desc')} limit 1 offset ${limit - 1}`.execute(
          read,
        )
      const [end] = ends.rows
      const next = end ? keyOf(end) : null
      const within = next ? sql`${below} and ${keyColumns} >= (${sql.join(next)})` : below
      const isNotUnder = columns.map((name) => sql`${sql.ref(name)} not like ${`${keyId}.%`}`)
      const { rows } =
        await sql<TableRow>`select ${from}.*${beside ? sql`, ${beside}` : sql``} from ${from} where ${within} and ${either(isNotUnder)}`.execute(
          read,
        )
      return {
        rows: rows.map(
          (row): SealedRow<Row> => ({
            key: keyOf(row),
            sealed: columns.map((name) => row[name] as Sealed | null),
            row: fromRow(row),
          }),
        ),
        next,
      }
    },

    async reseal(rows) {
      const resealAll = async (db: Kysely<Tables>): Promise<number> => {
        const ours = locking ? await locked(db, rows) : rows
        let written = 0
        for (let done = 0; done < ours.length; done += atOnce)
          written += await reseal(db, ours.slice(done, done + atOnce))
        return written
      }
      return inTransaction ? resealAll(write) : transact(resealAll)
    },

    async countUnder(keyId, limit) {
      const isUnder = columns.map((name) => sql`${sql.ref(name)} like ${`${keyId}.%`}`)
      const { rows } = await sql<{
        readonly seen: number
        readonly found: number
      }>`select count(*) as seen, count(case when ${either(isUnder)} then 1 end) as found from (select ${refs(columns)} from ${from} order by ${ordered('asc')} limit ${limit}) as first_rows`.execute(
        read,
      )
      const [{ seen, found } = { seen: 0, found: 0 }] = rows
      return { rows: Number(found), isAll: Number(seen) < limit }
    },
  }
}
