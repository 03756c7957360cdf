import type { LogSink } from '../../model/log.ts'
import { ClockInDoubt, inSeconds, type ServerClock, type TimeSources } from './server-clock.ts'

/** Milliseconds between two measurements. */
const interval = 60_000
/** Milliseconds from which a difference between the machine's clock and the database's is logged. */
const noteworthyDifference = 5_000
/** Milliseconds beyond which the node is not ready, and does not sweep. */
export const largestDifference = 30_000
/** Milliseconds that the machine's clock moves at once before the difference is measured again. */
const step = 1_000

export interface DatabaseClockOptions extends TimeSources {
  /** The time of the database. */
  readonly database: () => Promise<number>
  readonly log: LogSink
}

type Verdict = 'agrees' | 'differs' | 'wrong'

/**
 * The database's clock, which all nodes share: measured at times, and carried on by a monotonic clock in between. The
 * machine's own clock is compared with it alone, so a wrong one ends nothing early and keeps nothing alive.
 */
export class DatabaseClock implements ServerClock {
  readonly #options: DatabaseClockOptions
  /** What the database's clock is ahead of the monotonic one. */
  #ahead = Number.NaN
  /** What the machine's clock was ahead of the database's when it was last measured. */
  #difference = 0
  #verdict: Verdict = 'agrees'
  #measuring: Promise<number> | undefined
  #measuredAt = 0
  #timer: NodeJS.Timeout | undefined

  private constructor(options: DatabaseClockOptions) {
    this.#options = options
  }

  /** @throws StoreUnavailable */
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
    if (moved > step || moved < -step) this.#measureSoon()
    return at
  }

  async sweepTime(): Promise<number> {
    const time = await this.#measure()
    if (this.#verdict === 'wrong')
      throw new ClockInDoubt(
        `The clock of this machine differs by ${inSeconds(this.#difference)} from the database's. Nothing is removed until both agree within ${inSeconds(largestDifference)}.`,
      )
    return time
  }

  async isWrong(): Promise<boolean> {
    const { machine } = this.#options
    const isFar = Math.abs(machine() - this.now()) > largestDifference
    // What has jumped since the last measurement may be the machine that slept.
    if (isFar !== (this.#verdict === 'wrong')) await this.#measure().catch(() => undefined)
    return this.#verdict === 'wrong'
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #measureSoon(): void {
    if (this.#options.monotonic() - this.#measuredAt < step) return
    // An outage is reported by those who need the store; until it ends, the monotonic clock goes on.
    this.#measure().catch(() => undefined)
  }

  /** @returns the time of the database, as it answered */
  #measure(): Promise<number> {
    this.#measuring ??= this.#measureOnce().finally(() => {
      this.#measuring = undefined
    })
    return this.#measuring
  }

  async #measureOnce(): Promise<number> {
    const { database, monotonic, machine } = this.#options
    const asked = monotonic()
    this.#measuredAt = asked
    const time = await database()
    const answered = monotonic()
    const uncertainty = (answered - asked) / 2
    const ahead = time - (asked + uncertainty)
    // Within what the round trip leaves open, the former measurement is as good as this one.
    const isOff = !(Math.abs(ahead - this.#ahead) <= uncertainty + 1)
    if (isOff) this.#ahead = ahead
    this.#difference = machine() - (answered + this.#ahead)
    this.#judge()
    return time
  }

  #judge(): void {
    const distance = Math.abs(this.#difference)
    const before = this.#verdict
    if (distance > largestDifference) this.#verdict = 'wrong'
    else this.#verdict = distance > noteworthyDifference ? 'differs' : 'agrees'
    if (this.#verdict === before) return
    const { log } = this.#options
    const difference = Math.round(this.#difference)
    const shown = `${inSeconds(difference)} ${difference > 0 ? 'ahead of' : 'behind'}`
    const limit = inSeconds(largestDifference)
    if (this.#verdict === 'wrong')
      log({
        level: 'error',
        event: 'clock.wrong',
        message: `The clock of this machine is ${shown} the database's: more than ${limit}, so this node is not ready and removes nothing.`,
        difference,
      })
    else if (this.#verdict === 'differs')
      log({
        level: 'warn',
        event: 'clock.differs',
        message: `The clock of this machine is ${shown} the database's. Synchronise both: beyond ${limit} this node is not ready.`,
        difference,
      })
    else
      log({
        level: 'info',
        event: 'clock.agrees',
        message: "The clock of this machine agrees with the database's again.",
        difference,
      })
  }
}
