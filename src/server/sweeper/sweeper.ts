import { AuditChain } from '../../records/audit/audit-chain.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import { ClockInDoubt, type ServerClock } from '../clock/server-clock.ts'
import { MissingUsers, missingFor } from './missing-users.ts'
import { maxListed, type OwnParts, type Swept, sweeperKinds } from './sweeper-kinds.ts'
import { removeInBatches } from './sweeper-pace.ts'

/** The key of the lease. Only the node that has the lease performs scheduled runs. */
const leaseKey = 'sweeper'
/** The duration of a lease relative to the interval: below 1, so that the lease expires before the next run. */
const leaseShare = 0.9

/** The numbers of rows that a run of the sweeper would remove now, with the reasons, and the missing users. */
export interface SweepPlan {
  /** The reason why this process must not remove anything now; null if the process may remove rows. */
  readonly heldBecause: string | null
  /** The kinds of rows to remove. Counting stops at 10,000 rows of a kind, and at 1,000 deleted clients and users. */
  readonly rows: readonly { readonly what: string; readonly why: string; readonly count: number }[]
  /** Users whom the application did not find, or whose ID belongs to a newer user, in the order of `since`. */
  readonly missingUsers: readonly {
    readonly userId: string
    /** The time of the first look-up that did not find the user, in milliseconds since the epoch. */
    readonly since: number
    /** The earliest time at which the rows of the user may be removed, in milliseconds since the epoch. */
    readonly removedFrom: number
  }[]
}

interface SweeperOptions extends Swept {
  readonly serverClock: Pick<ServerClock, 'now' | 'sweepTime'>
  /** Wraps every run. A run returns the number of removed rows. */
  readonly aroundRun: (run: () => Promise<number>) => Promise<number>
}

/** Removes expired rows in small batches. Scheduled runs happen on one node at a time. */
export class Sweeper {
  readonly #options: SweeperOptions & OwnParts
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<number> | undefined
  #isHeld = false

  constructor(options: SweeperOptions) {
    const { context } = options
    this.#options = {
      ...options,
      auditChain: new AuditChain(context),
      missingUsers: context.users.areBuiltIn ? undefined : new MissingUsers(context),
    }
  }

  start(): void {
    const { sweepInterval } = this.#options.context.settings
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
    const { serverClock } = this.#options
    return this.#run(() => serverClock.sweepTime(false))
  }

  /** Counts the rows that a run would remove, and lists missing users. Does not change the database. */
  async plan(): Promise<SweepPlan> {
    const { context, serverClock } = this.#options
    const heldBecause = await serverClock.sweepTime(false).then(
      () => null,
      (error: unknown) => {
        if (error instanceof ClockInDoubt) return error.message
        throw error
      },
    )
    const now = serverClock.now()
    const rows: SweepPlan['rows'][number][] = []
    for (const { plan } of sweeperKinds(this.#options, now)) {
      const count = (await plan?.count()) ?? 0
      if (plan && count > 0) rows.push({ what: plan.what, why: plan.why, count })
    }
    const missing = await context.store.sweeperNotes.select(
      { kind: 'missing user', at: { upTo: now } },
      { by: ['at'], limit: maxListed },
    )
    const missingUsers = missing.map(({ key, at }) => ({
      userId: key,
      since: at,
      removedFrom: at + missingFor,
    }))
    return { heldBecause, rows, missingUsers }
  }

  /**
   * Writes a checkpoint of the latest audit events, so that their removal can be detected. Each sweep also writes a
   * checkpoint. A process without scheduled sweeps, such as a command, leaves checkpoints to the server. After an error,
   * the next sweep writes the checkpoint.
   */
  async coverAuditLog(): Promise<void> {
    const { context, auditChain } = this.#options
    if (context.settings.sweepInterval > 0) await auditChain.coverSome().catch(() => undefined)
  }

  #run(timeOf: () => Promise<number>, afterBatch?: () => Promise<void>): Promise<number> {
    this.#running ??= this.#options
      .aroundRun(async () => {
        const removers = sweeperKinds(this.#options, await timeOf()).map(
          ({ removeSome }) => removeSome,
        )
        return removeInBatches(removers, this.#stopping.signal, afterBatch)
      })
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #runScheduled(): Promise<void> {
    const { context, serverClock } = this.#options
    // The lease is a short-lived value.
    const { transients } = context.store
    const clock = serverClock.now
    // Check the clock before taking the lease: otherwise, a node that must not sweep would block the other nodes.
    const time = await this.#scheduledTime()
    if (time === undefined) return
    const length = context.settings.sweepInterval * 1000 * leaseShare
    let until = clock() + length
    if (!(await transients.put(leaseKey, '', until, clock()))) return
    try {
      await this.#run(
        async () => time,
        async () => {
          // Extend the lease during a long run, so that no other node takes it.
          if (until - clock() > length / 2) return
          until = clock() + length
          await transients.set(leaseKey, '', until, clock())
        },
      )
    } catch (error) {
      // Release the lease, so that another node can start a run.
      await transients.delete(leaseKey).catch(() => undefined)
      throw error
    }
  }

  /** Returns the time for a scheduled run. If the clock is not reliable, logs the reason once and returns undefined. */
  async #scheduledTime(): Promise<number | undefined> {
    try {
      const time = await this.#options.serverClock.sweepTime(true)
      this.#isHeld = false
      return time
    } catch (error) {
      if (!(error instanceof ClockInDoubt)) throw error
      if (!this.#isHeld)
        this.#options.context.log({ level: 'warn', event: 'sweeper.held', message: error.message })
      this.#isHeld = true
      return undefined
    }
  }

  #failed(error: unknown): void {
    const level = error instanceof StoreUnavailable ? 'warn' : 'error'
    this.#options.context.log({
      level,
      event: 'sweeper.failed',
      message: 'Expired rows were not removed. The next run tries again.',
      error,
    })
  }
}
