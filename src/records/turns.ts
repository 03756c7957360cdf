import { StoreUnavailable } from '../store/contract/errors.ts'
import type { Store } from '../store/store.ts'

/** The maximum time for which a transaction waits in the queue, in milliseconds. */
const patience = 5_000

/**
 * The pause before some of the queued transactions, in milliseconds. Node.js accepts few connections per iteration of
 * the event loop, so a long queue without pauses would delay new connections.
 */
const pause = 2
/** One of this many queued transactions begins after a pause. */
const transactionsPerPause = 8

interface Waiting {
  /** @param rest the pause before the transaction, in milliseconds */
  begin(rest: number): void
}

/**
 * Queues transactions that lock the same row, and runs them one after the other. In PostgreSQL, each transaction that
 * waits for a lock holds a connection. Without this queue, many requests for one row could occupy all connections of
 * the pool.
 */
export class Turns {
  readonly #root: Store
  readonly #queues = new Map<string, Set<Waiting>>()
  #begun = 0

  constructor(root: Store) {
    this.#root = root
  }

  /**
   * Runs a transaction in the queue of a row. If `store` already belongs to a transaction, the work runs immediately,
   * because that transaction already holds a connection.
   * @param row a name for the row that the transaction locks first
   * @throws StoreUnavailable if the transaction waits longer than `patience`
   */
  async transaction<T>(store: Store, row: string, work: (tx: Store) => Promise<T>): Promise<T> {
    if (store !== this.#root) return store.transaction(work)
    const queue = this.#queues.get(row)
    if (queue) await turnIn(queue)
    else this.#queues.set(row, new Set())
    try {
      return await store.transaction(work)
    } finally {
      this.#next(row)
    }
  }

  #next(row: string): void {
    const queue = this.#queues.get(row)
    const [next] = queue ?? []
    if (!next) {
      this.#queues.delete(row)
      return
    }
    queue?.delete(next)
    this.#begun += 1
    next.begin(this.#begun % transactionsPerPause === 0 ? pause : 0)
  }
}

const turnIn = (queue: Set<Waiting>): Promise<void> =>
  new Promise((resolve, reject) => {
    const waiting = {
      begin(rest: number) {
        clearTimeout(timer)
        if (rest > 0) setTimeout(resolve, rest)
        else resolve()
      },
    }
    const timer = setTimeout(() => {
      queue.delete(waiting)
      reject(new StoreUnavailable('Too many requests change the same row.'))
    }, patience)
    queue.add(waiting)
  })
