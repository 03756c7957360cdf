import type { Removal } from '../../model/entities/removal.ts'
import type { UserId } from '../../model/user.ts'
import type { RecordsContext } from '../../records/context.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import type { Store } from '../../store/store.ts'
import { firstBatch, type RemoveSome, removeInBatches } from './sweeper-pace.ts'

/** The maximum number of rows that `begin` removes before it returns. Further rows are removed in the background. */
const maxBeforeReturn = 100
/**
 * After a deletion, the sweeper looks for rows of the client or user for this many milliseconds. A request that began
 * before the deletion may insert a row after the deletion.
 */
const listedFor = 60_000
/** The maximum number of removals that one query lists. */
const listBatch = 20
/** The maximum number of client keys that one run of the sweeper checks in each table. */
const keysPerRun = 200

type Context = Pick<RecordsContext, 'store' | 'clock' | 'log'>

/** Removes the rows of deleted clients and users, in small batches. */
export class Removals {
  readonly #context: Context
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  /** Whether a deletion was committed since the background removal last read the list. */
  #isRequested = false
  #lastKey = 0
  /**
   * Stores notices for the clients at which a deleted user is logged in. Must run before the rows of these logins are
   * removed. Set if OpenID Connect is enabled.
   */
  endLogins: (userId: UserId, store: Store) => Promise<void> = async () => undefined

  constructor(context: Context) {
    this.#context = context
  }

  /**
   * Removes the rows of a deleted client or user: the first rows before this method returns, and the other rows in the
   * background. Call this method after the deletion is committed.
   */
  async begin(removal: Pick<Removal, 'kind' | 'key'>): Promise<void> {
    try {
      for (let removed = 0; removed < maxBeforeReturn; ) {
        const rows = await this.#removeSome(removal, firstBatch)
        if (rows === 0) return
        removed += rows
      }
    } catch (error) {
      // The deletion is committed, so don't fail. The sweeper removes the rows later.
      this.#failed(error)
      return
    }
    this.#isRequested = true
    this.#running ??= this.#removeRequested()
  }

  /**
   * Finds clients that the database deleted through a foreign key to the application's user table, and schedules the
   * removal of their rows.
   */
  async addOrphans(): Promise<void> {
    const { store, clock } = this.#context
    const { keys, last } = await store.removals.findOrphans(this.#lastKey, keysPerRun)
    for (const key of keys) await store.removals.insert({ kind: 'client', key, at: clock() })
    this.#lastKey = last ?? 0
  }

  /**
   * Returns the function that removes the rows of all deleted clients and users. The function also continues removals
   * that a killed process did not finish.
   */
  removeSome(): RemoveSome {
    const { store, clock } = this.#context
    let listed: readonly Removal[] = []
    let last: Removal | null = null
    return async (limit) => {
      if (listed.length === 0)
        listed = await store.removals.select({}, { after: last ?? undefined, limit: listBatch })
      const [removal, ...others] = listed
      if (!removal) return null
      const rows = await this.#removeSome(removal, limit)
      if (rows > 0) return rows
      if (removal.at + listedFor <= clock())
        await store.removals.delete({ kind: removal.kind, key: removal.key })
      last = removal
      listed = others
      return 0
    }
  }

  async #removeSome(removal: Pick<Removal, 'kind' | 'key'>, limit: number): Promise<number> {
    const { store } = this.#context
    if (removal.kind === 'user') await this.endLogins(removal.key, store)
    return store.removals.removeSome(removal, limit)
  }

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  // If a client or user is deleted after a pass has read the list for the last time, another pass is necessary.
  async #removeRequested(): Promise<void> {
    try {
      while (this.#isRequested && !this.#stopping.signal.aborted) {
        this.#isRequested = false
        await removeInBatches([this.removeSome()], this.#stopping.signal)
      }
    } catch (error) {
      this.#failed(error)
    } finally {
      // Reset `#running` in the same turn of the event loop as the last check of `#isRequested`. If `begin` could run
      // in between, `begin` would not start another pass.
      this.#running = undefined
    }
  }

  #failed(error: unknown): void {
    this.#context.log({
      level: error instanceof StoreUnavailable ? 'warn' : 'error',
      event: 'removal.failed',
      message: 'Rows of a deleted client or user were not removed. The sweeper tries again.',
      error,
    })
  }
}
