import type { Page } from '../contract/page.ts'

/** The place of a row in a list that is ordered by time and then by id, latest first. */
export type Place = readonly [at: number, id: string]

const written = ([at, id]: Place): string => `${at}.${id}`

/** The row after which the page begins; undefined for the first page and for an unknown cursor. */
export const placeOf = (after: string | null): Place | undefined => {
  const [, at, id] = /^(\d{1,15})\.([A-Za-z0-9_-]{0,255})$/.exec(after ?? '') ?? []
  return at === undefined || id === undefined ? undefined : [Number(at), id]
}

/** Makes a page. The query reads one row more than the limit, which shows whether there is a next page. */
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
    next: rows.length > limit && last !== undefined ? written(place(last)) : null,
  }
}
