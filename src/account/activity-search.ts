import { inQuery } from '../protocol/openapi/schema.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The first and the last day of an activity page in UTC, such as `2026-11-24`. An empty text means no limit. */
export interface Period {
  readonly since: string
  readonly until: string
}

const day = 86_400_000

/** The search of an activity page, for the OpenAPI document. */
export const activityQuery = [
  inQuery('since', 'The first day in UTC, such as 2026-11-01.'),
  inQuery('until', 'The last day in UTC.'),
  inQuery('token', 'The ID of a token.'),
]

/** Reads the period from the query. Ignores a text that is not a day. */
export const periodIn = ({ http }: SettingsRequest): Period => {
  const dayIn = (name: string): string => {
    const text = http.queryParameters().repeated(name)[0] ?? ''
    return Number.isNaN(startOf(text)) ? '' : text
  }
  return { since: dayIn('since'), until: dayIn('until') }
}

/** Converts a period to the condition of a search. The period includes its first and its last day. */
export const conditionOf = ({ since, until }: Period) => ({
  since: since === '' ? undefined : startOf(since),
  until: until === '' ? undefined : startOf(until) + day,
})

/** Returns the token ID in the query; an empty text if the ID is missing or invalid. */
export const tokenIn = ({ http }: SettingsRequest): string => {
  const text = http.queryParameters().repeated('token')[0] ?? ''
  return /^[1-9]\d{0,14}$/.test(text) ? text : ''
}

const startOf = (text: string): number =>
  /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
