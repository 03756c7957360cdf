import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { constantTimeEqual } from './digest.ts'
import { systemRandom } from './random.ts'

declare const brand: unique symbol

/** `key id . base64url(day, nonce, ciphertext, tag)`. */
export type Sealed = string & { readonly [brand]: 'Sealed' }

/** The purpose of a sealed value. Each purpose has its own key. */
export type SealPurpose = 'token' | 'row' | 'transient'

/** Returns the key ID in a sealed value; undefined for any other text. */
export const keyIdOf = (sealed: string): string | undefined =>
  /^[0-9a-f]{8}(?=\.)/.exec(sealed)?.[0]

/** The claims of a row. A sealed value opens only with exactly the same claims. */
export type Claims = readonly (string | number | boolean | null)[]

interface SecretKey {
  readonly id: string
  readonly seal: Readonly<Record<SealPurpose, DayKeys>>
  readonly audit: KeyObject
  readonly session: Uint8Array
  readonly csrf: Uint8Array
  readonly lookup: Uint8Array
}

const dayBytes = 2
const nonceBytes = 12
const tagBytes = 16
const dayLength = 86_400_000
/** The random bytes of an audit seal, so that no two rows have the same seal. A multiple of 3. */
const saltBytes = 9
const macBytes = 15
/** The maximum number of cached keys of each purpose. */
const maxDays = 4_096

/** Returns the text that a seal authenticates. JSON would write infinity, a valid number in SQLite, as null. */
export const encodeClaims = (claims: Claims): string => {
  const hasInfinity =
    claims.includes(Number.POSITIVE_INFINITY) || claims.includes(Number.NEGATIVE_INFINITY)
  return JSON.stringify(hasInfinity ? claims.map(String) : claims)
}

const derive = (secret: string, label: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, 'svc-oauth2server', label, 32))

/**
 * Derives one key for each day. Random nonces are safe for 2^32 values under one AES-GCM key (NIST SP 800-38D §8.3),
 * which is 49,710 values a second for a day.
 */
class DayKeys {
  readonly #base: Uint8Array
  readonly #keys = new Map<number, KeyObject>()

  constructor(base: Uint8Array) {
    this.#base = base
  }

  /** @param day days since the epoch, modulo 2^16 */
  of(day: number): KeyObject {
    const kept = this.#keys.get(day)
    if (kept) return kept
    // An attacker who writes to the database can name any day, so bound the cache.
    if (this.#keys.size >= maxDays) this.#keys.clear()
    const bytes = hkdfSync('sha256', this.#base, 'svc-oauth2server', `day ${day}`, 32)
    const key = createSecretKey(new Uint8Array(bytes))
    this.#keys.set(day, key)
    return key
  }
}

const secretKey = (secret: string): SecretKey => ({
  id: hash('sha256', derive(secret, 'id'), 'hex').slice(0, 8),
  seal: {
    token: new DayKeys(derive(secret, 'token')),
    row: new DayKeys(derive(secret, 'row')),
    transient: new DayKeys(derive(secret, 'transient')),
  },
  audit: createSecretKey(derive(secret, 'audit')),
  session: derive(secret, 'session-jwt'),
  csrf: derive(secret, 'csrf'),
  lookup: derive(secret, 'lookup'),
})

const auditMac = ({ audit }: SecretKey, salt: string, values: Claims): string =>
  createHmac('sha256', audit)
    .update(encodeClaims([salt, ...values]))
    .digest()
    .subarray(0, macBytes)
    .toString('base64url')

/**
 * The application secret key and its predecessors. New values use the first one. Each purpose has its own derived key
 * (HKDF, RFC 5869), so that a value of one purpose is not valid for another.
 */
export class KeyRing {
  readonly #keys: readonly SecretKey[]
  readonly #current: SecretKey
  readonly #clock: () => number

  /**
   * @param secrets the current secret key first, then earlier ones; at least 32 UTF-8 bytes each
   * @param clock decides the day of the sealing key. Each value contains its day, so a wrong clock does no harm
   */
  constructor(secrets: readonly [string, ...string[]], clock: () => number = Date.now) {
    this.#clock = clock
    this.#keys = secrets.map(secretKey)
    this.#current = this.#keys[0] as SecretKey
  }

  /** The IDs of all keys, the current one first. An ID reveals nothing about its key. */
  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id)
  }

  /** The ID of the key that seals new values. */
  get currentId(): string {
    return this.#current.id
  }

  /** The keys that sign and verify session JWTs, the current one first. */
  get sessionKeys(): readonly Uint8Array[] {
    return this.#keys.map(({ session }) => session)
  }

  /** Seals a text by AES-256-GCM with the key of the day and a new nonce. `claims` are authenticated, not stored. */
  seal(purpose: SealPurpose, plaintext: string, claims: Claims): Sealed {
    const key = this.#current
    // Do not use the injected source: a repeated nonce would reveal the key.
    const nonce = systemRandom(nonceBytes)
    const day = Math.floor(this.#clock() / dayLength) & 0xffff
    const cipher = createCipheriv('aes-256-gcm', key.seal[purpose].of(day), nonce)
    cipher.setAAD(Buffer.from(encodeClaims(claims)))
    const sealed = Buffer.concat([
      new Uint8Array([day >> 8, day & 0xff]),
      nonce,
      cipher.update(plaintext, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ])
    return `${key.id}.${sealed.toString('base64url')}` as Sealed
  }

  /** Opens a sealed value; returns undefined if the value, its key or any claim differs from what was sealed. */
  open(purpose: SealPurpose, sealed: string, claims: Claims): string | undefined {
    const dot = sealed.indexOf('.')
    const id = sealed.slice(0, dot)
    const key = this.#keys.find((candidate) => candidate.id === id)
    if (!key) return undefined
    const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url')
    const start = dayBytes + nonceBytes
    if (bytes.length < start + tagBytes) return undefined
    const decipher = createDecipheriv(
      'aes-256-gcm',
      key.seal[purpose].of(bytes.readUInt16BE()),
      bytes.subarray(dayBytes, start),
      {
        authTagLength: tagBytes,
      },
    )
    decipher.setAAD(Buffer.from(encodeClaims(claims)))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    try {
      return (
        decipher.update(bytes.subarray(start, -tagBytes), undefined, 'utf8') +
        decipher.final('utf8')
      )
    } catch {
      return undefined
    }
  }

  /** Creates the seal of a row, which authenticates its claims. */
  sealRow(claims: Claims): Sealed {
    return this.seal('row', '', claims)
  }

  /** Returns whether a row still has the claims that `sealRow` sealed. */
  isIntact(seal: string, claims: Claims): boolean {
    return this.open('row', seal, claims) === ''
  }

  /**
   * Creates the seal of an audit row, with a new salt. It is an HMAC, which has no nonce that could repeat among very
   * many rows.
   */
  sealAudit(values: Claims): string {
    const salt = Buffer.from(systemRandom(saltBytes)).toString('base64url')
    return `${this.#current.id}.${salt}${auditMac(this.#current, salt, values)}`
  }

  /** Returns whether the values of an audit row are those that `sealAudit` sealed. */
  isAuditIntact(seal: string, values: Claims): boolean {
    const key = this.#keys.find(({ id }) => seal.startsWith(`${id}.`))
    if (!key) return false
    const salt = seal.slice(key.id.length + 1, key.id.length + 1 + (saltBytes / 3) * 4)
    return constantTimeEqual(seal, `${key.id}.${salt}${auditMac(key, salt, values)}`)
  }

  /**
   * Returns the keyed digests of a short value, that of the current key first. An unkeyed digest in the database could
   * be guessed.
   */
  lookupDigests(value: string): readonly string[] {
    return this.#keys.map(({ lookup }) =>
      createHmac('sha256', lookup).update(value).digest('base64url'),
    )
  }

  /** Returns the CSRF tokens of a cookie value, that of the current key first. */
  csrfTokens(cookie: string): readonly string[] {
    return this.#keys.map(({ csrf }) =>
      createHmac('sha256', csrf).update(cookie).digest('base64url'),
    )
  }
}
