import type { Messages } from '../messages/en.ts'

/** The name of an order of a list. */
export type ListOrder = keyof Messages['list']['orders']

/** The name of a filter of a list. */
export type ListFilter = keyof Messages['list']['filters']

/** The name of a kind of entries of a list. */
export type ListKind = keyof Messages['list']['kinds']

/** A list that users search, sort and filter, with the URLs of its other pages. */
export interface ArrangedList<T> {
  readonly items: readonly T[]
  /**
   * The URL of the page without a query. A GET with `q`, `sort`, `filter`, `kind` and `scope` arranges the list. A list
   * of administrators has another name than `q`, and its search form is sent by POST.
   */
  readonly action: string
  /** What the user chose. Each part except the order may be empty. */
  readonly chosen: {
    readonly q: string
    readonly sort: ListOrder
    readonly filter: ListFilter | ''
    readonly kind: ListKind | ''
    readonly scope: string
  }
  readonly orders: readonly ListOrder[]
  readonly filters: readonly ListFilter[]
  /** The kinds of the entries, of which users can choose one; empty if all entries are of one kind. */
  readonly kinds: readonly ListKind[]
  /** The scopes of the entries, of which users can choose one. */
  readonly scopes: readonly string[]
  /** The number of entries that the search and the filters found. */
  readonly found: number
  /** The number of entries in which the server searched, counted up to 1,000. */
  readonly searched: number
  /** Whether the list has further entries, which the server neither searched nor sorted for this page. */
  readonly hasMore: boolean
  readonly previous: string | null
  readonly next: string | null
  /** The query of this page. A form of the list sends it as `back`, so that the user returns to this page. */
  readonly back: string
}
