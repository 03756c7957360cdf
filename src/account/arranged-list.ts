import type { Parameters } from '../model/parameters.ts'
import type { ArrangedList, ListFilter, ListKind, ListOrder } from '../pages/parts/lists.ts'
import { inQuery, type Part } from '../protocol/openapi/schema.ts'
import type { Cursor, Page } from '../store/contract/page.ts'
import { pageSize } from './list-page.ts'
import { looksLikeSecret, searchedIn, searchText } from './search.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The size of a window: the number of entries that the server reads with one query, and searches and sorts in memory. */
const windowSize = 1_000
/**
 * The maximum number of windows that the server reads for one page if the earlier windows contain no match. This maximum
 * limits the response time for long lists.
 */
const maxReads = 10
/** The maximum number of windows whose start is in the URL, which limits the length of the URL. */
const maxWindows = 50

/** How users can search, sort and filter a list. */
export interface Arrangement<Entry> {
  readonly idOf: (entry: Entry) => string
  /** The name of the search field. Default: `q` */
  readonly searchField?: string
  /** Returns the texts of an entry that a search compares. Omitted if the store has already searched the entries. */
  readonly textsOf?: (entry: Entry) => readonly string[]
  /** For each order, a function that returns the sort key of an entry. The first order is the default. */
  readonly orders: Readonly<Partial<Record<ListOrder, (entry: Entry) => string | number>>>
  readonly filters: Readonly<Partial<Record<ListFilter, (entry: Entry) => boolean>>>
  readonly kinds?: Readonly<Partial<Record<ListKind, (entry: Entry) => boolean>>>
  readonly scopesOf?: (entry: Entry) => readonly string[]
}

/** Describes the parameters that search, sort and filter a list. */
export const arrangedQuery = <Entry>(
  { searchField = 'q', orders, filters, kinds, scopesOf }: Arrangement<Entry>,
  search = 'A part of the name.',
): readonly Part[] => {
  const choice = (name: string, description: string, choices: object): Part =>
    inQuery(name, description, { type: 'string', enum: Object.keys(choices) })
  return [
    inQuery(searchField, search),
    choice('sort', 'The order of the entries.', orders),
    choice('filter', 'Selects some of the entries.', filters),
    ...(kinds ? [choice('kind', 'The kind of the entries.', kinds)] : []),
    ...(scopesOf ? [inQuery('scope', 'A scope of the entries.')] : []),
    ...['from', 'after', 'before'].map((name) =>
      inQuery(name, 'The position of a page, from the URL in `next` or `previous`.'),
    ),
  ]
}

/** Reads a window of a list: the entries after a cursor. */
export type ReadWindow<Entry> = (cursor: Cursor) => Promise<Page<Entry>>

/**
 * Searches, sorts and filters the entries of a window, and selects the requested page. If a window contains no match,
 * continues with the next window, up to `maxReads` windows.
 */
export const arranged = async <Entry>(
  request: SettingsRequest,
  read: ReadWindow<Entry>,
  arrangement: Arrangement<Entry>,
): Promise<ArrangedList<Entry>> => {
  const windows = windowsIn(request)
  let { items, next } = await read({ after: windows.at(-1) ?? null, limit: windowSize })
  let list = arrangedWindow(request, { items, next }, arrangement)
  let searched = items.length
  for (let reads = 1; list.count === 0 && next !== null && reads < maxReads; reads += 1) {
    ;({ items, next } = await read({ after: next, limit: windowSize }))
    searched += items.length
    list = arrangedWindow(request, { items, next }, arrangement)
  }
  return { ...list, searched }
}

const arrangedWindow = <Entry>(
  request: SettingsRequest,
  { items, next }: Page<Entry>,
  arrangement: Arrangement<Entry>,
): ArrangedList<Entry> => {
  const { http, reader, server } = request
  const { idOf, searchField = 'q', textsOf, scopesOf } = arrangement
  const orders = Object.keys(arrangement.orders) as ListOrder[]
  const filters = Object.keys(arrangement.filters) as ListFilter[]
  const kinds = Object.keys(arrangement.kinds ?? {}) as ListKind[]
  const asked = (name: string): string => searchedIn(request, name)
  // Accept every registered scope, because the requested scope may occur only in another window.
  const scope = (scopesOf && server.scopes.visible([asked('scope')])[0]) ?? ''
  const foundScopes = items.flatMap((entry) => scopesOf?.(entry) ?? [])
  const sort = orders.find((order) => order === asked('sort')) ?? (orders[0] as ListOrder)
  const chosen: ArrangedList<Entry>['chosen'] = {
    q: asked(searchField).normalize('NFC'),
    sort,
    filter: filters.find((filter) => filter === asked('filter')) ?? '',
    kind: kinds.find((kind) => kind === asked('kind')) ?? '',
    scope,
  }
  const text = chosen.q.toLowerCase()
  const all = () => true
  const passes = arrangement.filters[chosen.filter as ListFilter] ?? all
  const isOfKind = arrangement.kinds?.[chosen.kind as ListKind] ?? all
  const keyOf = arrangement.orders[sort] ?? (() => 0)
  const compare = placesIn(reader.locale)
  const found = items
    .filter(
      (entry) =>
        passes(entry) &&
        isOfKind(entry) &&
        (chosen.scope === '' || scopesOf?.(entry).includes(chosen.scope)) &&
        (text === '' ||
          textsOf === undefined ||
          textsOf(entry).some((one) => one.toLowerCase().includes(text))),
    )
    .map((entry): Placed<Entry> => ({ entry, place: [keyOf(entry), idOf(entry)] }))
    .sort((a, b) => compare(a.place, b.place))
  const windows = windowsIn(request)
  const to = (windowsThen: readonly string[], anchor: Readonly<Record<string, string>>): string => {
    const { q, ...others } = chosen
    const query = new URLSearchParams(
      Object.entries({
        [searchField]: q,
        ...others,
        sort: sort === orders[0] ? '' : sort,
      }).filter(([, value]) => value !== ''),
    )
    for (const start of windowsThen) query.append('from', start)
    for (const [name, value] of Object.entries(anchor)) query.set(name, value)
    return query.size === 0 ? '' : `?${query}`
  }
  const { start, end } = slice(found, request, compare)
  const shown = found.slice(start, end)
  const link = (query: string): string => `${http.path}${query}`
  const [first] = shown
  const last = shown.at(-1)
  const following =
    end < found.length && last
      ? to(windows, { after: anchorOf(last.place) })
      : next !== null && to([...windows, next].slice(-maxWindows), {})
  const preceding =
    start > 0 && first
      ? to(windows, { before: anchorOf(first.place) })
      : windows.length > 0 && to(windows.slice(0, -1), { before: atEnd })
  const [after, before] = [anchorIn(request, 'after'), anchorIn(request, 'before')]
  return {
    items: shown.map(({ entry }) => entry),
    action: http.path,
    chosen,
    orders,
    filters,
    kinds,
    scopes: [...new Set(scope === '' ? foundScopes : [scope, ...foundScopes])].sort(),
    count: found.length,
    is_partial: next !== null || windows.length > 0,
    searched: items.length,
    previous: preceding === false ? null : link(preceding),
    next: following === false ? null : link(following),
    back: to(windows, { ...(after ? { after } : before ? { before } : {}) }),
  }
}

/** Returns the query of a list page from a form field, without the parameters that list pages do not read. */
export const backIn = (query: string | undefined): string => {
  const kept = [...new URLSearchParams(query ?? '')].filter(([name]) => parameters.includes(name))
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`
}

/** Returns the sort order and the filters that the form of a list contains. Omits the search text. */
export const choicesIn = (params: Parameters): URLSearchParams => {
  const choices = choiceNames.map((name) => [name, searchText(params.repeated(name)[0])] as const)
  return new URLSearchParams(
    choices.filter(([, text]) => text !== '' && !looksLikeSecret(text)).map(([...pair]) => pair),
  )
}

const choiceNames = ['sort', 'filter', 'kind', 'scope']
const parameters = ['q', 'client', 'token', ...choiceNames, 'from', 'after', 'before']

/** The position of an entry: its sort key, and its ID for entries with the same key. */
type Place = readonly [key: string | number, id: string]

interface Placed<Entry> {
  readonly entry: Entry
  readonly place: Place
}

type ComparePlaces = (a: Place, b: Place) => number

const placesIn = (locale: string): ComparePlaces => {
  const { compare } = new Intl.Collator(locale, { numeric: true })
  const compareKeys = (a: string | number, b: string | number): number =>
    typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b))
  return ([a, id], [b, other]) =>
    compareKeys(a, b) || compare(id, other) || (id < other ? -1 : +(id > other))
}

/** The anchor after the last entry of a window. */
const atEnd = 'end'

// An anchor contains the sort key and the ID of an entry instead of its index, so that deleted entries do not move the
// following pages.
const anchorOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

const placeOf = (anchor: string): Place | undefined => {
  try {
    const place: unknown = JSON.parse(Buffer.from(anchor, 'base64url').toString())
    if (!Array.isArray(place) || place.length !== 2) return undefined
    const [key, id] = place as unknown[]
    const isKey = typeof key === 'string' || typeof key === 'number'
    return isKey && typeof id === 'string' ? [key, id] : undefined
  } catch {
    return undefined
  }
}

const slice = <Entry>(
  found: readonly Placed<Entry>[],
  request: SettingsRequest,
  compare: ComparePlaces,
): { readonly start: number; readonly end: number } => {
  const firstWhere = (isReached: (place: Place) => boolean): number => {
    const index = found.findIndex(({ place }) => isReached(place))
    return index === -1 ? found.length : index
  }
  const after = placeOf(anchorIn(request, 'after'))
  const before = anchorIn(request, 'before')
  const upTo = placeOf(before)
  if (after) {
    const start = firstWhere((place) => compare(place, after) > 0)
    // Show the last page if every entry after the anchor was deleted.
    if (start < found.length) return { start, end: start + pageSize }
    return { start: Math.max(0, found.length - pageSize), end: found.length }
  }
  if (!upTo && before !== atEnd) return { start: 0, end: pageSize }
  const end = upTo ? firstWhere((place) => compare(place, upTo) >= 0) : found.length
  const start = Math.max(0, end - pageSize)
  return { start, end: Math.max(end, start === 0 ? pageSize : end) }
}

const anchorIn = ({ http }: SettingsRequest, name: 'after' | 'before'): string =>
  http.queryParameters().repeated(name)[0] ?? ''

// Returns the start of each window up to the current window. The links to the previous windows need these starts.
const windowsIn = ({ http }: SettingsRequest): readonly string[] =>
  http.queryParameters().repeated('from').slice(-maxWindows)
