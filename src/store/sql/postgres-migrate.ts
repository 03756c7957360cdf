import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable, StoreUnusable } from '../store.ts'
import { sqlStateOf } from './postgres-errors.ts'

/**
 * Milliseconds that a migration waits for a table. Whoever comes after it waits behind it, so it gives way
 * soon, and before PostgreSQL looks for a circle and ends a request instead.
 */
export const tableLockTimeout = 500

const pause = 250
const mostTries = 80

/**
 * Runs a migration, and again as long as the tables are in use: nodes of the version before go on meanwhile.
 * @throws StoreUnusable after a minute
 */
export const whenTablesAreFree = async <T>(migrate: () => Promise<T>): Promise<T> => {
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
      await delay(pause)
    }
  }
}

/** Lock not available, or deadlock detected. */
const isInUse = (error: unknown): boolean =>
  error instanceof StoreUnavailable && ['55P03', '40P01'].includes(sqlStateOf(error.cause) ?? '')
