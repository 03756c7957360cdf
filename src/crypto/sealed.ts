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

/** A sealed value in the format `key id . base64url(day, nonce, ciphertext, tag)`. */
export type Sealed = string & { readonly [brand]: 'Sealed' }

/** The purpose of a sealed value. Each purpose has a separate key. */
export type SealPurpose = 'token' | 'row' | 'transient'

/** Returns the key ID in a sealed value; undefined for any other text. */
export const keyIdOf = (sealed: string): string | undefined =>
  /^[0-9a-f]{8}(?=\.)/.exec(sealed)?.[0]

/** The values of a row that a seal authenticates. Opening the seal requires the same claims. */
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
/** The number of random bytes in the seal of an audit row. A multiple of 3 avoids padding in base64. */
const saltBytes = 9
const macBytes = 15
/** The maximum number of cached day keys of one purpose and one secret key. */
const maxDays = 4_096

/**
 * Encodes claims as JSON. If a number is infinite, first converts all claims to text, because JSON would encode the
 * number as null. SQLite permits infinite numbers.
 */
export const encodeClaims = (claims: Claims): string => {
  const hasInfinity =
    claims.includes(Number.POSITIVE_INFINITY) || claims.includes(Number.NEGATIVE_INFINITY)
  return JSON.stringify(hasInfinity ? claims.map(String) : claims)
}

const derive = (secret: string, label: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, 'svc-oauth2server', label, 32))

/**
 * Derives one key for each day. With random nonces, an AES-GCM key may seal at most 2^32 values (NIST SP 800-38D §8.3).
 * The key of a day is therefore sufficient for 49,710 values per second.
 */
class DayKeys {
  readonly #base: Uint8Array
  readonly #keys = new Map<number, KeyObject>()

  constructor(base: Uint8Array) {
    this.#base = base
  }

  /** @param day days since the epoch, modulo 2^16 */
  of(day: number): KeyObject {
    const cached = this.#keys.get(day)
    if (cached) return cached
    // Limit the cache, because an attacker with write access to the database can insert seals with any day.
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
 * The current secret key and the earlier secret keys. The current key seals new values. Each purpose has a separate key,
 * derived by HKDF (RFC 5869), so that a value of one purpose is not valid for another purpose.
 */
export class KeyRing {
  readonly #keys: readonly SecretKey[]
  readonly #current: SecretKey
  readonly #clock: () => number

  /**
   * @param secrets the current secret key, followed by earlier secret keys; each has at least 32 UTF-8 bytes
   * @param clock determines the day whose key seals new values. `open` uses the day that the sealed value contains.
   */
  constructor(secrets: readonly [string, ...string[]], clock: () => number = Date.now) {
    this.#clock = clock
    this.#keys = secrets.map(secretKey)
    this.#current = this.#keys[0] as SecretKey
  }

  /** The IDs of all keys, starting with the current key. An ID does not reveal the key. */
  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id)
  }

  /** The ID of the key that seals new values. */
  get currentId(): string {
    return this.#current.id
  }

  /** The keys that sign and verify session JWTs, starting with the current key. */
  get sessionKeys(): readonly Uint8Array[] {
    return this.#keys.map(({ session }) => session)
  }

  /** Encrypts a text by AES-256-GCM with the key of the day. Authenticates `claims`, but does not store them. */
  seal(purpose: SealPurpose, plaintext: string, claims: Claims): Sealed {
    const key = this.#current
    // Do not use the injected random source, because a repeated nonce would reveal the key.
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

  /** Decrypts a sealed value. Returns undefined if the value or any claim was changed, or if the key is unknown. */
  open(purpose: SealPurpose, sealed: string, claims: Claims): string | undefined {
    const dot = sealed.indexOf('.')
    const id = sealed.slice(0, dot)
    const key = this.#keys.find((candidate) => candidate.id === id)
    if (!key) return undefined
    const text = sealed.slice(dot + 1)
    const bytes = Buffer.from(text, 'base64url')
    const start = dayBytes + nonceBytes
    // Node.js ignores characters outside base64url, and a single character after the last complete group.
    const isExact = text.length === Math.ceil((bytes.length * 4) / 3)
    if (bytes.length < start + tagBytes || !isExact) return undefined
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

  /** Creates a seal that authenticates the claims of a row. */
  sealRow(claims: Claims): Sealed {
    return this.seal('row', '', claims)
  }

  /** Returns whether the claims of a row are unchanged since `sealRow`. */
  isIntact(seal: string, claims: Claims): boolean {
    return this.open('row', seal, claims) === ''
  }

  /**
   * Creates the seal of an audit row: an HMAC with a new salt. If a random salt repeats among very many rows, an
   * HMAC remains secure, unlike AES-GCM.
   */
  sealAudit(values: Claims): string {
    const salt = Buffer.from(systemRandom(saltBytes)).toString('base64url')
    return `${this.#current.id}.${salt}${auditMac(this.#current, salt, values)}`
  }

  /** Returns whether the values of an audit row are unchanged since `sealAudit`. */
  isAuditIntact(seal: string, values: Claims): boolean {
    const key = this.#keys.find(({ id }) => seal.startsWith(`${id}.`))
    if (!key) return false
    const salt = seal.slice(key.id.length + 1, key.id.length + 1 + (saltBytes / 3) * 4)
    return constantTimeEqual(seal, `${key.id}.${salt}${auditMac(key, salt, values)}`)
  }

  /**
   * Returns the digest of a short value under each key, starting with the current key. The digest depends on a key,
   * because an attacker who reads the database could otherwise find the value by trying all values.
   */
  lookupDigests(value: string): readonly string[] {
    return this.#keys.map(({ lookup }) =>
      createHmac('sha256', lookup).update(value).digest('base64url'),
    )
  }

  /** Returns the CSRF token of a cookie value under each key, starting with the current key. */
  csrfTokens(cookie: string): readonly string[] {
    return this.#keys.map(({ csrf }) =>
      createHmac('sha256', csrf).update(cookie).digest('base64url'),
    )
  }
}
