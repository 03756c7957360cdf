/** A page of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** Asks for one page of a list: at most `limit` items after `after`, the `next` of an earlier page. */
export interface Cursor {
  /** Null starts at the beginning, and so does an invalid cursor. */
  readonly after: string | null
  readonly limit: number
}
