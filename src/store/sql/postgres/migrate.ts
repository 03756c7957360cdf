import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, PostgresAdapter, sql } from 'kysely'
import { StoreUnavailable, StoreUnusable } from '../../contract/errors.ts'
import { sqlStateOf } from './errors.ts'

/**
 * Milliseconds for which a migration waits for a table lock. Later statements queue behind the waiting migration. The
 * timeout is shorter than the default `deadlock_timeout` of PostgreSQL. After this time, PostgreSQL might cancel the
 * statement of a request to resolve a deadlock.
 */
export const tableLockTimeout = 500

/**
 * Milliseconds of inactivity after which PostgreSQL aborts the transaction of a migration, so that a disconnected node
 * does not keep the tables locked. A long statement does not count as inactivity.
 */
export const idleTimeout = 10_000

const pause = 250
const maxAttempts = 80
/** Milliseconds after which a wait is reported. Nodes that start together usually wait for a shorter time. */
const usualWait = 2_000

/** The ID of the lock that the adapter of Kysely acquires. */
const lockId = 3853314791062309107n

const tryLock = async (db: Kysely<unknown>): Promise<boolean> => {
  const { rows } = await sql<{
    taken: boolean
  }>`select pg_try_advisory_lock(${sql.lit(lockId)}) as taken`.execute(db)
  return rows[0]?.taken === true
}

/** An adapter with a lock, so that one node migrates while all other nodes wait. */
export class MigrationAdapter extends PostgresAdapter {
  readonly #onWait: () => void

  constructor(onWait: () => void) {
    super()
    this.#onWait = onWait
  }

  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    // The lock belongs to the session. The keepalives end the session of a disconnected node within half a minute.
    await sql`select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
      set_config('tcp_keepalives_count', '3', false)`.execute(db)
    const began = performance.now()
    // Poll instead of waiting in one statement, because a waiting statement holds a snapshot. If the node with the lock
    // runs `create index concurrently`, this statement would wait for the snapshot.
    while (!(await tryLock(db))) {
      if (performance.now() - began > usualWait) this.#onWait()
      await delay(pause)
    }
  }

  override async releaseMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_unlock(${sql.lit(lockId)})`.execute(db)
  }
}

/**
 * Runs a migration, and retries it while other transactions lock its tables.
 * @param onWait called before every retry once the usual waiting time has passed
 * @throws StoreUnusable if the tables remain locked for about a minute
 */
export const whenTablesAreFree = async <T>(
  migrate: () => Promise<T>,
  onWait: () => void = () => undefined,
): Promise<T> => {
  const began = performance.now()
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await migrate()
    } catch (error) {
      if (!isInUse(error)) throw error
      if (attempts === maxAttempts) {
        throw new StoreUnusable(
          'The tables could not be migrated because every attempt found them locked. Look for long transactions in pg_stat_activity.',
          { cause: error },
        )
      }
      if (performance.now() - began > usualWait) onWait()
      await delay(pause)
    }
  }
}

/** Returns whether the error is a lock timeout or a deadlock. */
const isInUse = (error: unknown): boolean =>
  error instanceof StoreUnavailable && ['55P03', '40P01'].includes(sqlStateOf(error.cause) ?? '')
