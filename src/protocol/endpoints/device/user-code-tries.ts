import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import { deviceCodeExpiresIn } from '../../../records/device-authorizations.ts'
import type { Limit } from '../../../settings/limit-table.ts'
import type { Environment, ServerContext, Throttling } from '../../server-context.ts'

// As long as a code lives, five of 2^34.5 can be tried: the chance is below 2^-32 (RFC 8628 §5.1).
const mostWrong = { points: 5, seconds: deviceCodeExpiresIn }
/** Whatever sessions the user has. */
const ofUser: Limit = { name: 'user_code.user', ...mostWrong }
const ofAddress: Limit = { name: 'user_code.address', ...mostWrong }

/** So many wrong codes from all users together, within the life of a code, are no mistypings any more. */
const alarming = 50

/**
 * Admits one more try to enter a user code.
 * @returns what is called where the code was right
 * @throws OAuthError 429 with `Retry-After` after too many wrong ones of the user, or of the address
 */
export const tryUserCode = async (
  { user }: SignedIn,
  { address }: HttpRequest,
  { limits }: Throttling,
): Promise<() => Promise<void>> => {
  const giveBackUser = await limits.attempt(ofUser, '', String(user.id))
  try {
    const giveBackAddress = await limits.attempt(ofAddress, address)
    return async () => {
      await giveBackUser()
      await giveBackAddress()
    }
  } catch (error) {
    // It was not tried, so it counts for nobody.
    await giveBackUser()
    throw error
  }
}

/** Counts a wrong user code, and says in the log when there are too many of them. */
export const noteWrongUserCode = async ({
  transientValues,
  clock,
  log,
}: Pick<ServerContext, 'transientValues'> & Environment): Promise<void> => {
  const length = deviceCodeExpiresIn * 1000
  const window = Math.floor(clock() / length)
  const counted = transientValues<never>('user_code')
  // Every caller gets another number, so exactly one of all nodes sounds the alarm.
  const count = await counted.countFailure(`wrong ${window}`, (window + 1) * length)
  if (count !== alarming) return
  log({
    level: 'warn',
    event: 'user_code.guessed',
    message: 'Many wrong codes were entered on the page for devices: somebody may be guessing.',
  })
}
