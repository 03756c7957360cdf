import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import { deviceCodeExpiresIn } from '../../../records/device-authorizations.ts'
import type { Limit } from '../../../settings/limit-table.ts'
import type { Environment, ServerContext, Throttling } from '../../server-context.ts'

// During the lifetime of a code, each user and each IP address can try five of about 2^34.5 codes. The probability of a
// correct guess by five attempts is below 2^-32 (RFC 8628 §5.1).
const maxWrong = { points: 5, seconds: deviceCodeExpiresIn }
/** The limit for all sessions of a user together. */
const perUser: Limit = { name: 'user_code.user', ...maxWrong }
const perAddress: Limit = { name: 'user_code.address', ...maxWrong }

/** The server logs a warning after this number of wrong codes of all users in one period of `deviceCodeExpiresIn`. */
const warnAt = 50

/**
 * Counts an attempt to enter a user code.
 * @returns a function that removes the attempt from the count, to be called if the code was right
 * @throws OAuthError 429 with `Retry-After` after too many wrong codes from the user or from the IP address
 */
export const tryUserCode = (
  { user }: SignedIn,
  { address }: HttpRequest,
  { limits }: Throttling,
): Promise<() => Promise<void>> =>
  limits.attemptAll([
    { limit: perUser, address: '', target: String(user.id) },
    { limit: perAddress, address },
  ])

/** Counts a wrong user code of any user, and logs a warning when the count reaches `warnAt`. */
export const noteWrongUserCode = async ({
  transientValues,
  clock,
  log,
}: Pick<ServerContext, 'transientValues'> & Environment): Promise<void> => {
  const length = deviceCodeExpiresIn * 1000
  const window = Math.floor(clock() / length)
  const counted = transientValues<never>('wrong_user_codes')
  // Every increment returns a different count, so exactly one node logs the warning.
  const count = await counted.countFailure(`wrong ${window}`, (window + 1) * length)
  if (count !== warnAt) return
  log({
    level: 'warn',
    event: 'user_code.guessed',
    message:
      'Users entered many wrong user codes on the device page. An attacker may be guessing codes.',
  })
}
