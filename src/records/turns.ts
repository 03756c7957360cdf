import { StoreUnavailable } from '../store/contract/errors.ts'
import type { Store } from '../store/store.ts'

/** The maximum time for which a transaction waits, in milliseconds. */
const patience = 5_000

/**
 * The pause between transactions of the same queue, in milliseconds. Node.js accepts one connection per iteration of
 * the event loop, so a long queue without pauses would delay all new connections.
 */
const pause = 2
/** The number of transactions between two pauses. */
const piecesBetweenPauses = 8

interface Waiting {
  /** @param rest milliseconds */
  begin(rest: number): void
}

/**
 * Runs transactions that lock the same row one after the other. In PostgreSQL, each transaction that waits for a lock
 * holds a connection. Without this queue, many requests for one row would occupy all connections of the pool.
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
   * @param row the row that the transaction locks first
   * @throws StoreUnavailable if the wait takes too long
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
    next.begin(this.#begun % piecesBetweenPauses === 0 ? pause : 0)
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
