import type { Listed } from '../../../pages/models/applications.ts'
import type { Cursor, Page } from '../../../store/contract/page.ts'
import type { SettingsRequest } from './settings-request.ts'

/** Items of a list on one page. */
const pageSize = 25

/** Reads the cursor of a list from its own query parameter. */
export const cursorOf = ({ http }: SettingsRequest, name: string): Cursor => ({
  after: http.queryParameters().repeated(name)[0] ?? null,
  limit: pageSize,
})

/** Converts a page for display, with the addresses of the next page and of the first one. */
export const listed = <T, I>(
  { http }: SettingsRequest,
  name: string,
  { items, next }: Page<T>,
  toItem: (item: T) => I,
): Listed<I> => {
  const params = new URLSearchParams(http.query)
  // Do not copy a token in the query into another URL.
  params.delete('access_token')
  const begins = params.has(name)
  const to = (after: string | null): string => {
    if (after === null) params.delete(name)
    else params.set(name, after)
    return params.size === 0 ? http.path : `${http.path}?${params}`
  }
  return {
    items: items.map(toItem),
    next: next === null ? null : to(next),
    first: begins ? to(null) : null,
  }
}
