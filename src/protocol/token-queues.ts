import { tooMany } from '../records/limits.ts'

/** The maximum number of concurrent requests of one sender: enough to fill the batches of the store. */
const maxRunning = 32
/** The maximum number of waiting requests of one sender. */
const maxWaiting = 1_000
/** Milliseconds after which a request that still waits is refused. */
const patience = 30_000
/** Turns of the event loop after which a sender may begin another request even though requests still arrive. */
const rest = 32
/** The minimum and maximum milliseconds that requests that begin together should take. */
const minTurn = 3
const maxTurn = 6

interface Queue {
  readonly sender: string
  running: number
  /** The number of the turn in which its last request began. */
  lastBegin: number
  readonly waiting: (() => void)[]
}

/**
 * Delays the token requests of a sender that sends many at once.
 *
 * Node accepts one connection per turn of the event loop. A delayed request therefore begins only after a turn in which
 * no other request was delayed: the server accepts and reads a whole burst before it works on it, so a new connection
 * of another caller does not wait for that work. Then a few requests begin in each turn, one sender after the other.
 */
export class TokenQueues {
  /** The queues by sender. An empty queue is removed in the next quiet turn. */
  readonly #queues = new Map<string, Queue>()
  /** Queues in which a request can begin, and empty queues. The queue that has waited longest comes first. */
  readonly #ready = new Set<Queue>()
  #turns = 0
  #isTurnScheduled = false
  /** Whether no request has started to wait since the last turn. */
  #isQuiet = true
  /** The number of requests that begin in the next quiet turn. */
  #atOnce = 1
  /** The time at which the last turn began requests, if it did. */
  #begun: number | undefined

  /**
   * Runs the work of a request, immediately or after a wait in the sender's queue.
   * @param sender the address and the credentials that the request presents, not checked yet: a caller who does not
   * know the secret of a client cannot fill its queue
   * @throws OAuthError 429 with `Retry-After` if too many requests wait already, or if this one waited for too long
   */
  async run<T>(sender: string, work: () => Promise<T>): Promise<T> {
    const until = performance.now() + patience
    const queue = this.#queueOf(sender)
    const isFree = queue.running < maxRunning && queue.waiting.length === 0
    if (isFree && this.#isRested(queue)) this.#count(queue)
    else await this.#turnIn(queue)
    try {
      if (performance.now() > until) throw tooMany(patience)
      return await work()
    } finally {
      queue.running -= 1
      this.#look(queue)
    }
  }

  #queueOf(sender: string): Queue {
    let queue = this.#queues.get(sender)
    if (!queue) {
      queue = { sender, running: 0, lastBegin: Number.NEGATIVE_INFINITY, waiting: [] }
      this.#queues.set(sender, queue)
    }
    return queue
  }

  #isRested({ lastBegin }: Queue): boolean {
    return this.#turns - lastBegin > rest
  }

  #count(queue: Queue): void {
    queue.running += 1
    queue.lastBegin = this.#turns
  }

  #turnIn(queue: Queue): Promise<void> {
    this.#isQuiet = false
    if (queue.waiting.length >= maxWaiting) throw tooMany(patience)
    return new Promise((resolve) => {
      queue.waiting.push(resolve)
      this.#look(queue)
    })
  }

  #look(queue: Queue): void {
    if (queue.running < maxRunning) this.#ready.add(queue)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isTurnScheduled || this.#ready.size === 0) return
    this.#isTurnScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#turns += 1
    this.#adapt()
    const before = performance.now()
    const begun = this.#begin(this.#isQuiet ? this.#atOnce : 1)
    if (begun > 0) this.#begun = before
    if (this.#queues.size === 0) this.#atOnce = 1
    this.#isQuiet = true
    this.#isTurnScheduled = false
    this.#schedule()
  }

  /**
   * Adapts the number of requests per turn. With SQLite, work ends in its turn, so the time until the next turn
   * measures it.
   */
  #adapt(): void {
    if (this.#begun === undefined) return
    const took = performance.now() - this.#begun
    this.#begun = undefined
    if (took < minTurn) this.#atOnce = Math.min(maxRunning, this.#atOnce * 2)
    else if (took > maxTurn) this.#atOnce = Math.max(1, this.#atOnce / 2)
  }

  /** @returns how many requests it has begun */
  #begin(most: number): number {
    let begun = 0
    for (const queue of this.#ready) {
      if (begun === most || !(this.#isQuiet || this.#isRested(queue))) break
      this.#ready.delete(queue)
      const begin = queue.waiting.shift()
      if (begin) {
        begun += 1
        this.#count(queue)
        begin()
        if (queue.running < maxRunning && queue.waiting.length > 0) this.#ready.add(queue)
      } else if (queue.running === 0) this.#queues.delete(queue.sender)
    }
    return begun
  }
}
