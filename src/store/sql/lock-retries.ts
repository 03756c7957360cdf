import { FairQueue } from '../../queues/fair-queue.ts'
import { StoreUnavailable } from '../contract/errors.ts'
import { sqlStateOf } from './postgres/errors.ts'

/** Milliseconds for which a statement waits for a lock before it releases its connection. */
export const lockTimeout = 100

export interface LockRetriesOptions {
  readonly poolSize: number
  /** Milliseconds after the first lock timeout in which further attempts may begin. */
  readonly limit: number
  /** The maximum time for which a transaction waits for a free place, in milliseconds. */
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
  readonly #retries: FairQueue
  readonly #transactions: FairQueue

  constructor({ poolSize, limit, connectTimeout }: LockRetriesOptions) {
    this.#limit = limit
    // Prefer work with few attempts. Work with many attempts probably waits for a row that remains locked.
    this.#retries = new FairQueue({
      maxRunning: Math.max(1, Math.floor(poolSize / 2)),
      isRanked: true,
      full: () => new NoPlace(),
    })
    this.#transactions = new FairQueue({
      maxRunning: Math.max(1, poolSize - Math.floor(poolSize / 4)),
      maxWait: connectTimeout,
      full: () => new StoreUnavailable('No connection for a transaction became free in time.'),
    })
  }

  /** The number of callers that wait for a place, and thus for a connection. */
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
   * Retries work that has found a locked row, in one of the places for retries.
   * @param error the error to throw if no place becomes free within the limit
   * @throws the error of the last attempt
   */
  async again<T>(work: () => Promise<T>, error: unknown = rowsWereLocked()): Promise<T> {
    const until = performance.now() + this.#limit
    let last = error
    for (let attempts = 1; ; attempts += 1) {
      const left = until - performance.now()
      if (left <= 0) throw last
      try {
        return await this.#retries.run({ lane: String(attempts) }, work, left)
      } catch (error) {
        if (error instanceof NoPlace) throw last
        if (!isLockTimeout(error)) throw error
        last = error
      }
    }
  }

  /** Runs and retries a whole transaction, which `work` begins and ends. */
  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.run(() => this.#transactions.run({ lane: 'transactions' }, work))
  }
}

/** No place for a retry became free in time. */
class NoPlace extends Error {}

const rowsWereLocked = (): StoreUnavailable =>
  new StoreUnavailable('A row was locked for too long.')

export const isLockTimeout = (error: unknown): boolean =>
  error instanceof StoreUnavailable && sqlStateOf(error.cause) === '55P03'
