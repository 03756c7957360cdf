import { serialize } from 'hono/utils/cookie'
import { sha256 } from '../../crypto/digest.ts'
import { randomString } from '../../crypto/random.ts'
import { accountKey } from '../../model/email-address.ts'
import type { UserId } from '../../model/user.ts'
import type { CheckedUser, RecordsContext } from '../../records/context.ts'
import { passwordMarkOf } from '../../records/users/built-in-users.ts'
import { CookieJar } from './cookie-jar.ts'
import { openHeld, sealHeld } from './held-values.ts'

// Implements OWASP's "Slow Down Online Guessing Attacks with Device Cookies". A browser in which a user logged in
// before has a separate limit of wrong passwords, so that an attacker's wrong guesses do not lock out the user.

/** The time in seconds for which a browser remains known after the last login. */
const lifetime = 90 * 86_400
/** The maximum number of accounts of one browser, so that the cookie is smaller than 2 KiB. */
const maxAccounts = 5
const separator = '~'
/** The number of characters of a nonce with 128 bits. */
const nonceCharacters = 22

/** An account that was logged in with this browser before. */
interface Entry {
  /** The digest of the e-mail address that the user entered. */
  readonly account: string
  readonly userId: UserId
  /** A value derived from the password hash, so that a new password invalidates the entry. */
  readonly mark: string
  /** The key of the counter of wrong passwords from this browser. */
  readonly nonce: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** A browser that is known for an account. */
export interface KnownBrowser {
  readonly nonce: string
  readonly userId: UserId
}

/** Recognizes browsers in which a user logged in before, by a sealed cookie. */
export class KnownBrowsers {
  readonly #context: RecordsContext
  readonly #cookies: CookieJar

  constructor(context: RecordsContext, issuer: string) {
    this.#context = context
    this.#cookies = new CookieJar(issuer)
  }

  /**
   * Returns the entry of the browser for an account. Looks up the user only if the cookie was issued for the account,
   * so that the response time does not reveal whether an account exists.
   */
  async find(account: string, cookie: string | null): Promise<KnownBrowser | undefined> {
    const { users } = this.#context
    const digest = accountDigest(account)
    const entry = this.#entries(cookie).find((known) => known.account === digest)
    if (!entry || (await users.passwordMark(entry.userId, this.#context)) !== entry.mark)
      return undefined
    return { nonce: entry.nonce, userId: entry.userId }
  }

  /** Returns the `Set-Cookie` value after a login. The cookie retains the other accounts of the browser. */
  remember(account: string, user: CheckedUser, cookie: string | null): string {
    const { clock, random } = this.#context
    const digest = accountDigest(account)
    const entry: Entry = {
      account: digest,
      userId: user.id,
      mark: passwordMarkOf(user, this.#context),
      nonce: randomString(nonceCharacters, random),
      until: clock() + lifetime * 1000,
    }
    const others = this.#entries(cookie).filter((known) => known.account !== digest)
    const value = [entry, ...others]
      .slice(0, maxAccounts)
      .map((each) => sealHeld('known_browser', [], each, this.#context))
      .join(separator)
    return serialize(this.#cookies.knownName(cookie), value, {
      path: '/',
      secure: true,
      httpOnly: true,
      sameSite: 'Lax',
      maxAge: lifetime,
    })
  }

  /** Returns the valid entries of all cookies of this server. */
  #entries(cookie: string | null): readonly Entry[] {
    return this.#cookies
      .known(cookie, 2 * maxAccounts)
      .flatMap((value) => value.split(separator, maxAccounts))
      .slice(0, 2 * maxAccounts)
      .flatMap((sealed) => openHeld<Entry>('known_browser', [], sealed, this.#context) ?? [])
  }
}

const accountDigest = (account: string): string => sha256(accountKey(account))
