import { setTimeout as delay } from 'node:timers/promises'
import type { LogSink } from '../../model/log.ts'
import type { Settings } from '../../settings/settings.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import type { Transients } from '../../store/contract/transients.ts'
import { ClockInDoubt, type ServerClock } from '../clock/server-clock.ts'
import type { SweeperKind } from './sweeper-kinds.ts'
import { PartSize, restAfter } from './sweeper-pace.ts'

/** The node that holds it is the only one that sweeps by itself. */
const leaseKey = 'sweeper'
/** Share of the interval: a lease ends before its holder's next turn. */
const leaseShare = 0.9

export interface SweeperOptions {
  /** What a run that begins at this time removes. */
  readonly kinds: (now: number) => readonly SweeperKind[]
  /** Where the lease is kept. */
  readonly transients: Transients
  readonly settings: Settings
  readonly clock: Pick<ServerClock, 'now' | 'sweepTime'>
  readonly log: LogSink
  /** Runs around every run, which returns how many rows it removed. */
  readonly aroundRun: (run: () => Promise<number>) => Promise<number>
}

/** Removes what has expired, in small parts; by itself on one node at a time. */
export class Sweeper {
  readonly #options: SweeperOptions
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<number> | undefined
  #isHeld = false

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  start(): void {
    const { sweepInterval } = this.#options.settings
    if (sweepInterval === 0) return
    this.#timer = setInterval(
      () => void this.#turn().catch((error) => this.#failed(error)),
      sweepInterval * 1000,
    )
    this.#timer.unref()
  }

  /** Ends a run after its current part, and starts no other by itself. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#running?.catch(() => undefined)
  }

  /**
   * Sweeps whether or not another node does. @returns the number of rows removed
   * @throws ClockInDoubt where this node must not remove anything
   */
  run(): Promise<number> {
    const { clock } = this.#options
    return this.#run(
      () => clock.sweepTime(false),
      async () => undefined,
    )
  }

  #run(timeOf: () => Promise<number>, afterPart: () => Promise<void>): Promise<number> {
    const { aroundRun } = this.#options
    this.#running ??= aroundRun(async () => this.#sweep(await timeOf(), afterPart)).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #turn(): Promise<void> {
    const { transients, settings } = this.#options
    const clock = this.#options.clock.now
    // Before the lease, which a node that may not sweep must not keep from the others.
    const time = await this.#timeOfTurn()
    if (time === undefined) return
    const length = settings.sweepInterval * 1000 * leaseShare
    let until = clock() + length
    if (!(await transients.put(leaseKey, '', until, clock()))) return
    try {
      const timeOf = async () => time
      await this.#run(timeOf, async () => {
        // A long run outlives its lease, which no other node may take meanwhile.
        if (until - clock() > length / 2) return
        until = clock() + length
        await transients.set(leaseKey, '', until, clock())
      })
    } catch (error) {
      // Another node may do better.
      await transients.delete(leaseKey).catch(() => undefined)
      throw error
    }
  }

  /** Undefined where the clock is in doubt, which the log says once. */
  async #timeOfTurn(): Promise<number | undefined> {
    try {
      const time = await this.#options.clock.sweepTime(true)
      this.#isHeld = false
      return time
    } catch (error) {
      if (!(error instanceof ClockInDoubt)) throw error
      if (!this.#isHeld)
        this.#options.log({ level: 'warn', event: 'sweeper.held', message: error.message })
      this.#isHeld = true
      return undefined
    }
  }

  // Round-robin, so that a backlog of one kind delays no other kind.
  async #sweep(time: number, afterPart: () => Promise<void>): Promise<number> {
    const { kinds } = this.#options
    const { signal } = this.#stopping
    const began = performance.now()
    const sizes = new Map(kinds(time).map((kind) => [kind, new PartSize()]))
    const failures: unknown[] = []
    let removed = 0
    while (sizes.size > 0 && !signal.aborted) {
      for (const [kind, size] of sizes) {
        if (signal.aborted) break
        const begun = performance.now()
        try {
          const rows = await kind.removeSome(size.rows)
          if (rows === null) sizes.delete(kind)
          size.took(rows ?? 0, performance.now() - begun)
          removed += rows ?? 0
          await afterPart()
        } catch (error) {
          // The other kinds are removed all the same.
          sizes.delete(kind)
          failures.push(error)
        }
        const rest = restAfter(performance.now() - begun, performance.now() - began)
        await delay(rest, undefined, { signal }).catch(() => undefined)
      }
    }
    if (failures.length > 0) throw failures[0]
    return removed
  }

  #failed(error: unknown): void {
    const level = error instanceof StoreUnavailable ? 'warn' : 'error'
    this.#options.log({
      level,
      event: 'sweeper.failed',
      message: 'Expired rows were not removed; the next run tries again.',
      error,
    })
  }
}
