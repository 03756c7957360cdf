/** Who waits for a place in the queue. */
export interface Requester {
  /** Requesters of one lane share what the lane gets: a network, or a user whose browser is known. */
  readonly lane: string
  /** Known requesters get every second place while strangers wait. */
  readonly isKnown: boolean
}

/** Code of the application itself: it takes turns with the browsers that are known. */
export const application: Requester = { lane: 'application', isKnown: true }

export interface FairQueueOptions {
  /** Jobs that run at the same time. */
  readonly atOnce: number
  /** Jobs that wait at most: of known requesters, and as many of strangers. */
  readonly longest: number
  /** The error for a job that finds no place, or loses it. */
  readonly full: () => Error
}

interface Job {
  readonly start: () => void
  readonly refuse: () => void
}

/** Jobs that wait, by lane: the lane at the front has the next turn. */
interface Waiting {
  readonly lanes: Map<string, Job[]>
  count: number
}

/**
 * Runs a bounded number of jobs at a time. The lanes take turns, so a lane with many jobs delays another lane by one
 * job at most. Where the queue is full, the lane that fills it loses its latest job.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #known: Waiting = { lanes: new Map(), count: 0 }
  readonly #strangers: Waiting = { lanes: new Map(), count: 0 }
  #running = 0
  #wasKnown = false

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** Whether a job of this requester would find a place now. */
  hasRoom({ lane, isKnown }: Requester): boolean {
    const waiting = this.#waiting(isKnown)
    return waiting.count < this.#options.longest || longestLane(waiting, lane) !== undefined
  }

  /** Rejects with the error for a full queue where the job finds no place, or has to give it to another lane. */
  run<T>(requester: Requester, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(this.#options.full())
      const start = () => {
        this.#running += 1
        work()
          .then(resolve, reject)
          .finally(() => {
            this.#running -= 1
            this.#next()
          })
      }
      if (this.#running < this.#options.atOnce) start()
      else this.#wait(requester, { start, refuse })
    })
  }

  #wait({ lane, isKnown }: Requester, job: Job): void {
    const waiting = this.#waiting(isKnown)
    if (waiting.count >= this.#options.longest) {
      const longest = longestLane(waiting, lane)
      if (longest === undefined) {
        job.refuse()
        return
      }
      longest.pop()?.refuse()
      waiting.count -= 1
    }
    const jobs = waiting.lanes.get(lane) ?? []
    jobs.push(job)
    waiting.lanes.set(lane, jobs)
    waiting.count += 1
  }

  #next(): void {
    const isKnown = this.#strangers.count === 0 || (this.#known.count > 0 && !this.#wasKnown)
    this.#wasKnown = isKnown
    take(this.#waiting(isKnown))?.start()
  }

  #waiting(isKnown: boolean): Waiting {
    return isKnown ? this.#known : this.#strangers
  }
}

/** The next job, of the lane at the front, which goes to the end. */
const take = (waiting: Waiting): Job | undefined => {
  const [first] = waiting.lanes
  if (!first) return undefined
  const [lane, jobs] = first
  const job = jobs.shift()
  waiting.count -= 1
  waiting.lanes.delete(lane)
  if (jobs.length > 0) waiting.lanes.set(lane, jobs)
  return job
}

/** The lane that has to give up a job for one of `lane`: it has at least two jobs more. */
const longestLane = ({ lanes }: Waiting, lane: string): Job[] | undefined => {
  let longest: Job[] = []
  for (const jobs of lanes.values()) if (jobs.length > longest.length) longest = jobs
  return longest.length > (lanes.get(lane)?.length ?? 0) + 1 ? longest : undefined
}
