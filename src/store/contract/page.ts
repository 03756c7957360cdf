/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** The position and size of a requested page: at most `limit` items after `after`, the `next` of an earlier page. */
export interface Cursor {
  /** The list starts at the beginning for null and for an invalid cursor. */
  readonly after: string | null
  readonly limit: number
}
