/** A page of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null: this is the last page. */
  readonly next: string | null
}

/** Asks for one page of a list: at most `limit` items after `after`, the `next` of an earlier page. */
export interface Cursor {
  /** Null: from the beginning. An unknown cursor starts there too. */
  readonly after: string | null
  readonly limit: number
}
