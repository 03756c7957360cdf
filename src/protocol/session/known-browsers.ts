import { serialize } from 'hono/utils/cookie'
import { sha256 } from '../../crypto/digest.ts'
import { randomString } from '../../crypto/random.ts'
import { accountKey } from '../../model/field-rules.ts'
import type { UserId } from '../../model/user.ts'
import type { RecordsContext } from '../../records/context.ts'
import { type CheckedUser, Users } from '../../records/users/users.ts'

// The device cookie of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a browser in which an account
// was logged in before is counted by itself, so strangers who guess at the account do not lock it out.

/** Seconds after the last login of an account for which its browser is known. */
const lifetime = 90 * 86_400
/** Accounts that one browser is known for: the cookie stays below 2 KiB. */
const mostAccounts = 5
const separator = '~'
/** 128 bits. */
const nonceCharacters = 22
/** What the seal of an entry claims. */
const claims = ['known_browser']

/** An account that was logged in in this browser. */
interface Entry {
  /** The digest of what was typed as its e-mail address. */
  readonly account: string
  readonly userId: UserId
  /** Changes with the password. */
  readonly mark: string
  /** By this the browser's wrong passwords are counted. */
  readonly nonce: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** A browser that is known for an account. */
export interface KnownBrowser {
  readonly nonce: string
  readonly userId: UserId
}

/** Browsers that are known for an account, by a sealed cookie that they got when somebody logged in. */
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
   * Whether the browser is known for the account that was typed. Users are looked up only for a cookie that was issued
   * for this very account, so the time of the answer says nothing about other accounts.
   */
  async find(account: string, cookie: string | null): Promise<KnownBrowser | undefined> {
    const digest = accountDigest(account)
    const entry = this.#entries(cookie).find((known) => known.account === digest)
    if (!entry || (await this.#users.passwordMark(entry.userId)) !== entry.mark) return undefined
    return { nonce: entry.nonce, userId: entry.userId }
  }

  /** @returns the `Set-Cookie` value after a login; other accounts of this browser stay known */
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
      .slice(0, mostAccounts)
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

  /** The entries that are ours and have not expired. A planted cookie of the same name displaces none of them. */
  #entries(cookie: string | null): readonly Entry[] {
    const prefix = `${this.cookieName}=`
    const now = this.#context.clock()
    return (cookie ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(prefix))
      .flatMap((pair) => pair.slice(prefix.length).split(separator).slice(0, mostAccounts))
      .slice(0, 2 * mostAccounts)
      .flatMap((sealed) => {
        const text = this.#context.keys.open('transient', sealed, claims)
        const entry = text === undefined ? undefined : (JSON.parse(text) as Entry)
        return entry && entry.until > now ? [entry] : []
      })
  }
}

const accountDigest = (account: string): string => sha256(accountKey(account))
