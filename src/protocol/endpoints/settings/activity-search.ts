import type { SettingsRequest } from './settings-request.ts'

/** The period of an activity page: days in UTC such as `2026-11-24`, or empty texts. */
export interface Period {
  readonly since: string
  readonly until: string
}

const day = 86_400_000

/** Reads the period from the query. Ignores a text that is not a day. */
export const periodIn = ({ http }: SettingsRequest): Period => {
  const dayIn = (name: string): string => {
    const text = http.queryParameters().repeated(name)[0] ?? ''
    return Number.isNaN(startOf(text)) ? '' : text
  }
  return { since: dayIn('since'), until: dayIn('until') }
}

/** Converts a period to the condition of a search, which includes both days. */
export const conditionOf = ({ since, until }: Period) => ({
  since: since === '' ? undefined : startOf(since),
  until: until === '' ? undefined : startOf(until) + day,
})

/** Reads the ID of a token from the query. Ignores another text. */
export const tokenIn = ({ http }: SettingsRequest): string => {
  const text = http.queryParameters().repeated('token')[0] ?? ''
  return /^[1-9]\d{0,14}$/.test(text) ? text : ''
}

const startOf = (text: string): number =>
  /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
