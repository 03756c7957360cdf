import { type Store, StoreUnavailable } from '../store/store.ts'

/** Milliseconds that a caller waits for its turn. */
const patience = 2_000

/**
 * Milliseconds between two pieces of work that waited in the same queue. In each turn of the event loop Node accepts one
 * connection, so a queue that is worked off without a pause keeps all new connections waiting.
 */
export const pause = 2

interface Waiting {
  begin(): void
}

/**
 * Runs transactions that lock the same row one after the other. In PostgreSQL each transaction that waits for a lock
 * holds a connection: without turns, many requests for one row take the whole pool, and all other requests wait.
 */
export class Turns {
  readonly #root: Store
  readonly #queues = new Map<string, Set<Waiting>>()

  constructor(root: Store) {
    this.#root = root
  }

  /**
   * Within another transaction there is no turn to wait for: that holds a connection already.
   * @param row names the row that the transaction locks first
   * @throws StoreUnavailable where the transactions before it take too long
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
    next.begin()
  }
}

const turnIn = (queue: Set<Waiting>): Promise<void> =>
  new Promise((resolve, reject) => {
    const waiting = {
      begin() {
        clearTimeout(timer)
        setTimeout(resolve, pause)
      },
    }
    const timer = setTimeout(() => {
      queue.delete(waiting)
      reject(new StoreUnavailable('Too many requests change the same row.'))
    }, patience)
    queue.add(waiting)
  })
