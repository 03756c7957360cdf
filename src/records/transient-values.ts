import { type Digest, digestOf, type SecretKind } from '../crypto/digest.ts'
import { bits256, randomString } from '../crypto/random.ts'
import { type RecordsContext, retryOnCollision } from './context.ts'

/**
 * Milliseconds for which a used proof is stored after its expiry. A node whose clock is behind may still accept the
 * proof.
 */
const replayMargin = 300_000

/**
 * Stores short-lived values under names. The store contains only the digest of a name and the sealed value, so values
 * that were written without the secret key are ignored.
 */
export class TransientValues<T> {
  readonly #kind: SecretKind
  readonly #context: RecordsContext

  constructor(kind: SecretKind, context: RecordsContext) {
    this.#kind = kind
    this.#context = context
  }

  /** Returns the digest of a name, which the store contains instead of the name. */
  digest(name: string): Digest {
    return digestOf(this.#kind, name)
  }

  /** Stores a value and returns its random name. */
  put(value: T, expiresAt: number): Promise<string> {
    return retryOnCollision(async () => {
      const name = randomString(bits256, this.#context.random)
      return (await this.claim(name, value, expiresAt)) ? name : undefined
    })
  }

  /** Stores a value under a free name. Returns false if the name is taken, also by a concurrent caller. */
  claim(name: string, value: T, expiresAt: number): Promise<boolean> {
    const { transients, clock } = this.#context
    return transients.put(this.#key(name), this.#sealed(name, value, expiresAt), expiresAt, clock())
  }

  /** Claims the name of a proof that may be used once. The proof remains stored for `replayMargin` after its expiry. */
  claimOnce(name: string, value: T, expiresAt: number): Promise<boolean> {
    // Round up, because the times of a JWT may have fractions, and times in the database may not.
    return this.claim(name, value, Math.ceil(expiresAt) + replayMargin)
  }

  /** Stores a value, or replaces the value with the same name. */
  async set(name: string, value: T, expiresAt: number): Promise<void> {
    const { transients, clock } = this.#context
    const sealed = this.#sealed(name, value, expiresAt)
    await transients.set(this.#key(name), sealed, expiresAt, clock())
  }

  /** Returns the value without removing it; undefined if it does not exist, has expired, or was tampered with. */
  async get(name: string): Promise<T | undefined> {
    const key = this.#key(name)
    return this.#opened(key, await this.#context.transients.get(key, this.#context.clock()))
  }

  /** Returns the values in the order of the names, in one round trip. */
  async getMany(names: readonly string[]): Promise<readonly (T | undefined)[]> {
    if (names.length === 0) return []
    const keys = names.map((name) => this.#key(name))
    const sealed = await this.#context.transients.getMany(keys, this.#context.clock())
    return keys.map((key, index) => this.#opened(key, sealed[index]))
  }

  /** Removes and returns the value. Only one of several concurrent callers receives the value. */
  async take(name: string): Promise<T | undefined> {
    const key = this.#key(name)
    return this.#opened(key, await this.#context.transients.take(key, this.#context.clock()))
  }

  /** Counts a failed attempt for a value, and returns the number of failed attempts so far. */
  countFailure(name: string, expiresAt: number): Promise<number> {
    const { transients, clock } = this.#context
    return transients.increment(`${this.#key(name)}:failures`, expiresAt, clock())
  }

  /** Returns whether a valid value is stored under a name with this digest. */
  async hasDigest(digest: Digest): Promise<boolean> {
    const key = `${this.#kind}:${digest}`
    const { transients, clock } = this.#context
    return this.#opened(key, await transients.get(key, clock())) !== undefined
  }

  /** Removes the value under the name with this digest. */
  deleteDigest(digest: Digest): Promise<void> {
    return this.#context.transients.delete(`${this.#kind}:${digest}`)
  }

  /** Removes the value, if it exists. */
  delete(name: string): Promise<void> {
    return this.#context.transients.delete(this.#key(name))
  }

  #key(name: string): string {
    return `${this.#kind}:${this.digest(name)}`
  }

  // Seal the expiry too, because an attacker could change the expiry column without the secret key.
  #sealed(name: string, value: T, expiresAt: number): string {
    const text = JSON.stringify({ expiresAt, value })
    return this.#context.keys.seal('transient', text, [this.#key(name)])
  }

  #opened(key: string, sealed: string | undefined): T | undefined {
    const { keys, clock } = this.#context
    const text = sealed && keys.open('transient', sealed, [key])
    if (text === undefined || text === '') return undefined
    const { expiresAt, value } = JSON.parse(text) as { expiresAt: number; value: T }
    return clock() < expiresAt ? value : undefined
  }
}
