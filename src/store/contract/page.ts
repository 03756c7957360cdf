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

/** A list with its conditions, the items that it contains, and their summaries. */
export interface List<Where, Item, Summary> {
  readonly where: Where
  readonly item: Item
  readonly summary: Summary
}

/**
 * Lists of one kind of row, the latest first unless a list has another order. Summaries have the fields by which users search, filter and sort: an HTML
 * page reads many summaries, and shows few rows.
 * @template Lists the lists by their names
 */
export interface Listed<Lists> {
  list<Name extends keyof Lists>(
    name: Name,
    where: ConditionsOf<Lists[Name]>,
    cursor: Cursor,
  ): Promise<Page<ItemOf<Lists[Name]>>>
  /** Lists the summaries of the rows that `list` lists, in the same order. */
  summaries<Name extends keyof Lists>(
    name: Name,
    where: ConditionsOf<Lists[Name]>,
    cursor: Cursor,
  ): Promise<Page<SummaryOf<Lists[Name]>>>
  /** Counts, up to `max`, the rows that `list` lists. */
  count<Name extends keyof Lists>(
    name: Name,
    where: ConditionsOf<Lists[Name]>,
    max: number,
  ): Promise<number>
}
type ConditionsOf<L> = L extends List<infer Where, unknown, unknown> ? Where : never
type ItemOf<L> = L extends List<unknown, infer Item, unknown> ? Item : never
type SummaryOf<L> = L extends List<unknown, unknown, infer Summary> ? Summary : never
