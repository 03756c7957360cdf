import { setTimeout as delay } from 'node:timers/promises'
import type { LogSink } from '../../model/log.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import type { Removal } from '../../store/contract/sweeper.ts'
import type { Store } from '../../store/store.ts'
import type { SweeperKind } from './sweeper-kinds.ts'
import { firstPart, PartSize, restAfter } from './sweeper-pace.ts'

/** Rows that a deletion removes before it returns; the rest is removed beside requests. */
const mostBeforeReturn = 100
/**
 * Milliseconds for which a deletion stays listed: a request that found the client or user before may still insert
 * a row, which is as dead as the others.
 */
const listedFor = 60_000
/** Removals that one query lists. */
const listedAtOnce = 20
/** Client keys of each table that one run of the sweeper looks at. */
const keysOfRun = 200

export interface RemovalsOptions {
  readonly store: Store
  readonly clock: () => number
  readonly log: LogSink
}

/** Removes, in small parts, the rows that belonged to deleted clients and users. */
export class Removals {
  readonly #options: RemovalsOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #lastKey = 0

  constructor(options: RemovalsOptions) {
    this.#options = options
  }

  /** Removes a few rows at once, and all others in the background. Call it after the deletion is committed. */
  async begin(removal: Pick<Removal, 'kind' | 'key'>): Promise<void> {
    const { store } = this.#options
    try {
      for (let removed = 0; removed < mostBeforeReturn; ) {
        const rows = await store.removals.removeSome(removal, firstPart)
        if (rows === 0) return
        removed += rows
      }
    } catch (error) {
      // The deletion is in effect; the sweeper removes the rows.
      this.#failed(error)
      return
    }
    this.#running ??= this.#removeAll()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#running = undefined
      })
  }

  /** Finds clients that a foreign key of the application's user table has deleted. A run looks at a bounded number. */
  orphans(): SweeperKind {
    const { store, clock } = this.#options
    return {
      name: 'orphaned clients',
      removeSome: async () => {
        const { keys, last } = await store.removals.findOrphans(this.#lastKey, keysOfRun)
        await store.removals.addClients(keys, clock())
        this.#lastKey = last ?? 0
        return null
      },
    }
  }

  /** What a run of the sweeper removes: all that is listed, also by a process that was killed. */
  kind(): SweeperKind {
    const { store, clock } = this.#options
    let listed: readonly Removal[] = []
    let last: Removal | null = null
    return {
      name: 'removals',
      removeSome: async (limit) => {
        if (listed.length === 0) listed = await store.removals.list(last, listedAtOnce)
        const [removal, ...others] = listed
        if (!removal) return null
        const rows = await store.removals.removeSome(removal, limit)
        if (rows > 0) return rows
        if (removal.at + listedFor <= clock()) await store.removals.delete(removal)
        last = removal
        listed = others
        return 0
      },
    }
  }

  /** Ends after the current part. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #removeAll(): Promise<void> {
    const { signal } = this.#stopping
    const { clock } = this.#options
    const kind = this.kind()
    const size = new PartSize()
    const began = clock()
    while (!signal.aborted) {
      const begun = performance.now()
      const rows = await kind.removeSome(size.rows)
      if (rows === null) return
      size.took(rows, performance.now() - begun)
      const rest = restAfter(performance.now() - begun, clock() - began)
      await delay(rest, undefined, { signal }).catch(() => undefined)
    }
  }

  #failed(error: unknown): void {
    this.#options.log({
      level: error instanceof StoreUnavailable ? 'warn' : 'error',
      event: 'removal.failed',
      message: 'Rows of a deleted client or user were not removed; the sweeper tries again.',
      error,
    })
  }
}
