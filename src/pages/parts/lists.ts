import type { Messages } from '../messages/en.ts'
import type { arrangement } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'

/** A page of a list. */
export interface Listed<T> {
  readonly items: readonly T[]
  /** The URL of the next page; null on the last page. */
  readonly next: string | null
  /** The URL of the first page; null on the first page. */
  readonly first: string | null
}

/** The name of an order of a list. */
export type ListOrder = keyof Messages['list']['orders']

/** The name of a filter of a list. */
export type ListFilter = keyof Messages['list']['filters']

/** The name of a kind of entries in a list. */
export type ListKind = keyof Messages['list']['kinds']

/** How a user can search, sort and filter a list, and what the user chose. Only pages show these values. */
export interface ListChoices {
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
  /** The number of entries that the server examined to find those of this page. */
  readonly searched: number
  /** The query of this page. Forms of the list send this query as `back`, so that the user returns to this page. */
  readonly back: string
}

/** A list that users search, sort and filter, with the URLs of its other pages. */
export type Arranged = Json<typeof arrangement> & ListChoices

/** One page of a list that users search, sort and filter. */
export type ArrangedList<T> = Arranged & { readonly items: readonly T[] }
