import { tooMany } from '../records/limits.ts'

/** The maximum number of concurrent requests of one sender. The store combines their statements into batches. */
const maxRunning = 32
/** The maximum number of waiting requests of one sender. */
const maxWaiting = 1_000
/** The maximum wait of a request in milliseconds. A request that waited longer is refused. */
const maxWait = 30_000
/**
 * Delayed requests usually wait for a quiet turn of the event loop (see below). If the last request of a sender began
 * more than this number of turns ago, the sender's next request does not wait for a quiet turn.
 */
const restingTurns = 32
/** The target range for the duration of a turn, in milliseconds. `#adapt` changes the number of requests per turn. */
const minTurn = 3
const maxTurn = 6

interface Queue {
  readonly sender: string
  running: number
  /** The number of the turn in which the last request of this queue began. */
  lastBegin: number
  readonly waiting: (() => void)[]
}

/**
 * Delays the token requests of a sender that sends many at once.
 *
 * Node accepts one connection per turn of the event loop. If each turn also processed requests of a burst, turns would
 * be long, and the server would accept new connections slowly. Delayed requests therefore usually begin after a quiet
 * turn, in which no further request was delayed. Then a few requests begin in each turn, and the senders alternate.
 */
export class TokenQueues {
  /** The queues by sender. An empty queue is removed in one of the next turns. */
  readonly #queues = new Map<string, Queue>()
  /**
   * The queues that the next turns process, longest wait first. A turn begins one request of a queue, or removes the
   * queue if it is empty.
   */
  readonly #ready = new Set<Queue>()
  #turns = 0
  #isTurnScheduled = false
  /** Whether no request was delayed since the last turn. */
  #isQuiet = true
  /** The number of requests that begin in the next quiet turn. */
  #requestsPerTurn = 1
  /** The start time of the last turn; undefined if no request began in that turn. */
  #begun: number | undefined

  /**
   * Runs the work of a request, immediately or after a wait in the sender's queue.
   * @param sender the IP address and the unverified credentials of the request. Requests with a wrong secret wait in a
   * separate queue, so they cannot fill the queue of the client.
   * @throws OAuthError 429 with `Retry-After` if too many requests are waiting or this request waited too long
   */
  async run<T>(sender: string, work: () => Promise<T>): Promise<T> {
    const until = performance.now() + maxWait
    const queue = this.#queueOf(sender)
    const isFree = queue.running < maxRunning && queue.waiting.length === 0
    if (isFree && this.#isRested(queue)) this.#count(queue)
    else await this.#turnIn(queue)
    try {
      if (performance.now() > until) throw tooMany(maxWait)
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
    return this.#turns - lastBegin > restingTurns
  }

  #count(queue: Queue): void {
    queue.running += 1
    queue.lastBegin = this.#turns
  }

  #turnIn(queue: Queue): Promise<void> {
    this.#isQuiet = false
    if (queue.waiting.length >= maxWaiting) throw tooMany(maxWait)
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
    const begun = this.#begin(this.#isQuiet ? this.#requestsPerTurn : 1)
    if (begun > 0) this.#begun = before
    if (this.#queues.size === 0) this.#requestsPerTurn = 1
    this.#isQuiet = true
    this.#isTurnScheduled = false
    this.#schedule()
  }

  /**
   * Adapts the number of requests per turn to the duration of the last turn. With SQLite, a turn includes all work of
   * its requests. With PostgreSQL, a turn includes only the work before the first database query of each request.
   */
  #adapt(): void {
    if (this.#begun === undefined) return
    const took = performance.now() - this.#begun
    this.#begun = undefined
    if (took < minTurn) this.#requestsPerTurn = Math.min(maxRunning, this.#requestsPerTurn * 2)
    else if (took > maxTurn) this.#requestsPerTurn = Math.max(1, this.#requestsPerTurn / 2)
  }

  /** Begins up to `max` waiting requests. Returns how many requests have begun. */
  #begin(max: number): number {
    let begun = 0
    for (const queue of this.#ready) {
      if (begun === max || !(this.#isQuiet || this.#isRested(queue))) break
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
