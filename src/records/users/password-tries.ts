import type { Digest } from '../../crypto/digest.ts'
import type { AuditOrigin } from '../../model/audit-event.ts'
import { accountKey } from '../../model/email-address.ts'
import { siteNetworkOf } from '../../model/network.ts'
import type { UserId } from '../../model/user.ts'
import { application, type Requester } from '../../queues/fair-queue.ts'
import { ofUser } from '../audit/audit-trail.ts'
import type { CheckedUser, RecordsContext } from '../context.ts'
import { setPassword } from './built-in-users.ts'

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

/**
 * Returns the active user with this e-mail address and password, with the password hash, by which the caller can detect
 * a later change of the password. Returns undefined if the check fails.
 * @param requester the requester in the hashing queue
 */
export const withPassword = async (
  email: string,
  password: string,
  requester: Requester,
  context: RecordsContext,
): Promise<CheckedUser | undefined> => {
  const outcome = await context.users.checked(email, password, requester, context)
  if ('checked' in outcome) return outcome.checked
  // Record the user, but never the typed e-mail address, because people sometimes type their password in that field.
  const by = { actor: 'unknown' } as const
  context.audit.addLoginFailure({ ...ofUser(outcome.refused), by, details: { count: 1 } })
  return undefined
}

/** Checks passwords of logins, whose number is limited. */
export class PasswordTries {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /**
   * Returns the user of the account if the password is right.
   * @throws OAuthError, PasswordHashingBusy like `run`
   */
  check(tried: PasswordTry, password: string): Promise<CheckedUser | undefined> {
    return this.run(tried, (requester) =>
      withPassword(tried.account, password, requester, this.#context),
    )
  }

  /**
   * Runs a check if no limit on wrong passwords is reached. A known browser of the account has a separate limit. All
   * other attempts are limited by account, by network and account, by IP address, and by network.
   * @returns the result of the check
   * @throws OAuthError 429 with `Retry-After` if a limit is reached; PasswordHashingBusy if too many passwords wait
   */
  async run<U>(
    { address, account, browser }: PasswordTry,
    check: (requester: Requester) => Promise<U | undefined>,
  ): Promise<U | undefined> {
    const { limits } = this.#context
    if (browser) {
      const requester = { lane: `user ${browser.userId}`, isKnown: true }
      this.#requireRoom(requester)
      const giveBack = await limits.attempt('wrongPasswordsOfKnownBrowser', '', browser.nonce)
      return judged(giveBack, () => check(requester))
    }
    const requester = { lane: siteNetworkOf(address), isKnown: false }
    limits.check('wrongPasswordsOfNetwork', address)
    const end = limits.begin('wrongPasswords', address)
    try {
      this.#requireRoom(requester)
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

  /**
   * Replaces a password that `check` verified. Deletes all sessions of the user except for `session`.
   * @returns false if the password was changed concurrently
   * @throws InvalidField for a password that is too short or too long
   */
  replace({ id, passwordHash }: CheckedUser, password: string, session: Digest): Promise<boolean> {
    return setPassword(id, password, this.#context, { passwordHash, session })
  }

  #requireRoom(requester: Requester): void {
    const { users, passwords } = this.#context
    if (users.areBuiltIn) passwords.requireRoom(requester)
  }
}

/** Checks a password, and releases the place of the attempt if the password is right or could not be checked. */
export const judged = async <Found>(
  giveBack: () => Promise<void>,
  check: () => Promise<Found>,
): Promise<Found> => {
  let isWrong = false
  try {
    const found = await check()
    isWrong = !found
    return found
  } finally {
    if (!isWrong) await giveBack()
  }
}
