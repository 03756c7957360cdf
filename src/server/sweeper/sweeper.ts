import { setTimeout as delay } from 'node:timers/promises'
import type { LogSink } from '../../model/log.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import { ClockInDoubt, type ServerClock } from '../clock/server-clock.ts'
import { type Swept, sweeperKinds } from './sweeper-kinds.ts'
import { BatchSize, pauseAfter } from './sweeper-pace.ts'

/** The key of the lease. Only the node that has the lease performs scheduled runs. */
const leaseKey = 'sweeper'
/** The duration of a lease relative to the interval: below 1, so that the lease expires before the next run. */
const leaseShare = 0.9

export interface SweeperOptions {
  readonly clock: Pick<ServerClock, 'now' | 'sweepTime'>
  readonly log: LogSink
  /** Wraps every run. A run returns the number of removed rows. */
  readonly aroundRun: (run: () => Promise<number>) => Promise<number>
}

/** Removes expired rows in small batches. Scheduled runs happen on one node at a time. */
export class Sweeper {
  readonly #swept: Swept
  readonly #options: SweeperOptions
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<number> | undefined
  #isHeld = false

  constructor(swept: Swept, options: SweeperOptions) {
    this.#swept = swept
    this.#options = options
  }

  start(): void {
    const { sweepInterval } = this.#swept.settings
    if (sweepInterval === 0) return
    this.#timer = setInterval(
      () => void this.#runScheduled().catch((error) => this.#failed(error)),
      sweepInterval * 1000,
    )
    this.#timer.unref()
  }

  /** Stops the current run after the current batch, and cancels scheduled runs. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#running?.catch(() => undefined)
  }

  /**
   * Removes expired rows now, even if another node has the lease. Joins a run that this node has already begun.
   * @returns the number of removed rows
   * @throws ClockInDoubt if this node must not remove anything
   */
  run(): Promise<number> {
    const { clock } = this.#options
    return this.#run(
      () => clock.sweepTime(false),
      async () => undefined,
    )
  }

  #run(timeOf: () => Promise<number>, afterBatch: () => Promise<void>): Promise<number> {
    const { aroundRun } = this.#options
    this.#running ??= aroundRun(async () => this.#sweep(await timeOf(), afterBatch)).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #runScheduled(): Promise<void> {
    const { store, settings } = this.#swept
    // The lease is a short-lived value.
    const { transients } = store
    const clock = this.#options.clock.now
    // Check the clock before taking the lease: otherwise, a node that must not sweep would block the other nodes.
    const time = await this.#scheduledTime()
    if (time === undefined) return
    const length = settings.sweepInterval * 1000 * leaseShare
    let until = clock() + length
    if (!(await transients.put(leaseKey, '', until, clock()))) return
    try {
      const timeOf = async () => time
      await this.#run(timeOf, async () => {
        // Extend the lease during a long run, so that no other node takes it.
        if (until - clock() > length / 2) return
        until = clock() + length
        await transients.set(leaseKey, '', until, clock())
      })
    } catch (error) {
      // Release the lease, so that another node can start a run.
      await transients.delete(leaseKey).catch(() => undefined)
      throw error
    }
  }

  /** Returns the time for a scheduled run. If the clock is not reliable, logs the reason once and returns undefined. */
  async #scheduledTime(): Promise<number | undefined> {
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

  // Alternate between the kinds, so that a backlog of one kind does not delay the other kinds.
  async #sweep(time: number, afterBatch: () => Promise<void>): Promise<number> {
    const { signal } = this.#stopping
    const startedAt = performance.now()
    const sizes = new Map(sweeperKinds(this.#swept, time).map((kind) => [kind, new BatchSize()]))
    const failures: unknown[] = []
    let removed = 0
    while (sizes.size > 0 && !signal.aborted) {
      for (const [kind, size] of sizes) {
        if (signal.aborted) break
        const batchStartedAt = performance.now()
        try {
          const rows = await kind.removeSome(size.rows)
          if (rows === null) sizes.delete(kind)
          size.adapt(rows ?? 0, performance.now() - batchStartedAt)
          removed += rows ?? 0
          await afterBatch()
        } catch (error) {
          // Continue with the other kinds.
          sizes.delete(kind)
          failures.push(error)
        }
        const pause = pauseAfter(performance.now() - batchStartedAt, performance.now() - startedAt)
        await delay(pause, undefined, { signal }).catch(() => undefined)
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
      message: 'Expired rows were not removed. The next run tries again.',
      error,
    })
  }
}
