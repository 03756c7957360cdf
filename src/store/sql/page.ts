import type { Page } from '../contract/page.ts'

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
