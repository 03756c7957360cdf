import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { application, FairQueue, type Requester } from '../../queues/fair-queue.ts'
import { HashThread } from './hash-thread.ts'

/** The cost of argon2id that OWASP recommends; memory in KiB. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 }
const tagLength = 32

/** The maximum number of concurrent hashes. On several cores, one core remains free. Two hashes need 38 MiB of memory. */
const maxRunning = Math.min(2, Math.max(1, availableParallelism() - 1))
const maxQueueLength = 200
/** The hashing threads, which all servers in this process share. */
const threads = Array.from({ length: maxRunning }, () => new HashThread())

const phc =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,172})$/

/** The error for a password that cannot be hashed because the queue is full. */
export class PasswordHashingBusy extends Error {
  override readonly name = 'PasswordHashingBusy'
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replaceAll('=', '')

const toPhc = (salt: Uint8Array, tag: Uint8Array): string =>
  `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(salt)}$${base64(tag)}`

// Check the passwords of unknown users against this hash, so that the response time does not reveal whether a user
// exists.
const unknownUserHash = toPhc(new Uint8Array(16), new Uint8Array(tagLength))

/**
 * Returns a password as it is hashed: in NFC, with other spaces replaced by blanks (RFC 8265 §4.2.2), because some
 * keyboards type a no-break space instead of a blank. Earlier versions kept other spaces, so `check` also compares such
 * a password in NFC alone.
 */
const prepared = (password: string): string => password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC')

const busy = (): PasswordHashingBusy =>
  new PasswordHashingBusy('Too many passwords are being checked.')

/** Hashes and checks passwords with argon2id (RFC 9106). Limits the number of concurrent hashes. */
export class PasswordHasher {
  readonly #queue = new FairQueue({ maxRunning, maxWaiting: maxQueueLength, full: busy })
  #turn = 0

  /** @throws PasswordHashingBusy if the queue would refuse a job of this requester now */
  requireRoom(requester: Requester): void {
    if (!this.#queue.hasRoom(requester)) throw busy()
  }

  /** Returns the PHC string of a password. @throws PasswordHashingBusy */
  async hash(password: string, requester: Requester = application): Promise<string> {
    const salt = randomBytes(16)
    return toPhc(salt, await this.#derive(prepared(password), salt, cost, requester))
  }

  /**
   * Returns whether a password matches a PHC string. Without a PHC string, returns false after the same time.
   * @throws PasswordHashingBusy
   */
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
    const wanted = Buffer.from(expected, 'base64')
    for (const message of new Set([prepared(password), password.normalize('NFC')])) {
      const tag = await this.#derive(message, Buffer.from(salt, 'base64'), costs, requester)
      if (stored && wanted.length === tag.length && timingSafeEqual(wanted, tag)) return true
    }
    return false
  }

  /** @throws PasswordHashingBusy if the queue is full */
  #derive(
    message: string,
    nonce: Uint8Array,
    { memory, passes, parallelism }: typeof cost,
    requester: Requester,
  ): Promise<Uint8Array> {
    return this.#queue.run(requester, () => {
      this.#turn = (this.#turn + 1) % threads.length
      const thread = threads[this.#turn] as HashThread
      return thread.run({ message, nonce, memory, passes, parallelism, tagLength })
    })
  }
}
