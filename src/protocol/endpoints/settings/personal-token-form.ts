import { InvalidField } from '../../../model/invalid-field.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { ScopeDoesNotExists } from '../../../model/scope.ts'
import { dayPattern, timePattern } from '../../openapi/schemas/personal-tokens.ts'
import type { SettingsRequest } from './settings-request.ts'

const day = 86_400_000

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Returns the first and last expiry day of a new token. The last day is null if tokens need not expire. */
export const expiryDays = ({
  server,
}: SettingsRequest): { firstDay: string; lastDay: string | null } => {
  const { tokenPersonalMaxExpiresIn: max } = server.settings
  const now = server.clock()
  return { firstDay: dayOf(now), lastDay: max === 0 ? null : dayOf(now + max * 1000) }
}

/**
 * Returns the lifetime of a new token in seconds. The token expires at the end of the chosen day in UTC, or at the time
 * that a script sent. Returns undefined if the token does not expire.
 * @throws InvalidField
 */
export const expiresInOf = (params: Parameters, request: SettingsRequest): number | undefined => {
  const { settings, clock } = request.server
  const { tokenPersonalMaxExpiresIn } = settings
  const max = tokenPersonalMaxExpiresIn || maxLifetime
  const latest = dayOf(clock() + max * 1000)
  const refused = (
    problem: 'expiresInvalid' | 'expiresInPast' | 'expiresTooLate' | 'expiresMissing',
  ) => new InvalidField('expires', sentences[problem], { problem, value: latest })
  const text = params.optional('expires')
  if (text === undefined) {
    if (tokenPersonalMaxExpiresIn > 0) throw refused('expiresMissing')
    return undefined
  }
  const isDay = dayPattern.test(text)
  const isTime = timePattern.test(text)
  const at = isDay ? Date.parse(text) + day : isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at) || (isDay && dayOf(at - day) !== text)) throw refused('expiresInvalid')
  const seconds = Math.floor((at - clock()) / 1000)
  if (seconds <= 0) throw refused('expiresInPast')
  // The last selectable day ends after the maximum lifetime, so reduce the lifetime instead of refusing that day.
  if (seconds > max && !(isDay && text <= latest)) throw refused('expiresTooLate')
  return Math.min(seconds, max)
}

/** The maximum lifetime in seconds, if the setting `tokenPersonalMaxExpiresIn` is 0. */
const maxLifetime = 315_360_000

const sentences = {
  expiresInvalid:
    'expires must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.',
  expiresInPast: 'expires must be in the future.',
  expiresTooLate: 'expires is later than the application allows.',
  expiresMissing: 'expires is missing: the application limits the lifetime of tokens.',
} as const

/** Returns the chosen scopes. @throws InvalidField also for an internal scope, which only code may assign */
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
