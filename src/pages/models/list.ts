import type { Messages } from '../messages/en.ts'

/** The name of an order of a list. */
export type ListOrder = keyof Messages['list']['orders']

/** The name of a filter of a list. */
export type ListFilter = keyof Messages['list']['filters']

/** The name of a kind of entries in a list. */
export type ListKind = keyof Messages['list']['kinds']

/** A list that users search, sort and filter, with the URLs of its other pages. */
export interface ArrangedList<T> {
  readonly items: readonly T[]
  /**
   * The URL of the page without a query. A GET with `q`, `sort`, `filter`, `kind` and `scope` arranges the list. In the
   * administration, the search field is `client` or `token` instead of `q`, and the form is sent by POST.
   */
  readonly action: string
  /** The search, order and filters that the user chose. All values except the order may be empty. */
  readonly chosen: {
    readonly q: string
    readonly sort: ListOrder
    readonly filter: ListFilter | ''
    readonly kind: ListKind | ''
    readonly scope: string
  }
  readonly orders: readonly ListOrder[]
  readonly filters: readonly ListFilter[]
  /** The kinds by which users can filter the list; empty if all entries are of one kind. */
  readonly kinds: readonly ListKind[]
  /** The scopes by which users can filter the list. */
  readonly scopes: readonly string[]
  /** The number of entries that the search and the filters found. */
  readonly found: number
  /** The number of entries that the server examined to find those of this page. */
  readonly searched: number
  /** Whether the list has other entries, which the server did not examine for this page. */
  readonly hasMore: boolean
  readonly previous: string | null
  readonly next: string | null
  /** The query of this page. Forms of the list send this query as `back`, so that the user returns to this page. */
  readonly back: string
}
