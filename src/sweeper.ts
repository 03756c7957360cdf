import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogSink } from './log.ts'
import type { UserId, UserSource } from './model/user.ts'
import type { Settings } from './options.ts'
import { type Store, StoreUnavailable, type Transients } from './store/store.ts'

/** Rows that one statement removes at most: requests get their turn in between. */
const batch = 200

export interface SweeperOptions {
  readonly store: Store
  /** Users that no foreign key guards: what hangs from one who is gone is removed too. */
  readonly findOrphans: UserSource | undefined
  readonly transients: Transients
  readonly settings: Settings
  readonly clock: () => number
  readonly log: LogSink
  /** Runs around every run, which says how many rows it removed. */
  readonly aroundRun: (run: () => Promise<number>) => Promise<number>
}

/** Removes what has expired, in small batches. */
export class Sweeper {
  readonly #options: SweeperOptions
  #timer: NodeJS.Timeout | undefined
  #running: Promise<number> | undefined
  #lastUser: UserId | null = null

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
    const { aroundRun } = this.#options
    this.#running ??= aroundRun(() => this.#sweep()).finally(() => {
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
    await this.#sweepOrphans()
    return removed
  }

  // One batch of users a run: each is asked for, so a large application is gone through bit by bit.
  async #sweepOrphans(): Promise<void> {
    const { store, findOrphans: users } = this.#options
    if (!users) return
    const ids = await store.userData.idsInUse(this.#lastUser, batch)
    for (const id of ids) {
      if (await users.find(id)) continue
      await store.transaction((tx) => tx.userData.deleteOf(id))
    }
    this.#lastUser = ids.length === batch ? (ids.at(-1) ?? null) : null
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
