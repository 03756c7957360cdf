import { endOfDay, knownTimeZone } from '../model/end-of-day.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { ScopeDoesNotExists } from '../model/scope.ts'
import { dayPattern, type ExpiryChoices, timePattern } from '../pages/forms/personal-token.ts'
import type { Configuration } from '../protocol/server-context.ts'
import type { SettingsRequest } from './settings-request.ts'

const day = 86_400_000
/** The lifetimes that pages offer, in days. */
const offered = [7, 30, 90]
/** The maximum lifetime in seconds, if the setting `tokenPersonalMaxExpiresIn` is 0. */
const maxLifetime = 315_360_000

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Returns the lifetime in seconds of a token for which the user chose no expiry; 0 if the lifetime is unlimited. */
const defaultLifetime = ({ settings }: Configuration): number => {
  const { tokenPersonalDefaultExpiresIn: usual, tokenPersonalMaxExpiresIn: max } = settings
  if (max === 0) return usual
  return usual === 0 ? max : Math.min(usual, max)
}

/**
 * Returns the expiry times that a user can choose.
 * @param since the time from which the maximum lifetime counts, in milliseconds since the epoch
 */
export const expiryChoices = ({ server }: SettingsRequest, since: number): ExpiryChoices => {
  const { tokenPersonalMaxExpiresIn: max } = server.settings
  const now = server.clock()
  const latest = max === 0 ? Number.POSITIVE_INFINITY : since + max * 1000
  const usual = defaultLifetime(server) / 86_400
  const days = [...new Set([...offered, ...(usual >= 1 ? [Math.floor(usual)] : [])])]
  return {
    presets: days
      .sort((a, b) => a - b)
      .map((count) => ({ days: count, at: now + count * day }))
      .filter(({ at }) => at <= latest),
    mayNeverExpire: max === 0,
    firstDay: dayOf(now),
    lastDay: max === 0 ? null : dayOf(latest),
  }
}

/** Returns the expiry that the form of a new token preselects. */
export const defaultExpiry = ({ server }: SettingsRequest): string => {
  const seconds = defaultLifetime(server)
  if (seconds === 0) return 'never'
  return seconds < 86_400 ? 'day' : String(Math.floor(seconds / 86_400))
}

/** Returns the expiry that the user submitted. @param otherwise the choice if the form contains none */
export const typedExpiry = (params: Parameters | undefined, otherwise: string) => {
  const expires = params?.repeated('expires')[0] ?? ''
  return { expiry: expires === '' ? (params?.repeated('expiry')[0] ?? otherwise) : 'day', expires }
}

/**
 * Returns the chosen expiry in milliseconds since the epoch. Returns null for the choice `never`, and for an empty field
 * `expires` without a choice. Returns undefined for the choice `keep`, and if both fields are missing. A token with a
 * chosen day expires at the end of that day in the time zone `time_zone`, by default UTC.
 * @param since the time from which the maximum lifetime counts, in milliseconds since the epoch
 * @throws InvalidField
 */
export const chosenExpiry = (
  params: Parameters,
  { server }: SettingsRequest,
  since: number,
): number | null | undefined => {
  const { tokenPersonalMaxExpiresIn: max } = server.settings
  const now = server.clock()
  const latestAt = max === 0 ? now + maxLifetime * 1000 : since + max * 1000
  const latest = dayOf(latestAt)
  const refused = (
    problem: 'expiresInvalid' | 'expiresInPast' | 'expiresTooLate' | 'expiresMissing',
  ) => new InvalidField('expires', sentences[problem], { problem, value: latest })
  const text = params.optional('expires')
  // A day in `expires` takes precedence, because a program may fill in the day without selecting the choice `day`. If the
  // user selects another choice, the script of the page clears the day.
  const choice = text === undefined ? params.optional('expiry') : 'day'
  if (choice === 'keep') return undefined
  if (choice === 'never' || (choice === undefined && text === undefined)) {
    const isChosen = choice === 'never' || params.repeated('expires').length > 0
    if (isChosen && max > 0) throw refused('expiresMissing')
    return isChosen ? null : undefined
  }
  if (choice !== undefined && choice !== 'day') {
    if (!/^[1-9]\d{0,3}$/.test(choice)) throw refused('expiresInvalid')
    const at = now + Number(choice) * day
    if (at > latestAt) throw refused('expiresTooLate')
    return at
  }
  if (text === undefined) throw refused('expiresMissing')
  const isDay = dayPattern.test(text)
  const isTime = timePattern.test(text)
  const zone = knownTimeZone(params.optional('time_zone'))
  const at = isDay ? endOfDay(text, zone) : isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) throw refused('expiresInvalid')
  if (at <= now) throw refused('expiresInPast')
  // The last selectable day ends after the maximum lifetime, so reduce the lifetime instead of refusing that day.
  if (at > latestAt && !(isDay && text <= latest)) throw refused('expiresTooLate')
  return Math.min(at, latestAt)
}

/** Returns the lifetime of a new token in seconds; undefined if the token does not expire. @throws InvalidField */
export const expiresInOf = (params: Parameters, request: SettingsRequest): number | undefined => {
  const now = request.server.clock()
  const at = chosenExpiry(params, request, now)
  if (at === undefined) return defaultLifetime(request.server) || undefined
  return at === null ? undefined : Math.max(1, Math.floor((at - now) / 1000))
}

const sentences = {
  expiresInvalid:
    'expires must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.',
  expiresInPast: 'expires must be in the future.',
  expiresTooLate: 'expires is later than the application allows.',
  expiresMissing: 'expires is missing.',
} as const

/** Verifies and returns the chosen scopes. @throws InvalidField for an unknown scope, and for an internal scope */
export const chosenScopes = (
  scopes: readonly string[],
  { server }: SettingsRequest,
): readonly string[] => {
  for (const scope of scopes) {
    if (server.scopes.get(scope)?.isInternal !== false) throw unknown(scope)
  }
  return scopes
}

const unknown = (scope: string): InvalidField =>
  new InvalidField('scopes', new ScopeDoesNotExists(scope).message, {
    problem: 'scopeUnknown',
    value: scope,
  })
