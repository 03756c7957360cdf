import type { LogSink } from '../../model/log.ts'
import { ClockInDoubt, inSeconds, type ServerClock, type TimeSources } from './server-clock.ts'

/** Milliseconds between two comparisons of the clocks. */
const interval = 60_000
/**
 * The difference in milliseconds above which the server logs that the machine clock differs from the database clock.
 */
const minLoggedDifference = 5_000
/**
 * The maximum difference between the machine clock and the database clock, in milliseconds. If the difference is
 * larger, the node is not ready and does not sweep.
 */
export const maxDifference = 30_000
/**
 * The jump of the machine clock, in milliseconds, after which the server compares the clocks again. Also the minimum
 * time between two of these comparisons.
 */
const jump = 1_000

export interface DatabaseClockOptions extends TimeSources {
  /** Returns the time of the database, in milliseconds since the epoch. */
  readonly database: () => Promise<number>
  readonly log: LogSink
}

type Verdict = 'agrees' | 'differs' | 'wrong'

/**
 * The clock of the database, which all nodes share. The server reads the database time at intervals, and uses a
 * monotonic clock in between. A wrong machine clock therefore does not affect expiry. If the machine clock differs too
 * much from the database clock, the node is not ready and does not sweep.
 */
export class DatabaseClock implements ServerClock {
  readonly #options: DatabaseClockOptions
  /** The clock of the database minus the monotonic clock, in milliseconds. */
  #ahead = Number.NaN
  /** The clock of the machine minus the clock of the database at the last measurement, in milliseconds. */
  #difference = 0
  #verdict: Verdict = 'agrees'
  #measuring: Promise<number> | undefined
  #measuredAt = 0
  #timer: NodeJS.Timeout | undefined

  private constructor(options: DatabaseClockOptions) {
    this.#options = options
  }

  /** Reads the time of the database, and starts regular measurements. @throws StoreUnavailable */
  static async start(options: DatabaseClockOptions): Promise<DatabaseClock> {
    const clock = new DatabaseClock(options)
    await clock.#measure()
    clock.#timer = setInterval(() => clock.#measureSoon(), interval)
    clock.#timer.unref()
    return clock
  }

  readonly now = (): number => {
    const { machine, monotonic } = this.#options
    const at = Math.floor(monotonic() + this.#ahead)
    const moved = machine() - at - this.#difference
    if (moved > jump || moved < -jump) this.#measureSoon()
    return at
  }

  async sweepTime(): Promise<number> {
    const time = await this.#measure()
    if (this.#verdict === 'wrong')
      throw new ClockInDoubt(
        `The clock of this machine differs by ${inSeconds(this.#difference)} from the clock of the database. Nothing is removed until the clocks agree within ${inSeconds(maxDifference)}.`,
      )
    return time
  }

  async isWrong(): Promise<boolean> {
    const { machine } = this.#options
    const isFar = Math.abs(machine() - this.now()) > maxDifference
    // If `now()` contradicts the verdict, measure again: the monotonic clock stops while the machine is suspended, and
    // afterwards `now()` is behind.
    if (isFar !== (this.#verdict === 'wrong')) await this.#measure().catch(() => undefined)
    return this.#verdict === 'wrong'
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #measureSoon(): void {
    if (this.#options.monotonic() - this.#measuredAt < jump) return
    // Ignore the error: the store operations of requests report the outage. Until the next measurement, `now()` uses the
    // last value of `#ahead`.
    this.#measure().catch(() => undefined)
  }

  /** Compares the clocks. @returns the time that the database reported */
  #measure(): Promise<number> {
    this.#measuring ??= this.#measureOnce().finally(() => {
      this.#measuring = undefined
    })
    return this.#measuring
  }

  async #measureOnce(): Promise<number> {
    const { database, monotonic, machine } = this.#options
    const sentAt = monotonic()
    this.#measuredAt = sentAt
    const time = await database()
    const receivedAt = monotonic()
    const uncertainty = (receivedAt - sentAt) / 2
    const ahead = time - (sentAt + uncertainty)
    // Retain `#ahead` if the new value differs by no more than the uncertainty of this measurement. Otherwise, each
    // measurement would move the time slightly.
    const isOff = !(Math.abs(ahead - this.#ahead) <= uncertainty + 1)
    if (isOff) this.#ahead = ahead
    this.#difference = machine() - (receivedAt + this.#ahead)
    this.#judge()
    return time
  }

  #judge(): void {
    const distance = Math.abs(this.#difference)
    const before = this.#verdict
    if (distance > maxDifference) this.#verdict = 'wrong'
    else this.#verdict = distance > minLoggedDifference ? 'differs' : 'agrees'
    if (this.#verdict === before) return
    const { log } = this.#options
    const difference = Math.round(this.#difference)
    const shown = `${inSeconds(difference)} ${difference > 0 ? 'ahead of' : 'behind'}`
    const limit = inSeconds(maxDifference)
    if (this.#verdict === 'wrong')
      log({
        level: 'error',
        event: 'clock.wrong',
        message: `The clock of this machine is ${shown} the clock of the database. Above a difference of ${limit}, this node is not ready and removes nothing.`,
        difference,
      })
    else if (this.#verdict === 'differs')
      log({
        level: 'warn',
        event: 'clock.differs',
        message: `The clock of this machine is ${shown} the clock of the database. Synchronise the clocks: above a difference of ${limit}, this node is not ready.`,
        difference,
      })
    else
      log({
        level: 'info',
        event: 'clock.agrees',
        message: 'The clock of this machine agrees with the clock of the database again.',
        difference,
      })
  }
}
