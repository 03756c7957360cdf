import { application, type Requester } from '../../crypto/passwords/fair-queue.ts'
import type { AuditOrigin } from '../../model/audit-event.ts'
import { accountKey } from '../../model/email-address.ts'
import { siteNetworkOf } from '../../model/network.ts'
import type { UserId } from '../../model/user.ts'
import type { Limits } from '../limits.ts'
import type { Users } from './users.ts'

/** An attempt to log in with a password. */
export interface PasswordTry {
  /** The account name as the user typed it. */
  readonly account: string
  readonly address: string
  /** The known browser of the account; undefined for any other browser. */
  readonly browser?: { readonly nonce: string; readonly userId: UserId } | undefined
}

/** Returns the requester of a password check: the network of the request, or the application itself. */
export const requesterOf = ({ actor, address }: AuditOrigin): Requester =>
  actor === 'system' ? application : { lane: siteNetworkOf(address), isKnown: false }

interface Server {
  readonly limits: Limits
  readonly users: Users
}

/**
 * Checks a password if no limit on wrong passwords is reached. A known browser of the account has a separate limit. All
 * other attempts are limited by account, by network and account, by IP address, and by network.
 * @returns the result of the check
 * @throws OAuthError 429 with `Retry-After` if a limit is reached; PasswordHashingBusy if too many passwords wait
 */
export const tryPassword = async <U>(
  tried: PasswordTry,
  { limits, users }: Server,
  check: (requester: Requester) => Promise<U | undefined>,
): Promise<U | undefined> => {
  const { address, account, browser } = tried
  if (browser) {
    const requester = { lane: `user ${browser.userId}`, isKnown: true }
    users.requireRoom(requester)
    const giveBack = await limits.attempt('wrongPasswordsOfKnownBrowser', '', browser.nonce)
    return judged(giveBack, () => check(requester))
  }
  const requester = { lane: siteNetworkOf(address), isKnown: false }
  limits.check('wrongPasswordsOfNetwork', address)
  const end = limits.begin('wrongPasswords', address)
  try {
    users.requireRoom(requester)
    const target = `login ${accountKey(account)}`
    // Count the attempt before the check, so that concurrent attempts cannot exceed the limit.
    const giveBack = await limits.attemptAll([
      { limit: 'wrongPasswordsOfAccount', address, target },
      { limit: 'guessesOfAccount', address: '', target },
    ])
    const user = await judged(giveBack, () => check(requester))
    if (!user) {
      await limits.countFailure('wrongPasswords', address)
      await limits.countFailure('wrongPasswordsOfNetwork', address)
    }
    return user
  } finally {
    end()
  }
}

/** Checks the password, and releases the place of the attempt if the password is right or could not be checked. */
const judged = async <U>(
  giveBack: () => Promise<void>,
  check: () => Promise<U | undefined>,
): Promise<U | undefined> => {
  let user: U | undefined
  try {
    user = await check()
  } catch (error) {
    // The password was not checked, so the attempt does not count.
    await giveBack()
    throw error
  }
  if (user) await giveBack()
  return user
}
