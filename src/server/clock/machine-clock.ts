import { ClockInDoubt, inSeconds, type ServerClock, type TimeSources } from './server-clock.ts'

/** Milliseconds that the clock may move at once. */
const step = 30_000
/** Milliseconds that the sweeper waits after a larger step, or after a longer time in which nobody swept. */
const wait = 3_600_000
/** Milliseconds between two times that are kept. */
const keptEvery = 600_000

export interface MachineClockOptions extends TimeSources {
  /** When a scheduled run was last allowed, kept beyond the end of the process. */
  readonly lastSweep: {
    read(): Promise<number | undefined>
    write(at: number): Promise<void>
  }
}

/**
 * The clock of the machine, where nothing else knows the time. It is believed; but where it jumps, or is far ahead at the
 * start, nothing is removed for an hour, in which somebody may set it right.
 */
export class MachineClock implements ServerClock {
  readonly now: () => number
  readonly #options: MachineClockOptions
  readonly #started: { readonly machine: number; readonly monotonic: number }
  /** The last look at both clocks. */
  #seen: { readonly machine: number; readonly monotonic: number }
  #jumped: { readonly by: number; readonly at: number } | undefined
  #lastSweep: number | undefined
  #isLastSweepRead = false

  constructor(options: MachineClockOptions) {
    this.#options = options
    this.now = options.machine
    this.#started = { machine: options.machine(), monotonic: options.monotonic() }
    this.#seen = this.#started
  }

  async sweepTime(isScheduled: boolean): Promise<number> {
    const { machine, monotonic } = this.#look()
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

  #look(): { readonly machine: number; readonly monotonic: number } {
    const now = { machine: this.#options.machine(), monotonic: this.#options.monotonic() }
    const by = now.machine - this.#seen.machine - (now.monotonic - this.#seen.monotonic)
    if (Math.abs(by) > step) this.#jumped = { by, at: now.monotonic }
    this.#seen = now
    return now
  }

  // A start after a long pause looks like a start with a wrong clock.
  async #checkPause(machine: number, monotonic: number): Promise<void> {
    const { lastSweep } = this.#options
    if (!this.#isLastSweepRead) this.#lastSweep = await lastSweep.read()
    this.#isLastSweepRead = true
    const pause = this.#started.machine - (this.#lastSweep ?? this.#started.machine)
    if (pause > wait && monotonic - this.#started.monotonic < wait)
      throw new ClockInDoubt(
        `By the clock of this machine, nothing was removed for ${inSeconds(pause)} before the start. If it is wrong, set it: expired rows are removed from an hour after the start.`,
      )
    if (machine - (this.#lastSweep ?? 0) < keptEvery) return
    await lastSweep.write(machine)
    this.#lastSweep = machine
  }
}
