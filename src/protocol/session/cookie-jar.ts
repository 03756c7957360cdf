import { checksumLength, checksumOf } from '../../crypto/checksum.ts'
import { bits256, type RandomSource, randomString } from '../../crypto/random.ts'
import { cookiesNamed } from '../../http/cookies.ts'

/** The session cookie of a browser. */
export interface SessionCookie {
  /** The identifier of the session; undefined without a valid cookie. */
  readonly identifier: string | undefined
  /** Whether the browser sent a cookie of this server, valid or not. */
  readonly isSent: boolean
  /** The name of the cookie that the server sets, changes or clears. */
  readonly name: string
}

/**
 * The cookies of this server. Browsers share cookies between all ports and, with the prefix `__Host-`, all paths of a
 * host. If the browser has the session cookie of another server, this server uses other names, so that the servers do not
 * end each other's sessions.
 *
 * An identifier ends with two checksums: one that every server recognizes, and one that depends on the issuer. They only
 * tell servers apart. The random characters before them are the secret.
 */
export class CookieJar {
  readonly #issuer: string
  readonly #prefix: string
  readonly #suffix: string

  constructor(issuer: string) {
    this.#issuer = issuer
    this.#prefix = issuer.startsWith('https:') ? '__Host-oauth2server_' : 'oauth2server_'
    this.#suffix = `_${checksumOf(issuer)}`
  }

  /** The name of the session cookie in a browser without the cookie of another server. */
  get sessionName(): string {
    return `${this.#prefix}session`
  }

  /** Returns a new identifier, with 184 random bits. */
  newIdentifier(random: RandomSource): string {
    const secret = randomString(bits256 - 2 * checksumLength, random)
    return `${secret}${checksumOf(secret)}${this.#markOf(secret)}`
  }

  /** Reads the session cookie. @param cookie the header `Cookie` */
  session(cookie: string | null): SessionCookie {
    const name = this.sessionName
    const ownName = `${name}${this.#suffix}`
    const shared = cookiesNamed(cookie, name, 2)
    const own = cookiesNamed(cookie, ownName, 2)
    const hasOwnName = own.length > 0 || shared.some((value) => this.#creatorOf(value) === 'other')
    const given = hasOwnName
      ? [...own, ...shared.filter((value) => this.#creatorOf(value) === 'this')]
      : shared
    // If the browser sends two cookies of this server, ignore both of them, because an attacker may have planted one.
    const [value = ''] = given
    const identifier = given.length === 1 && form.test(value) ? value : undefined
    return { identifier, isSent: given.length > 0, name: hasOwnName ? ownName : name }
  }

  /** Returns the values of the cookie that lists the known browsers, so that a planted cookie cannot hide the real one. */
  known(cookie: string | null, max: number): readonly string[] {
    return [this.#knownName, this.#ownKnownName].flatMap((name) => cookiesNamed(cookie, name, max))
  }

  /** Returns the name under which to set the cookie that lists the known browsers. */
  knownName(cookie: string | null): string {
    return this.session(cookie).name === this.sessionName ? this.#knownName : this.#ownKnownName
  }

  get #knownName(): string {
    return `${this.#prefix}known`
  }

  get #ownKnownName(): string {
    return `${this.#knownName}${this.#suffix}`
  }

  #markOf(secret: string): string {
    return checksumOf(`${this.#issuer} ${secret}`)
  }

  /** Returns which server created an identifier; undefined for an earlier version, and for any other text. */
  #creatorOf(value: string): 'this' | 'other' | undefined {
    if (!form.test(value)) return undefined
    const secret = value.slice(0, -2 * checksumLength)
    if (!value.startsWith(checksumOf(secret), secret.length)) return undefined
    return value.endsWith(this.#markOf(secret)) ? 'this' : 'other'
  }
}

const form = /^[A-Za-z0-9]{43}$/
