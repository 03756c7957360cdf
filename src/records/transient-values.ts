import { type Digest, digestOf, type SecretKind } from '../crypto/digest.ts'
import { bits256, randomString } from '../crypto/random.ts'
import { type RecordsContext, retryOnCollision } from './context.ts'

/** Milliseconds that a spent proof is remembered beyond its end, for nodes whose clocks are behind. */
const replayMargin = 300_000

/**
 * Short-lived values under a random name that only its holder knows. The store sees a digest and a
 * sealed value, so what is written there without the key is never believed.
 */
export class TransientValues<T> {
  readonly #kind: SecretKind
  readonly #context: RecordsContext

  constructor(kind: SecretKind, context: RecordsContext) {
    this.#kind = kind
    this.#context = context
  }

  digest(name: string): Digest {
    return digestOf(this.#kind, name)
  }

  /** Keeps the value and returns the name by which it is found again. */
  put(value: T, expiresAt: number): Promise<string> {
    return retryOnCollision(async () => {
      const name = randomString(bits256, this.#context.random)
      return (await this.claim(name, value, expiresAt)) ? name : undefined
    })
  }

  /** Keeps the value under a name of the caller's, unless there is one already: of concurrent callers, one succeeds. */
  claim(name: string, value: T, expiresAt: number): Promise<boolean> {
    const { transients, clock } = this.#context
    return transients.put(this.#key(name), this.#sealed(name, value, expiresAt), expiresAt, clock())
  }

  /** The same for a proof that counts once: it is remembered until no node takes it any more, by its own clock. */
  claimOnce(name: string, value: T, expiresAt: number): Promise<boolean> {
    // The times of a JWT may have fractions, a time in the database has none.
    return this.claim(name, value, Math.ceil(expiresAt) + replayMargin)
  }

  /** Stores a value under a name of the caller, and replaces a former one. */
  async set(name: string, value: T, expiresAt: number): Promise<void> {
    const { transients, clock } = this.#context
    const sealed = this.#sealed(name, value, expiresAt)
    await transients.set(this.#key(name), sealed, expiresAt, clock())
  }

  async get(name: string): Promise<T | undefined> {
    const key = this.#key(name)
    return this.#opened(key, await this.#context.transients.get(key, this.#context.clock()))
  }

  /** Removes and returns the value; of concurrent callers, exactly one receives it. */
  async take(name: string): Promise<T | undefined> {
    const key = this.#key(name)
    return this.#opened(key, await this.#context.transients.take(key, this.#context.clock()))
  }

  /** Counts failed attempts on the value; every caller gets another number. */
  countFailure(name: string, expiresAt: number): Promise<number> {
    const { transients, clock } = this.#context
    return transients.increment(`${this.#key(name)}:failures`, expiresAt, clock())
  }

  delete(name: string): Promise<void> {
    return this.#context.transients.delete(this.#key(name))
  }

  #key(name: string): string {
    return `${this.#kind}:${this.digest(name)}`
  }

  // The end is sealed along: the store's own, beside the value, can be written without the key.
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
