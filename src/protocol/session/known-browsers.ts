import { serialize } from 'hono/utils/cookie'
import { sha256 } from '../../crypto/digest.ts'
import { randomString } from '../../crypto/random.ts'
import { accountKey } from '../../model/field-rules.ts'
import type { UserId } from '../../model/user.ts'
import type { RecordsContext } from '../../records/context.ts'
import { type CheckedUser, Users } from '../../records/users/users.ts'

// The device cookie of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a browser in which an account
// logged in before has its own limit, so strangers who guess the password do not lock it out.

/** Seconds after the last login of an account in a browser for which the browser is known. */
const lifetime = 90 * 86_400
/** The maximum number of accounts of one browser, which keeps the cookie below 2 KiB. */
const maxAccounts = 5
const separator = '~'
/** 128 bits. */
const nonceCharacters = 22
/** The claims in the seal of an entry. */
const claims = ['known_browser']

/** An account that logged in before in this browser. */
interface Entry {
  /** The digest of the e-mail address as it was typed. */
  readonly account: string
  readonly userId: UserId
  /** Changes with the password. */
  readonly mark: string
  /** The key by which wrong passwords from this browser are counted. */
  readonly nonce: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** A browser that is known for an account. */
export interface KnownBrowser {
  readonly nonce: string
  readonly userId: UserId
}

/** Recognizes browsers in which an account logged in before, by a sealed cookie. */
export class KnownBrowsers {
  readonly #context: RecordsContext
  readonly #issuer: string
  readonly #users: Users

  constructor(context: RecordsContext, issuer: string) {
    this.#context = context
    this.#issuer = issuer
    this.#users = new Users(context)
  }

  get cookieName(): string {
    return this.#issuer.startsWith('https:') ? '__Host-oauth2server_known' : 'oauth2server_known'
  }

  /**
   * Returns the entry of the browser for an account. A user is looked up only if the cookie was issued for this
   * account, so the response time reveals nothing about other accounts.
   */
  async find(account: string, cookie: string | null): Promise<KnownBrowser | undefined> {
    const digest = accountDigest(account)
    const entry = this.#entries(cookie).find((known) => known.account === digest)
    if (!entry || (await this.#users.passwordMark(entry.userId)) !== entry.mark) return undefined
    return { nonce: entry.nonce, userId: entry.userId }
  }

  /** Returns the `Set-Cookie` value after a login. Other accounts of the browser stay known. */
  remember(account: string, user: CheckedUser, cookie: string | null): string {
    const { clock, random, keys } = this.#context
    const digest = accountDigest(account)
    const entry: Entry = {
      account: digest,
      userId: user.id,
      mark: this.#users.markOf(user),
      nonce: randomString(nonceCharacters, random),
      until: clock() + lifetime * 1000,
    }
    const others = this.#entries(cookie).filter((known) => known.account !== digest)
    const value = [entry, ...others]
      .slice(0, maxAccounts)
      .map((each) => keys.seal('transient', JSON.stringify(each), claims))
      .join(separator)
    return serialize(this.cookieName, value, {
      path: '/',
      secure: true,
      httpOnly: true,
      sameSite: 'Lax',
      maxAge: lifetime,
    })
  }

  /** Returns the valid entries of all cookies of this name, so that a planted cookie cannot displace the real one. */
  #entries(cookie: string | null): readonly Entry[] {
    const prefix = `${this.cookieName}=`
    const now = this.#context.clock()
    return (cookie ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(prefix))
      .flatMap((pair) => pair.slice(prefix.length).split(separator).slice(0, maxAccounts))
      .slice(0, 2 * maxAccounts)
      .flatMap((sealed) => {
        const text = this.#context.keys.open('transient', sealed, claims)
        const entry = text === undefined ? undefined : (JSON.parse(text) as Entry)
        return entry && entry.until > now ? [entry] : []
      })
  }
}

const accountDigest = (account: string): string => sha256(accountKey(account))
