/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** A request for a page: at most `limit` items after the position `after`, the `next` of the previous page. */
export interface Cursor {
  /** For null and for an invalid cursor, the page begins with the first item. */
  readonly after: string | null
  readonly limit: number
}
