import type { Page } from '../contract/page.ts'

/** The position of a row in a list that is ordered by time and ID, latest first. */
export type Place = readonly [at: number, id: string]

const cursorOf = ([at, id]: Place): string => `${at}.${id}`

/** Returns the position of the row before the page; undefined for the first page and for an invalid cursor. */
export const placeOf = (after: string | null): Place | undefined => {
  // The ID of a client may be a URL.
  const [, at, id] =
    /^(\d{1,15})\.([A-Za-z0-9_-]{0,255}|https?:\/\/[!-~]{1,2048})$/.exec(after ?? '') ?? []
  return at === undefined || id === undefined ? undefined : [Number(at), id]
}

/** Builds a page. The query reads one row more than the limit, which shows whether there is a next page. */
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
