import { setTimeout as delay } from 'node:timers/promises'
import type { LogSink } from './log.ts'
import type { UserId, UserSource } from './model/user.ts'
import type { Settings } from './options.ts'
import { type Store, StoreUnavailable, type Transients } from './store/store.ts'

/** Rows that one statement removes at most: no request waits for longer than they take. */
const batch = 20
/** Milliseconds at least between two batches, in which requests have the database for themselves. */
const pause = 2
/** How much longer than a batch the rest behind it is: the disk has to keep up with both. */
const restShare = 4
/** The same in a run that is behind: more expires than so long a rest leaves time for. */
const shortRestShare = 1
/** Milliseconds after which a run is behind. */
const patience = 1_800_000
/** Users that are asked for in one run. */
const usersAtOnce = 200

/** Who holds it is the one node that sweeps by itself. */
const leaseKey = 'sweeper'
/** Of the interval: a lease ends before its holder's next turn, and so before anybody waits in vain. */
const leaseShare = 0.9

export interface SweeperOptions {
  readonly store: Store
  /** Users that no foreign key guards: what hangs from one who is gone is removed too. */
  readonly findOrphans: UserSource | undefined
  /** Those that sign tokens; former ones have to go. */
  readonly signingKeys: { deleteRetired(): Promise<number> }
  readonly transients: Transients
  readonly settings: Settings
  readonly clock: () => number
  readonly log: LogSink
  /** Runs around every run, which says how many rows it removed. */
  readonly aroundRun: (run: () => Promise<number>) => Promise<number>
}

/** Removes what has expired, in small batches; by itself on one node at a time. */
export class Sweeper {
  readonly #options: SweeperOptions
  #timer: NodeJS.Timeout | undefined
  #running: Promise<number> | undefined
  #isStopping = false
  #lastUser: UserId | null = null

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

  /** Ends a run that has begun after its batch, and begins no other by itself. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#isStopping = true
    await this.#running?.catch(() => undefined)
  }

  /** Runs whoever else does. @returns the number of rows removed */
  run(): Promise<number> {
    return this.#run(async () => undefined)
  }

  #run(betweenBatches: () => Promise<void>): Promise<number> {
    const { aroundRun } = this.#options
    this.#running ??= aroundRun(() => this.#sweep(betweenBatches)).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #turn(): Promise<void> {
    const { transients, settings, clock } = this.#options
    const length = settings.sweepInterval * 1000 * leaseShare
    let until = clock() + length
    if (!(await transients.put(leaseKey, '', until, clock()))) return
    try {
      await this.#run(async () => {
        // A long run outlives its lease, which nobody else must take meanwhile.
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

  async #sweep(betweenBatches: () => Promise<void>): Promise<number> {
    const { store, transients, settings, clock } = this.#options
    const now = clock()
    const idleSince = now - settings.sessionIdleExpiresIn * 1000
    const { unusedClientExpiresIn: unused, auditExpiresIn: audited } = settings
    const unusedSince = unused === 0 ? null : now - unused * 1000
    const sweeps = [
      () => store.tokens.deleteExpired(now, batch),
      () => store.authorizations.deleteExpired(now, batch),
      () => store.sessions.deleteExpired(now, idleSince, batch),
      () => transients.deleteExpired(now, batch),
      ...(audited === 0 ? [] : [() => store.audit.deleteBefore(now - audited * 1000, batch)]),
      ...(unusedSince === null ? [] : [() => store.clients.deleteUnused(unusedSince, batch)]),
    ]
    const toEnd = async (sweep: () => Promise<number>): Promise<void> => {
      // A batch may be smaller than it could be: what hangs together goes together.
      for (let last = batch; last > 0 && !this.#isStopping; ) {
        const begun = performance.now()
        last = await sweep()
        removed += last
        await betweenBatches()
        // A busy database gets a longer rest.
        const share = clock() - now > patience ? shortRestShare : restShare
        await delay(Math.max(pause, share * (performance.now() - begun)))
      }
    }
    let removed = 0
    const failures: unknown[] = []
    // What cannot be removed must not keep what stands behind it.
    for (const work of [
      ...sweeps.map((sweep) => () => toEnd(sweep)),
      async () => {
        removed += await this.#options.signingKeys.deleteRetired()
      },
      () => this.#sweepOrphans(),
    ])
      if (!this.#isStopping) await work().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
    return removed
  }

  // One batch of users a run: each is asked for, so a large application is gone through bit by bit.
  async #sweepOrphans(): Promise<void> {
    const { store, findOrphans: users } = this.#options
    if (!users) return
    const ids = await store.userData.idsInUse(this.#lastUser, usersAtOnce)
    for (const id of ids) {
      if (await users.find(id)) continue
      await store.transaction((tx) => tx.userData.deleteOf(id))
    }
    this.#lastUser = ids.length === usersAtOnce ? (ids.at(-1) ?? null) : null
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
