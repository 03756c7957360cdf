import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogSink } from './log.ts'
import type { Settings } from './options.ts'
import { type Store, StoreUnavailable, type Transients } from './store/store.ts'

/** Rows that one statement removes at most: requests get their turn in between. */
const batch = 200

export interface SweeperOptions {
  readonly store: Store
  readonly transients: Transients
  readonly settings: Settings
  readonly clock: () => number
  readonly log: LogSink
}

/** Removes what has expired, in small batches. */
export class Sweeper {
  readonly #options: SweeperOptions
  #timer: NodeJS.Timeout | undefined
  #running: Promise<number> | undefined

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  start(): void {
    const { sweepInterval } = this.#options.settings
    if (sweepInterval === 0) return
    this.#timer = setInterval(
      () => void this.run().catch((error) => this.#failed(error)),
      sweepInterval * 1000,
    )
    this.#timer.unref()
  }

  /** Waits for a run that has begun, and begins no other. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running?.catch(() => undefined)
  }

  /** @returns the number of rows removed */
  run(): Promise<number> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #sweep(): Promise<number> {
    const { store, transients, settings, clock } = this.#options
    const now = clock()
    const idleSince = now - settings.sessionIdleExpiresIn * 1000
    const sweeps = [
      () => store.tokens.deleteExpired(now, batch),
      () => store.authorizations.deleteExpired(now, batch),
      () => store.sessions.deleteExpired(now, idleSince, batch),
      () => transients.deleteExpired(now, batch),
    ]
    let removed = 0
    for (const sweep of sweeps) {
      for (let last = batch; last === batch; ) {
        last = await sweep()
        removed += last
        await nextTurn()
      }
    }
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
