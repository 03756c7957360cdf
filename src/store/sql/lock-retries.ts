import { StoreUnavailable } from '../contract/errors.ts'
import { sqlStateOf } from './postgres/errors.ts'

/** Milliseconds for which a statement waits for a lock before it releases its connection. */
export const lockTimeout = 100

export interface LockRetriesOptions {
  readonly poolSize: number
  /** Milliseconds after the first lock timeout in which further attempts may begin. */
  readonly limit: number
  /** The maximum time for which a transaction waits for a free slot, in milliseconds. */
  readonly connectTimeout: number
}

/**
 * Prevents callers that wait for a locked row from occupying the connection pool. Every connection has a short
 * `lock_timeout`. A statement or transaction that exceeds this timeout releases its connection, and is retried until a
 * time limit. At most about half of the connections serve retries, and at most about three quarters serve transactions.
 * The other connections remain free for single statements.
 */
export class LockRetries {
  readonly #limit: number
  readonly #connectTimeout: number
  readonly #retries: Slots
  readonly #transactions: Slots

  constructor({ poolSize, limit, connectTimeout }: LockRetriesOptions) {
    this.#limit = limit
    this.#connectTimeout = connectTimeout
    this.#retries = new Slots(Math.max(1, Math.floor(poolSize / 2)))
    this.#transactions = new Slots(Math.max(1, poolSize - Math.floor(poolSize / 4)))
  }

  /** The number of callers that wait for a slot, and thus for a connection. */
  get waiting(): number {
    return this.#retries.waiting + this.#transactions.waiting
  }

  /** Runs the work, and retries it after lock timeouts. @throws the error of the last attempt */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      return this.again(work, error)
    }
  }

  /**
   * Retries work that has found a locked row, in one of the slots for retries.
   * @param error the error to throw if no slot becomes free within the limit
   * @throws the error of the last attempt
   */
  async again<T>(work: () => Promise<T>, error: unknown = rowsWereLocked()): Promise<T> {
    const until = performance.now() + this.#limit
    let last = error
    // Prefer work with few attempts. Work with many attempts probably waits for a row that remains locked.
    for (let attempts = 1; await this.#retries.take(attempts, until); attempts += 1) {
      try {
        return await work()
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        last = error
      } finally {
        this.#retries.give()
      }
    }
    throw last
  }

  /** Runs and retries a whole transaction, which `work` begins and ends. */
  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.run(async () => {
      if (!(await this.#transactions.take(0, performance.now() + this.#connectTimeout)))
        throw new StoreUnavailable('No connection for a transaction became free in time.')
      try {
        return await work()
      } finally {
        this.#transactions.give()
      }
    })
  }
}

const rowsWereLocked = (): StoreUnavailable =>
  new StoreUnavailable('A row was locked for too long.')

export const isLockTimeout = (error: unknown): boolean =>
  error instanceof StoreUnavailable && sqlStateOf(error.cause) === '55P03'

interface Waiting {
  readonly attempts: number
  readonly proceed: () => void
}

/** A bounded number of slots. Waiters with the fewest attempts get a free slot first. */
class Slots {
  #free: number
  readonly #waiting: Waiting[] = []

  constructor(count: number) {
    this.#free = count
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Waits for a slot until the time `until` of `performance.now()`. Returns false if no slot became free. */
  async take(attempts: number, until: number): Promise<boolean> {
    const left = until - performance.now()
    if (left <= 0) return false
    if (this.#free > 0) {
      this.#free -= 1
      return true
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        attempts,
        proceed: () => {
          clearTimeout(timer)
          resolve(true)
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        resolve(false)
      }, left)
      const next = this.#waiting.findIndex((other) => other.attempts > attempts)
      this.#waiting.splice(next < 0 ? this.#waiting.length : next, 0, waiting)
    })
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next) next.proceed()
    else this.#free += 1
  }
}
