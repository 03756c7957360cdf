import type { Part } from '../store.ts'

/** The place of a row in a list that is ordered by time and then by id, latest first. */
export type Place = readonly [at: number, id: string]

const written = ([at, id]: Place): string => `${at}.${id}`

/** The place behind which a part begins; undefined for the first one, and for what no part gave. */
export const placeOf = (after: string | null): Place | undefined => {
  const [, at, id] = /^(\d{1,15})\.([A-Za-z0-9_-]{0,255})$/.exec(after ?? '') ?? []
  return at === undefined || id === undefined ? undefined : [Number(at), id]
}

/** One row more than the limit was read: it tells that there is a next part. */
export const part = <Row, T>(
  rows: readonly Row[],
  limit: number,
  fromRow: (row: Row) => T,
  place: (row: Row) => Place,
): Part<T> => {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(fromRow),
    next: rows.length > limit && last !== undefined ? written(place(last)) : null,
  }
}
