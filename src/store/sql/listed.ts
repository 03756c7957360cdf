import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Cursor, List, Listed, Page } from '../contract/page.ts'
import { countRows, listOf } from './count.ts'
import { page, placeOf } from './page.ts'
import type { Tables } from './tables.ts'

type Query<Row> = SelectQueryBuilder<never, never, Row>

/** The queries of one list, and the conversions of their rows. */
export interface ListQueries<L extends List<unknown, unknown, unknown>> {
  rows(where: L['where']): Query<unknown>
  fromRow(row: never): L['item']
  /** Selects the rows of `rows` with the columns of the summaries, and without joins that no summary needs. */
  summaries(where: L['where']): Query<unknown>
  summaryFromRow(row: never): L['summary']
}

/** The column of the time or the numeric ID and, after a time, the column of the ID. */
type Order = readonly [at: string, id?: string]

/** Returns a function that reads a page of a query, the latest row first. */
export const pagesOf = (order: Order) => {
  const columns = order as readonly string[]
  const [at = '', id] = columns.map((column) => column.slice(column.lastIndexOf('.') + 1))
  return async (
    query: Query<unknown>,
    { after, limit }: Cursor,
    fromRow: (row: never) => unknown,
  ) => {
    const place = placeOf(after)?.slice(0, order.length)
    const rows = await columns
      .reduce((ordered, column) => ordered.orderBy(sql.ref(column), 'desc'), query)
      .$if(place !== undefined, (q) =>
        q.where(sql<boolean>`(${listOf(columns)}) < (${sql.join(place ?? [])})`),
      )
      .limit(limit + 1)
      .execute()
    return page(
      rows as readonly Readonly<Record<string, never>>[],
      limit,
      fromRow as never,
      (row) => [row[at] ?? 0, id === undefined ? '' : (row[id] ?? '')],
    ) as Page<never>
  }
}

/** The operations on lists, the latest row first. */
export const listed = <Lists extends object>(
  read: Kysely<Tables>,
  order: Order,
  lists: {
    readonly [Name in keyof Lists]: Lists[Name] extends List<unknown, unknown, unknown>
      ? ListQueries<Lists[Name]>
      : never
  },
): Listed<Lists> => {
  const readPage = pagesOf(order)
  return {
    list: (name, where, cursor) => readPage(lists[name].rows(where), cursor, lists[name].fromRow),
    summaries: (name, where, cursor) =>
      readPage(lists[name].summaries(where), cursor, lists[name].summaryFromRow),
    count: (name, where, max) =>
      countRows(
        read,
        lists[name].summaries(where).clearSelect().select(sql.lit(1).as('one')).limit(max),
      ),
  }
}
