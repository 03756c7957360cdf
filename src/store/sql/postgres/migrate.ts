import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, PostgresAdapter, sql } from 'kysely'
import { StoreUnavailable, StoreUnusable } from '../../contract/errors.ts'
import { sqlStateOf } from './errors.ts'

/**
 * Milliseconds that a migration waits for the lock of a table. Later statements queue behind it, so it gives up soon, and
 * before PostgreSQL's deadlock detection would cancel a request instead.
 */
export const tableLockTimeout = 500

/**
 * Milliseconds after which PostgreSQL ends a migration whose node says nothing more: it was cut off, and its tables
 * would be locked for everybody until somebody notices. A statement that takes long is not silence.
 */
export const silenceTimeout = 10_000

const pause = 250
const mostTries = 80
/** Milliseconds. Of nodes that start together, all but one wait for a moment: that is worth no word. */
const moment = 2_000

/** That of Kysely's own adapter. */
const lockId = 3853314791062309107n

const isLockTaken = async (db: Kysely<unknown>): Promise<boolean> => {
  const { rows } = await sql<{
    taken: boolean
  }>`select pg_try_advisory_lock(${sql.lit(lockId)}) as taken`.execute(db)
  return rows[0]?.taken === true
}

/** Takes the lock under which one node migrates and all others wait. */
export class MigrationAdapter extends PostgresAdapter {
  readonly #onWait: () => void

  constructor(onWait: () => void) {
    super()
    this.#onWait = onWait
  }

  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    // The lock is that of the session. One whose node was cut off outside of a transaction ends within half a minute.
    await sql`select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
      set_config('tcp_keepalives_count', '3', false)`.execute(db)
    const began = performance.now()
    // Asks again and again: a statement that waits keeps a snapshot, and `create index concurrently` under the lock would
    // wait for that snapshot.
    while (!(await isLockTaken(db))) {
      if (performance.now() - began > moment) this.#onWait()
      await delay(pause)
    }
  }

  override async releaseMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_unlock(${sql.lit(lockId)})`.execute(db)
  }
}

/**
 * Runs a migration, and again as long as the tables are in use: nodes of the version before go on meanwhile.
 * @param onWait called with every try after a moment
 * @throws StoreUnusable after a minute
 */
export const whenTablesAreFree = async <T>(
  migrate: () => Promise<T>,
  onWait: () => void = () => undefined,
): Promise<T> => {
  const began = performance.now()
  for (let tries = 1; ; tries += 1) {
    try {
      return await migrate()
    } catch (error) {
      if (!isInUse(error)) throw error
      if (tries === mostTries) {
        throw new StoreUnusable(
          'The tables could not be migrated, since somebody was using them all the time. Look for long transactions in pg_stat_activity.',
          { cause: error },
        )
      }
      if (performance.now() - began > moment) onWait()
      await delay(pause)
    }
  }
}

/** Lock not available, or deadlock detected. */
const isInUse = (error: unknown): boolean =>
  error instanceof StoreUnavailable && ['55P03', '40P01'].includes(sqlStateOf(error.cause) ?? '')
