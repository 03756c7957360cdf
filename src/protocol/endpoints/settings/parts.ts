import type { Listed } from '../../../pages/models/applications.ts'
import type { Part, PartOf } from '../../../store/store.ts'
import type { Visit } from './visit.ts'

/** Items of a list on one page. */
const pageSize = 25

/** Which part of a list the address asks for, by a query parameter of the list's own. */
export const partOf = ({ http }: Visit, name: string): PartOf => ({
  after: http.queryParameters().repeated(name)[0] ?? null,
  limit: pageSize,
})

/** A part of a list with the addresses of the next part and of the first one. */
export const listed = <T, I>(
  { http }: Visit,
  name: string,
  { items, next }: Part<T>,
  toItem: (item: T) => I,
): Listed<I> => {
  const params = new URLSearchParams(http.query)
  // A token that somebody put there is not written into another address.
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
