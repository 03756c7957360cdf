/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** A request for a page with at most `limit` items. */
export interface Cursor {
  /** The `next` of the previous page; null for the first page. Most lists treat an invalid cursor like null. */
  readonly after: string | null
  readonly limit: number
}
