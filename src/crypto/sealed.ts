import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { systemRandom } from './random.ts'

declare const brand: unique symbol

/** `key id . base64url(nonce, ciphertext, tag)`. */
export type Sealed = string & { readonly [brand]: 'Sealed' }

/** What a sealed value is for; each purpose has a key of its own. */
export type SealPurpose = 'token' | 'row' | 'transient'

/** The id of the key that a value names; undefined for what is no sealed value. */
export const keyIdOf = (sealed: string): string | undefined =>
  /^[0-9a-f]{8}(?=\.)/.exec(sealed)?.[0]

/** What a row says about itself. A sealed value opens only beside the very same claims. */
export type Claims = readonly (string | number | boolean | null)[]

interface SecretKey {
  readonly id: string
  readonly seal: Readonly<Record<SealPurpose, KeyObject>>
  readonly session: Uint8Array
  readonly csrf: Uint8Array
  readonly lookup: Uint8Array
}

const nonceBytes = 12
const tagBytes = 16

const derive = (secret: string, label: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, 'svc-oauth2server', label, 32))

const secretKey = (secret: string): SecretKey => ({
  id: hash('sha256', derive(secret, 'id'), 'hex').slice(0, 8),
  seal: {
    token: createSecretKey(derive(secret, 'token')),
    row: createSecretKey(derive(secret, 'row')),
    transient: createSecretKey(derive(secret, 'transient')),
  },
  session: derive(secret, 'session-jwt'),
  csrf: derive(secret, 'csrf'),
  lookup: derive(secret, 'lookup'),
})

/**
 * The application secret key and its predecessors. New values use the first; each purpose has its
 * own derived key (HKDF, RFC 5869), so that a value of one kind is worthless as another.
 */
export class KeyRing {
  readonly #keys: readonly SecretKey[]
  readonly #current: SecretKey

  /** @param secrets the current secret key first, then earlier ones; at least 32 UTF-8 bytes each */
  constructor(secrets: readonly [string, ...string[]]) {
    this.#keys = secrets.map(secretKey)
    this.#current = this.#keys[0] as SecretKey
  }

  /** The ids of all keys, the current one first. An id says nothing about its key. */
  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id)
  }

  /** The id of the key that new values are sealed under. */
  get currentId(): string {
    return this.#current.id
  }

  /** Keys that sign and verify the JWT of a session, the current one first. */
  get sessionKeys(): readonly Uint8Array[] {
    return this.#keys.map(({ session }) => session)
  }

  /** AES-256-GCM with a fresh nonce; `claims` are authenticated, not stored. */
  seal(purpose: SealPurpose, plaintext: string, claims: Claims): Sealed {
    const key = this.#current
    // Never from the injected source: a repeated nonce would give the key away.
    const nonce = systemRandom(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', key.seal[purpose], nonce)
    cipher.setAAD(Buffer.from(JSON.stringify(claims)))
    const sealed = Buffer.concat([
      nonce,
      cipher.update(plaintext, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ])
    return `${key.id}.${sealed.toString('base64url')}` as Sealed
  }

  /** The plaintext, or undefined where the value, its key or any of the claims is not what was sealed. */
  open(purpose: SealPurpose, sealed: string, claims: Claims): string | undefined {
    const dot = sealed.indexOf('.')
    const id = sealed.slice(0, dot)
    const key = this.#keys.find((candidate) => candidate.id === id)
    if (!key) return undefined
    const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url')
    if (bytes.length < nonceBytes + tagBytes) return undefined
    const decipher = createDecipheriv(
      'aes-256-gcm',
      key.seal[purpose],
      bytes.subarray(0, nonceBytes),
      {
        authTagLength: tagBytes,
      },
    )
    decipher.setAAD(Buffer.from(JSON.stringify(claims)))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    try {
      return (
        decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') +
        decipher.final('utf8')
      )
    } catch {
      return undefined
    }
  }

  /** Marks a row as written by us: it holds nothing but the proof of its claims. */
  sealRow(claims: Claims): Sealed {
    return this.seal('row', '', claims)
  }

  /** Whether a row still claims what it claimed when `sealRow` marked it. */
  isIntact(seal: string, claims: Claims): boolean {
    return this.open('row', seal, claims) === ''
  }

  /**
   * The digests of a value that is too short for an unkeyed one, which could be guessed from the database:
   * the current key's first.
   */
  lookupDigests(value: string): readonly string[] {
    return this.#keys.map(({ lookup }) =>
      createHmac('sha256', lookup).update(value).digest('base64url'),
    )
  }

  /** The CSRF tokens that belong to a cookie value: the current key's first. */
  csrfTokens(cookie: string): readonly string[] {
    return this.#keys.map(({ csrf }) =>
      createHmac('sha256', csrf).update(cookie).digest('base64url'),
    )
  }
}
