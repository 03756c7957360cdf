import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import { deviceCodeExpiresIn } from '../../../records/device-authorizations.ts'
import type { Limit } from '../../../settings/limit-table.ts'
import type { Environment, ServerContext, Throttling } from '../../server-context.ts'

// Within the lifetime of a code, five of 2^34.5 codes can be tried: the chance is below 2^-32 (RFC 8628 §5.1).
const maxWrong = { points: 5, seconds: deviceCodeExpiresIn }
/** Counts all sessions of the user together. */
const ofUser: Limit = { name: 'user_code.user', ...maxWrong }
const ofAddress: Limit = { name: 'user_code.address', ...maxWrong }

/** Wrong codes of all users together, within the lifetime of a code, that suggest guessing. */
const alarming = 50

/**
 * Admits one more try to enter a user code.
 * @returns a function to call if the code was right
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
    // No code was tried, so give the place back.
    await giveBackUser()
    throw error
  }
}

/** Counts a wrong user code, and logs a warning if there are too many. */
export const noteWrongUserCode = async ({
  transientValues,
  clock,
  log,
}: Pick<ServerContext, 'transientValues'> & Environment): Promise<void> => {
  const length = deviceCodeExpiresIn * 1000
  const window = Math.floor(clock() / length)
  const counted = transientValues<never>('user_code')
  // Each caller gets a different count, so exactly one node logs the warning.
  const count = await counted.countFailure(`wrong ${window}`, (window + 1) * length)
  if (count !== alarming) return
  log({
    level: 'warn',
    event: 'user_code.guessed',
    message: 'Many wrong codes were entered on the page for devices: somebody may be guessing.',
  })
}
