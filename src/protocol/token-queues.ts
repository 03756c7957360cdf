import { tooMany } from '../records/limits.ts'
import { pause } from '../records/turns.ts'

/** Requests of one sender that run at the same time: enough to fill the batches of the store. */
const mostRunning = 32
/** Requests of one sender that wait. */
const mostWaiting = 1_000
/** Milliseconds after which a request that still waits is refused. */
const patience = 30_000

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Limits how many token requests of one sender run at the same time; the others wait in the order of their arrival.
 * So a burst of one client does not keep the event loop or the store from the requests of others.
 */
export class TokenQueues {
  /** By sender, while requests of it run. */
  readonly #queues = new Map<string, Queue>()

  /**
   * Runs the work of a request when its turn comes.
   * @param sender the address and the credentials that the request presents, not checked yet: who does not know
   * the secret of a client cannot fill its queue
   * @throws OAuthError 429 with `Retry-After`, where too many requests wait already, or this one waited for too long
   */
  async run<T>(sender: string, work: () => Promise<T>): Promise<T> {
    let until = Number.POSITIVE_INFINITY
    const queue = this.#queues.get(sender)
    if (!queue) this.#queues.set(sender, { running: 1, waiting: [] })
    else if (queue.running < mostRunning) queue.running += 1
    else {
      if (queue.waiting.length >= mostWaiting) throw tooMany(patience)
      until = performance.now() + patience
      await new Promise<void>((resolve) => queue.waiting.push(resolve))
    }
    try {
      if (performance.now() > until) throw tooMany(patience)
      return await work()
    } finally {
      this.#end(sender)
    }
  }

  #end(sender: string): void {
    const queue = this.#queues.get(sender)
    const next = queue?.waiting.shift()
    // It takes over the place.
    if (next) setTimeout(next, pause)
    else if (queue && queue.running > 1) queue.running -= 1
    else this.#queues.delete(sender)
  }
}
