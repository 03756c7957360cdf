import { setTimeout as delay } from 'node:timers/promises'
import { FairQueue } from '../queues/fair-queue.ts'
import { StoreUnavailable } from '../store/contract/errors.ts'
import type { Store } from '../store/store.ts'

/** The maximum time for which a transaction waits in the queue, in milliseconds. */
const maxWait = 5_000

/**
 * The pause before some of the queued transactions, in milliseconds. Node.js accepts few connections per iteration of
 * the event loop, so a long queue without pauses would delay new connections.
 */
const pause = 2
/** One of this many queued transactions begins after a pause. */
const transactionsPerPause = 8

/**
 * Queues transactions that lock the same row, and runs them one after the other. In PostgreSQL, each transaction that
 * waits for a lock holds a connection. Without this queue, many requests for one row could occupy all connections of
 * the pool.
 */
export class Turns {
  readonly #root: Store
  readonly #queue = new FairQueue({
    maxRunningOfLane: 1,
    maxWait,
    full: () => new StoreUnavailable('Too many requests change the same row.'),
  })
  #begun = 0

  constructor(root: Store) {
    this.#root = root
  }

  /**
   * Runs a transaction in the queue of a row. If `store` already belongs to a transaction, the work runs immediately,
   * because that transaction already holds a connection.
   * @param row a name for the row that the transaction locks first
   * @throws StoreUnavailable if the transaction waits longer than `maxWait`
   */
  async transaction<T>(store: Store, row: string, work: (tx: Store) => Promise<T>): Promise<T> {
    if (store !== this.#root) return store.transaction(work)
    let hasWaited = false
    const done = this.#queue.run({ lane: row }, async () => {
      if (hasWaited) {
        this.#begun += 1
        if (this.#begun % transactionsPerPause === 0) await delay(pause)
      }
      return store.transaction(work)
    })
    hasWaited = true
    return done
  }
}
