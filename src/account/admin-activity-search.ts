import { inQuery } from '../protocol/openapi/schema.ts'
import type { ActivitySearch } from '../records/audit/activity.ts'
import { activityQuery, conditionOf, periodIn, tokenIn } from './activity-search.ts'
import { searchedIn } from './search.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The fields with which administrators search the audit log. */
export const adminSearchFields = [
  'event',
  'user',
  'client',
  'token',
  'address',
  'since',
  'until',
] as const

/** The search of administrators, for the OpenAPI document. */
export const adminActivityQuery = [
  inQuery('event', 'The name of an event, such as login.failed.'),
  inQuery('user', 'The ID or e-mail address of the affected user.'),
  inQuery('client', 'The ID of the affected client.'),
  inQuery('address', 'The IP address of the request.'),
  ...activityQuery,
]

/** A search of the audit log: the texts of the fields, and the condition. */
export interface AdminSearch {
  readonly search: Readonly<Record<(typeof adminSearchFields)[number], string>>
  readonly filter: ActivitySearch
}

/** Reads a search of the audit log from the query. */
export const adminSearchIn = (request: SettingsRequest): AdminSearch => {
  const search = {
    event: searchedIn(request, 'event'),
    user: searchedIn(request, 'user'),
    client: searchedIn(request, 'client'),
    token: tokenIn(request),
    address: searchedIn(request, 'address'),
    ...periodIn(request),
  }
  return {
    search,
    filter: {
      event: search.event || undefined,
      user: search.user || undefined,
      clientId: search.client || undefined,
      tokenId: search.token === '' ? undefined : Number(search.token),
      address: search.address || undefined,
      ...conditionOf(search),
    },
  }
}
