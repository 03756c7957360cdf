import type { Listed } from '../pages/parts/lists.ts'
import type { Cursor, Page } from '../store/contract/page.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The maximum number of items on a page of a list. */
export const pageSize = 25

/** Reads the cursor of a list from the query parameter with this name. */
export const cursorOf = ({ http }: SettingsRequest, name: string): Cursor => ({
  after: http.queryParameters().repeated(name)[0] ?? null,
  limit: pageSize,
})

/** Converts a page for display, and adds the URLs of the next page and the first page. */
export const listed = <T, I>(
  { http }: SettingsRequest,
  name: string,
  { items, next }: Page<T>,
  toItem: (item: T) => I,
): Listed<I> => {
  const params = new URLSearchParams(http.query)
  // Do not copy an access token from the query into the links.
  params.delete('access_token')
  const hasCursor = params.has(name)
  const to = (after: string | null): string => {
    if (after === null) params.delete(name)
    else params.set(name, after)
    return params.size === 0 ? http.path : `${http.path}?${params}`
  }
  return {
    items: items.map(toItem),
    next: next === null ? null : to(next),
    first: hasCursor ? to(null) : null,
  }
}
