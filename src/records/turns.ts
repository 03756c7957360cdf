import { StoreUnavailable } from '../store/contract/errors.ts'
import type { Store } from '../store/store.ts'

/** Milliseconds that a caller waits for its turn. */
const patience = 5_000

/**
 * Milliseconds between pieces of work that waited in the same queue. In each turn of the event loop Node accepts one
 * connection, so a queue that is worked off without a pause keeps all new connections waiting.
 */
const pause = 2
/** Pieces of work between two pauses: they are worked off one at a time. */
const piecesBetweenPauses = 8

interface Waiting {
  /** @param rest milliseconds */
  begin(rest: number): void
}

/**
 * Runs transactions that lock the same row one after the other. In PostgreSQL each transaction that waits for a lock
 * holds a connection: without turns, many requests for one row take the whole pool, and all other requests wait.
 */
export class Turns {
  readonly #root: Store
  readonly #queues = new Map<string, Set<Waiting>>()
  #begun = 0

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
