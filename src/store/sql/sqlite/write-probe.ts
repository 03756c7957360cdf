import { type Kysely, sql } from 'kysely'
import { StoreUnavailable } from '../../contract/errors.ts'
import { TimeoutError, withTimeout } from '../../timeout.ts'
import type { Tables } from '../tables.ts'
import { isLocked } from './database.ts'

/** Milliseconds between two probes while writes succeed. */
const interval = 5_000
/**
 * Milliseconds for which a caller waits for a probe. A slower probe, for instance because of a lock, is not a failure.
 */
const maxWait = 500
/** The number of characters that a probe writes. */
const size = 4_000
/**
 * The number of characters that a probe writes after a failure. A larger probe fails on a full disk even if
 * a single page is free.
 */
const recoverySize = 256_000

const key = 'write probe'

/** Checks whether the database is writable. On a full or broken disk, reads still succeed. */
export class SqliteWriteProbe {
  readonly #write: Kysely<Tables>
  #failure: StoreUnavailable | undefined
  #probedAt = Number.NEGATIVE_INFINITY
  #probing: Promise<void> | undefined

  constructor(write: Kysely<Tables>) {
    this.#write = write
  }

  /** @throws StoreUnavailable if the latest probe could not write */
  async check(): Promise<void> {
    const isDue = this.#failure !== undefined || performance.now() - this.#probedAt >= interval
    if (isDue) {
      this.#probing ??= this.#probe().finally(() => {
        this.#probing = undefined
      })
      await withTimeout(maxWait, this.#probing).catch(ignoreTimeout)
    }
    if (this.#failure) throw this.#failure
  }

  async #probe(): Promise<void> {
    const value = 'x'.repeat(this.#failure ? recoverySize : size)
    try {
      // Use two commits, because pages that one transaction allocates and frees are never written. If the delete fails,
      // the sweeper deletes the row, because its `expires_at` is 0.
      await sql`insert into oauth2server_transient (key, value, count, expires_at) values (${key}, ${value}, 0, 0)
        on conflict (key) do update set value = excluded.value`.execute(this.#write)
      await sql`delete from oauth2server_transient where key = ${key}`.execute(this.#write)
      this.#failure = undefined
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      // A lock means that another connection can write.
      if (!isLocked(error.cause)) this.#failure = error
    }
    this.#probedAt = performance.now()
  }
}

const ignoreTimeout = (error: unknown): void => {
  if (!(error instanceof TimeoutError)) throw error
}
