import { type Digest, digestOf, type OwnKind, type SecretKind } from '../crypto/digest.ts'
import { bits256, randomString } from '../crypto/random.ts'
import { OAuthError } from '../model/oauth-error.ts'
import type { Room, Transients } from '../store/contract/transients.ts'
import { type RecordsContext, retryOnCollision } from './context.ts'
import {
  type Bound,
  boundOf,
  type Counted,
  maxOwnerSize,
  type ShortLivedKind,
} from './short-lived-kinds.ts'

/**
 * Milliseconds for which a used proof is stored after its expiry. A node whose clock is behind may still accept the
 * proof.
 */
const replayMargin = 300_000

/** The sender of a proof that may be used once. */
export interface Sender {
  readonly clientId: string
  /** The IP address; empty if the client signed the proof, so that only the client can use up its limit. */
  readonly address: string
}

/**
 * Stores short-lived values under names. The store contains only the digest of a name and the sealed value, so values
 * that were written without the secret key are ignored. The bound of the kind limits the number of values of each owner
 * and the size of a value.
 */
export class TransientValues<T> {
  readonly #kind: SecretKind
  readonly #context: RecordsContext
  readonly #bound: Bound

  /** @param own the bound that an extension declares for its kind */
  constructor(
    kind: ShortLivedKind | OwnKind,
    context: RecordsContext,
    own?: Partial<Pick<Counted, 'most' | 'size'>>,
  ) {
    this.#bound = boundOf(kind, own)
    this.#kind = this.#bound.storedAs ?? (kind as SecretKind)
    this.#context = context
  }

  /** Returns the digest of a name, which the store contains instead of the name. */
  digest(name: string): Digest {
    return digestOf(this.#kind, name)
  }

  /**
   * Stores a value and returns its random name.
   * @param owner the user, address or other owner by which the values of the kind are counted
   * @throws OAuthError 413 if the value is larger than the kind allows
   */
  put(value: T, expiresAt: number, owner: string): Promise<string> {
    return retryOnCollision(async () => {
      const name = randomString(bits256, this.#context.random)
      return (await this.claim(name, value, expiresAt, owner)) ? name : undefined
    })
  }

  /**
   * Stores a value under a free name. Returns false if the name is taken, also by a concurrent caller.
   * @param owner required if the values of the kind are counted by owner
   */
  async claim(name: string, value: T, expiresAt: number, owner?: string): Promise<boolean> {
    return this.#context.transients.put(...this.#row(name, value, expiresAt, owner))
  }

  /**
   * Claims the name of a proof that may be used once. The proof remains stored for `replayMargin` after its expiry.
   * @throws OAuthError 429 if the sender uses too many proofs. No proof is removed, because it could then be used again.
   */
  async claimOnce(
    name: string,
    value: T,
    expiresAt: number,
    { clientId, address }: Sender,
  ): Promise<boolean> {
    if (!('limit' in this.#bound))
      throw new TypeError(`The kind ${this.#kind} has no limit for proofs.`)
    const { limits } = this.#context
    const { limit } = this.#bound
    limits.check(limit, address, clientId)
    // Round up, because the times of a JWT may have fractions, and times in the database may not.
    const isFirst = await this.claim(name, value, Math.ceil(expiresAt) + replayMargin)
    await limits.countFailure(limit, address, clientId)
    return isFirst
  }

  /**
   * Stores a value, or replaces the value with the same name.
   * @param owner required if the values of the kind are counted by owner
   */
  async set(name: string, value: T, expiresAt: number, owner?: string): Promise<void> {
    await this.#context.transients.set(...this.#row(name, value, expiresAt, owner))
  }

  /** Returns the value without removing it; undefined if it does not exist, has expired, or was tampered with. */
  get(name: string): Promise<T | undefined> {
    return this.getDigest(this.digest(name))
  }

  /** Returns the values in the order of the names, in one round trip. */
  async getMany(names: readonly string[]): Promise<readonly (T | undefined)[]> {
    if (names.length === 0) return []
    const keys = names.map((name) => this.#key(name))
    const found = await this.#context.transients.get(keys, this.#context.clock())
    return keys.map((key, index) => this.#opened(key, found[index]?.value))
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

  /** Returns the value under the name with this digest. */
  async getDigest(digest: Digest): Promise<T | undefined> {
    const key = `${this.#kind}:${digest}`
    const { transients, clock } = this.#context
    const [found] = await transients.get([key], clock())
    return this.#opened(key, found?.value)
  }

  /** Removes the value under the name with this digest. */
  deleteDigest(digest: Digest): Promise<void> {
    return this.#context.transients.delete(`${this.#kind}:${digest}`)
  }

  /** Removes the value, if it exists. */
  delete(name: string): Promise<void> {
    return this.deleteDigest(this.digest(name))
  }

  #key(name: string): string {
    return `${this.#kind}:${this.digest(name)}`
  }

  #room(owner: string | undefined, { length }: string): Room | undefined {
    if (!('per' in this.#bound)) return undefined
    const { per } = this.#bound
    const most = Math.min(this.#bound.most, Math.floor(maxOwnerSize / length))
    if (owner === undefined)
      throw new TypeError(`A short-lived value of the kind ${this.#kind} needs its owner: ${per}.`)
    // Store a digest, so that the database contains neither IP addresses nor e-mail addresses.
    return { owner: `${this.#kind}:${digestOf(this.#kind, `owner ${owner}`)}`, most }
  }

  #row(name: string, value: T, expiresAt: number, owner?: string): Parameters<Transients['put']> {
    const key = this.#key(name)
    // Seal the expiry too, because an attacker could change the expiry column without the secret key.
    const text = JSON.stringify({ expiresAt, value })
    if (text.length > this.#bound.size)
      throw new OAuthError('invalid_request', 'The request is too long to be stored.', {
        status: 413,
      })
    const sealed = this.#context.keys.seal('transient', text, [key])
    return [key, sealed, expiresAt, this.#context.clock(), this.#room(owner, sealed)]
  }

  #opened(key: string, sealed: string | null | undefined): T | undefined {
    const { keys, clock } = this.#context
    const text = keys.open('transient', sealed ?? '', [key])
    if (text === undefined || text === '') return undefined
    const { expiresAt, value } = JSON.parse(text) as { expiresAt: number; value: T }
    return clock() < expiresAt ? value : undefined
  }
}
