import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { application, FairQueue, type Requester } from './fair-queue.ts'
import { HashThread } from './hash-thread.ts'

/** Memory in KiB, passes and lanes: OWASP's recommendation for argon2id (19 MiB, 2, 1). */
const cost = { memory: 19_456, passes: 2, parallelism: 1 }
const tagLength = 32

/** Concurrent hashes: one core stays free for requests, and at most two hashes use memory. */
const atOnce = Math.min(2, Math.max(1, availableParallelism() - 1))
const maxQueueLength = 200
/** The threads of the process, which several servers share. */
const threads = Array.from({ length: atOnce }, () => new HashThread())

const phc =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,172})$/

/** The error if more passwords wait than this process can hash in reasonable time. */
export class PasswordHashingBusy extends Error {
  override readonly name = 'PasswordHashingBusy'
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replaceAll('=', '')

const toPhc = (salt: Uint8Array, tag: Uint8Array): string =>
  `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(salt)}$${base64(tag)}`

// The hash for unknown users, so that their check takes as long as that of known ones.
const unknownUserHash = toPhc(new Uint8Array(16), new Uint8Array(tagLength))

const busy = (): PasswordHashingBusy =>
  new PasswordHashingBusy('Too many passwords are being checked.')

/** Hashes and checks passwords with argon2id (RFC 9106), with bounded concurrency. */
export class PasswordHasher {
  readonly #queue = new FairQueue({ atOnce, longest: maxQueueLength, full: busy })
  #turn = 0

  /** Checks for room in the queue. @throws PasswordHashingBusy if a check for this requester would find no place */
  requireRoom(requester: Requester): void {
    if (!this.#queue.hasRoom(requester)) throw busy()
  }

  /** Returns the PHC string of a password. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16)
    return toPhc(salt, await this.#derive(password, salt, cost, application))
  }

  /** Compares a password with a PHC string. Without one, takes the same time and returns false. */
  async check(
    password: string,
    stored: string | null | undefined,
    requester: Requester = application,
  ): Promise<boolean> {
    const match = phc.exec(stored ?? unknownUserHash)
    if (!match) return false
    const [memory = 0, passes = 0, parallelism = 0] = match.slice(1, 4).map(Number)
    const [salt = '', expected = ''] = match.slice(4)
    // RFC 9106 §3.1: refuse parameters that argon2id does not allow.
    if (passes < 1 || parallelism < 1 || memory < 8 * parallelism) return false
    const costs = { memory, passes, parallelism }
    const tag = await this.#derive(password, Buffer.from(salt, 'base64'), costs, requester)
    const wanted = Buffer.from(expected, 'base64')
    return Boolean(stored) && wanted.length === tag.length && timingSafeEqual(wanted, tag)
  }

  /** Rejects with PasswordHashingBusy. */
  #derive(
    password: string,
    nonce: Uint8Array,
    { memory, passes, parallelism }: typeof cost,
    requester: Requester,
  ): Promise<Uint8Array> {
    const message = password.normalize('NFC')
    return this.#queue.run(requester, () => {
      this.#turn = (this.#turn + 1) % threads.length
      const thread = threads[this.#turn] as HashThread
      return thread.run({ message, nonce, memory, passes, parallelism, tagLength })
    })
  }
}
