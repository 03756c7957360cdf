/** The sender of the request for which a job waits, for instance the hashing of a password. */
export interface Requester {
  /** The lane in which the jobs of the requester wait. Each network, and each user with a known browser, has a lane. */
  readonly lane: string
  /**
   * Whether the requester uses a known browser. While known and unknown requesters wait, the queue serves them
   * alternately.
   */
  readonly isKnown?: boolean
}

/** The application itself, which has the same priority as a known browser. */
export const application: Requester = { lane: 'application', isKnown: true }

export interface FairQueueOptions {
  /** The maximum number of concurrent jobs. Default: unlimited. */
  readonly maxRunning?: number
  /** The maximum number of concurrent jobs of one lane. Default: unlimited. */
  readonly maxRunningOfLane?: number
  /** The maximum number of waiting jobs, separately for known and for unknown requesters. Default: unlimited. */
  readonly maxWaiting?: number
  /** The maximum time for which a job waits, in milliseconds. Default: unlimited. */
  readonly maxWait?: number
  /** Whether the jobs of the lane with the lowest number start first. Default: one job of each lane in turn. */
  readonly isRanked?: boolean
  /** Creates the error for a job that the queue refuses or removes. Required with `maxWaiting` or `maxWait`. */
  readonly full?: () => Error
}

interface Job {
  readonly start: () => void
  readonly refuse: () => void
}

/** The waiting jobs by lane. The next job comes from the first lane. */
interface Waiting {
  readonly lanes: Map<string, Job[]>
  count: number
}

const unlimited = Number.POSITIVE_INFINITY

/**
 * Runs a limited number of concurrent jobs. The queue starts one job of each lane in turn, so that a lane with many
 * jobs does not block the other lanes. `maxRunningOfLane` also limits the concurrent jobs of a lane, if jobs may be
 * slow. If the queue is full, it refuses a new job, with one exception. If the longest lane has at least two jobs more
 * than the lane of the new job, the new job replaces the latest job of the longest lane.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #known: Waiting = { lanes: new Map(), count: 0 }
  readonly #unknown: Waiting = { lanes: new Map(), count: 0 }
  #running = 0
  /** The number of running jobs by lane; empty if the number is unlimited. */
  readonly #runningOfLane = new Map<string, number>()
  #wasKnown = false

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** The number of waiting jobs. */
  get waiting(): number {
    return this.#known.count + this.#unknown.count
  }

  /** Returns whether the queue would accept a job of this requester now. */
  hasRoom({ lane, isKnown }: Requester): boolean {
    const { maxWaiting = unlimited } = this.#options
    const waiting = this.#waiting(isKnown)
    return waiting.count < maxWaiting || longestLane(waiting, lane) !== undefined
  }

  /**
   * Runs a job and returns its result. Rejects if the job fails, if the queue refuses the job, or if a job of another
   * lane replaces this job.
   * @param maxWait the maximum time for which this job waits, in milliseconds
   */
  run<T>(
    requester: Requester,
    work: () => Promise<T>,
    maxWait = this.#options.maxWait,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = () => {
        this.#count(requester, 1)
        // An error that the work throws before its first promise also ends the job.
        const run = async () => work()
        run()
          .then(resolve, reject)
          .finally(() => {
            this.#count(requester, -1)
            this.#next(requester)
          })
      }
      const { maxRunning = unlimited } = this.#options
      if (this.#running < maxRunning && this.#mayStart(requester.lane)) start()
      else this.#wait(requester, { start, refuse: () => reject(this.#options.full?.()) }, maxWait)
    })
  }

  #wait({ lane, isKnown }: Requester, job: Job, maxWait: number | undefined): void {
    const waiting = this.#waiting(isKnown)
    if (waiting.count >= (this.#options.maxWaiting ?? unlimited)) {
      const longest = longestLane(waiting, lane)
      if (longest === undefined) {
        job.refuse()
        return
      }
      longest.pop()?.refuse()
      waiting.count -= 1
    }
    const jobs = waiting.lanes.get(lane) ?? []
    jobs.push(maxWait === undefined ? job : withTimeout(job, maxWait, removeFrom(waiting, lane)))
    waiting.lanes.set(lane, jobs)
    waiting.count += 1
  }

  /** Starts the next job after a job of this requester has ended. */
  #next({ lane }: Requester): void {
    const { maxRunning = unlimited, isRanked = false } = this.#options
    const isKnown = this.#unknown.count === 0 || (this.#known.count > 0 && !this.#wasKnown)
    // If fewer jobs than possible were running, the number of their own jobs holds back all lanes, except now this one.
    const isFull = this.#running + 1 >= maxRunning
    const from = {
      isRanked,
      only: isFull ? undefined : lane,
      mayStart: (other: string) => this.#mayStart(other),
    }
    this.#wasKnown = isKnown
    const job = take(this.#waiting(isKnown), from) ?? take(this.#waiting(!isKnown), from)
    job?.start()
  }

  #mayStart(lane: string): boolean {
    const { maxRunningOfLane } = this.#options
    return maxRunningOfLane === undefined || (this.#runningOfLane.get(lane) ?? 0) < maxRunningOfLane
  }

  #count({ lane }: Requester, change: 1 | -1): void {
    this.#running += change
    if (this.#options.maxRunningOfLane === undefined) return
    const running = (this.#runningOfLane.get(lane) ?? 0) + change
    if (running > 0) this.#runningOfLane.set(lane, running)
    else this.#runningOfLane.delete(lane)
  }

  #waiting(isKnown = false): Waiting {
    return isKnown ? this.#known : this.#unknown
  }
}

/** Returns a job that is removed and refused if it does not start in time. */
const withTimeout = (job: Job, maxWait: number, remove: (job: Job) => void): Job => {
  const timer = setTimeout(() => {
    remove(timed)
    job.refuse()
  }, maxWait)
  const ended = (end: () => void) => () => {
    clearTimeout(timer)
    end()
  }
  const timed = { start: ended(job.start), refuse: ended(job.refuse) }
  return timed
}

const removeFrom =
  (waiting: Waiting, lane: string) =>
  (job: Job): void => {
    const jobs = waiting.lanes.get(lane) ?? []
    jobs.splice(jobs.indexOf(job), 1)
    waiting.count -= 1
    if (jobs.length === 0) waiting.lanes.delete(lane)
  }

/**
 * Removes and returns the next job of the first lane that may start a job, and moves the lane to the end.
 * @param from.only the only lane to look at, so that the time does not grow with the number of lanes
 */
const take = (
  waiting: Waiting,
  from: {
    readonly isRanked: boolean
    readonly only: string | undefined
    readonly mayStart: (lane: string) => boolean
  },
): Job | undefined => {
  const { lanes } = waiting
  for (const lane of lanesIn(lanes, from)) {
    const jobs = lanes.get(lane)
    if (!jobs || !from.mayStart(lane)) continue
    const job = jobs.shift()
    waiting.count -= 1
    lanes.delete(lane)
    if (jobs.length > 0) lanes.set(lane, jobs)
    return job
  }
  return undefined
}

const lanesIn = (
  lanes: Waiting['lanes'],
  { isRanked, only }: { readonly isRanked: boolean; readonly only: string | undefined },
): Iterable<string> => {
  if (only !== undefined) return [only]
  return isRanked ? [...lanes.keys()].sort((a, b) => Number(a) - Number(b)) : lanes.keys()
}

/**
 * Returns the longest lane if it has at least two jobs more than `lane`. A job of `lane` can then replace the latest job
 * of the longest lane.
 */
const longestLane = ({ lanes }: Waiting, lane: string): Job[] | undefined => {
  let longest: Job[] = []
  for (const jobs of lanes.values()) if (jobs.length > longest.length) longest = jobs
  return longest.length > (lanes.get(lane)?.length ?? 0) + 1 ? longest : undefined
}
