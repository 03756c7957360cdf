/** The requester of a job. */
export interface Requester {
  /** Requesters of the same lane share its turns: a network, or a user with a known browser. */
  readonly lane: string
  /** Known requesters get every second turn while strangers wait. */
  readonly isKnown: boolean
}

/** The application itself, which takes turns with known browsers. */
export const application: Requester = { lane: 'application', isKnown: true }

export interface FairQueueOptions {
  /** The maximum number of concurrent jobs. */
  readonly atOnce: number
  /** The maximum number of waiting jobs, for known requesters and for strangers each. */
  readonly longest: number
  /** Creates the error for a job that finds no place or loses it. */
  readonly full: () => Error
}

interface Job {
  readonly start: () => void
  readonly refuse: () => void
}

/** The waiting jobs by lane. The first lane has the next turn. */
interface Waiting {
  readonly lanes: Map<string, Job[]>
  count: number
}

/**
 * Runs a bounded number of concurrent jobs. The lanes take turns, so a lane with many jobs delays another lane by at
 * most one job. If the queue is full, the longest lane loses its latest job.
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

  /** Returns whether a job of this requester would find a place now. */
  hasRoom({ lane, isKnown }: Requester): boolean {
    const waiting = this.#waiting(isKnown)
    return waiting.count < this.#options.longest || longestLane(waiting, lane) !== undefined
  }

  /** Runs a job. Rejects if the queue is full, or if the job has to give its place to another lane. */
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

/** Takes the next job from the first lane, and moves the lane to the end. */
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

/** Returns the lane that gives up a job for `lane`: the longest one, if it has at least two jobs more. */
const longestLane = ({ lanes }: Waiting, lane: string): Job[] | undefined => {
  let longest: Job[] = []
  for (const jobs of lanes.values()) if (jobs.length > longest.length) longest = jobs
  return longest.length > (lanes.get(lane)?.length ?? 0) + 1 ? longest : undefined
}
