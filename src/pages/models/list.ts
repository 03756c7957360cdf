import type { Messages } from '../messages/en.ts'

/** The name of an order of a list. */
export type ListOrder = keyof Messages['list']['orders']

/** The name of a filter of a list. */
export type ListFilter = keyof Messages['list']['filters']

/** A list that users search, sort and filter, with the URLs of its other pages. */
export interface ArrangedList<T> {
  readonly items: readonly T[]
  /** The URL of the page without a query. A GET with `q`, `sort`, `filter` and `scope` arranges the list. */
  readonly action: string
  /** The search, the order, the filter and the scope that the user chose; empty without a search, filter or scope. */
  readonly chosen: {
    readonly q: string
    readonly sort: ListOrder
    readonly filter: ListFilter | ''
    readonly scope: string
  }
  readonly orders: readonly ListOrder[]
  readonly filters: readonly ListFilter[]
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
