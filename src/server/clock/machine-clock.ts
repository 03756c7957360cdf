import { ClockInDoubt, inSeconds, type ServerClock, type TimeSources } from './server-clock.ts'

/** The maximum tolerated jump of the clock, in milliseconds. */
const maxJump = 30_000
/**
 * The time in milliseconds for which the sweeper waits after a jump above `maxJump`. After a start, scheduled
 * sweeps also wait for this time if the last sweep was longer ago.
 */
const wait = 3_600_000
/** The minimum time between two writes of the last sweep time, in milliseconds. */
const writeInterval = 600_000

export interface MachineClockOptions extends TimeSources {
  /** Reads and writes the time of the last scheduled run of the sweeper, which the database stores across restarts. */
  readonly lastSweep: {
    read(): Promise<number | undefined>
    write(at: number): Promise<void>
  }
}

/**
 * The clock of the machine, for databases without a clock. For an hour after a jump of the clock, the sweeper removes
 * nothing. If the server starts more than an hour after the last sweep, scheduled sweeps also wait for an hour. In this
 * hour, an operator can correct a wrong clock.
 */
export class MachineClock implements ServerClock {
  readonly now: () => number
  readonly #options: MachineClockOptions
  readonly #started: { readonly machine: number; readonly monotonic: number }
  /** The last reading of both clocks. */
  #last: { readonly machine: number; readonly monotonic: number }
  #jumped: { readonly by: number; readonly at: number } | undefined
  #lastSweep: number | undefined
  #isLastSweepRead = false

  constructor(options: MachineClockOptions) {
    this.#options = options
    this.now = options.machine
    this.#started = { machine: options.machine(), monotonic: options.monotonic() }
    this.#last = this.#started
  }

  async sweepTime(isScheduled: boolean): Promise<number> {
    const { machine, monotonic } = this.#read()
    if (this.#jumped && monotonic - this.#jumped.at < wait)
      throw new ClockInDoubt(
        `The clock of this machine was set ${this.#jumped.by > 0 ? 'forward' : 'back'} by ${inSeconds(this.#jumped.by)}. Nothing is removed for an hour.`,
      )
    if (isScheduled) await this.#checkPause(machine, monotonic)
    return machine
  }

  isWrong(): Promise<boolean> {
    return Promise.resolve(false)
  }

  stop(): void {}

  #read(): { readonly machine: number; readonly monotonic: number } {
    const now = { machine: this.#options.machine(), monotonic: this.#options.monotonic() }
    const by = now.machine - this.#last.machine - (now.monotonic - this.#last.monotonic)
    if (Math.abs(by) > maxJump) this.#jumped = { by, at: now.monotonic }
    this.#last = now
    return now
  }

  // The server cannot distinguish a long pause before the start from a clock that is ahead, so wait in both cases.
  async #checkPause(machine: number, monotonic: number): Promise<void> {
    const { lastSweep } = this.#options
    if (!this.#isLastSweepRead) this.#lastSweep = await lastSweep.read()
    this.#isLastSweepRead = true
    const pause = this.#started.machine - (this.#lastSweep ?? this.#started.machine)
    if (pause > wait && monotonic - this.#started.monotonic < wait)
      throw new ClockInDoubt(
        `According to the clock of this machine, the sweeper did not run in the ${inSeconds(pause)} before the start. If the clock is wrong, correct it. One hour after the start, the sweeper removes expired rows again.`,
      )
    if (machine - (this.#lastSweep ?? 0) < writeInterval) return
    await lastSweep.write(machine)
    this.#lastSweep = machine
  }
}
