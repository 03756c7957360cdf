import { type SelectQueryBuilder, sql } from 'kysely'
import type { Cursor, Page } from '../contract/page.ts'
import { listOf } from './count.ts'

/**
 * The position of a row in a list that is ordered by time and ID. In a list that is ordered by a numeric ID, `at` is
 * this ID, and `id` is empty.
 */
export type Place = readonly [at: number, id: string]

const cursorOf = ([at, id]: Place): string => `${at}.${id}`

/** Returns the position of the last row before the page; undefined for the first page and for an invalid cursor. */
export const placeOf = (after: string | null): Place | undefined => {
  // The ID of a client with a metadata document is a URL.
  const [, at, id] =
    /^(\d{1,15})\.([A-Za-z0-9_-]{0,255}|https?:\/\/[!-~]{1,2048})$/.exec(after ?? '') ?? []
  return at === undefined || id === undefined ? undefined : [Number(at), id]
}

/** Builds a page from at most `limit + 1` rows. The additional row shows that a next page exists. */
export const page = <Row, T>(
  rows: readonly Row[],
  limit: number,
  fromRow: (row: Row) => T,
  place: (row: Row) => Place,
): Page<T> => {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(fromRow),
    next: rows.length > limit && last !== undefined ? cursorOf(place(last)) : null,
  }
}

/**
 * Reads a page of a query, the latest row first.
 * @param order the column of the time or the numeric ID and, after a time, the column of the ID
 */
export const readPage = async <DB, TB extends keyof DB, Row, T>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { after, limit }: Cursor,
  order: readonly [at: string, id?: string],
  fromRow: (row: Row) => T,
): Promise<Page<T>> => {
  const place = placeOf(after)?.slice(0, order.length)
  const rows = await order
    .reduce((ordered, column) => ordered.orderBy(sql.ref(column ?? ''), 'desc'), query)
    .$if(place !== undefined, (q) =>
      q.where(sql<boolean>`(${listOf(order as never)}) < (${sql.join(place ?? [])})`),
    )
    .limit(limit + 1)
    .execute()
  const cell = (row: Row, column = '') =>
    Reflect.get(row as object, column.slice(column.lastIndexOf('.') + 1))
  return page(rows as readonly Row[], limit, fromRow, (row) => [
    cell(row, order[0]),
    order[1] === undefined ? '' : cell(row, order[1]),
  ])
}
