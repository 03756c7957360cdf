import type { DialectAdapter } from 'kysely'
import type { PoolConfig } from 'pg'
import { StoreUnavailable, StoreUnusable } from './contract/errors.ts'
import { LockRetries, lockTimeout } from './sql/lock-retries.ts'
import { PostgresDialect } from './sql/postgres/dialect.ts'
import {
  MigrationAdapter,
  silenceTimeout,
  tableLockTimeout,
  whenTablesAreFree,
} from './sql/postgres/migrate.ts'
import { type PooledConnections, pooledConnections } from './sql/postgres/pool.ts'
import { postgresStore } from './sql/postgres/store.ts'
import type { OpenStore, StoreOpener } from './store.ts'

export interface PostgresOptions {
  /** Connections of this process at most. Default 10. */
  readonly poolSize?: number
  /** Milliseconds to wait for a connection, from the pool or to the server. Default 2,000. */
  readonly connectTimeout?: number
  /**
   * Milliseconds that a statement may take. Default 3,000. A transaction that does nothing for nearly as long
   * is ended too: nothing slow belongs inside one. There is always a limit: 0, which means no limit in PostgreSQL, is refused.
   */
  readonly statementTimeout?: number
  /** False where PgBouncer in transaction mode stands between: statements are then not kept prepared. */
  readonly prepare?: boolean
  /** False: what comes at once does not share statements. For comparisons; there is no other use for it. */
  readonly batch?: boolean
}

/** A PostgreSQL database, version 13 or newer, by its address `postgres://user:password@host/database`. */
export const postgres = (
  url: string,
  {
    poolSize = 10,
    connectTimeout = 2_000,
    statementTimeout = 3_000,
    prepare = true,
    batch = true,
  }: PostgresOptions = {},
): StoreOpener => ({
  description: withoutPassword(url),
  async open(users = 'built-in', keyType = 'integer') {
    if (!(Number.isInteger(statementTimeout) && statementTimeout > 0))
      throw new StoreUnusable(
        'statementTimeout accepts whole milliseconds from 1. It cannot be switched off: a request must never hang.',
      )
    const connect = (limits: PoolConfig): PooledConnections =>
      pooledConnections({
        connectionString: url,
        application_name: 'svc-oauth2server',
        connectionTimeoutMillis: connectTimeout,
        keepAlive: true,
        ...limits,
      })
    const storeOn = (
      connections: PooledConnections,
      {
        lockRetries,
        adapter,
      }: { readonly lockRetries?: LockRetries; readonly adapter?: DialectAdapter } = {},
    ): OpenStore => {
      const dialect = new PostgresDialect(connections, {
        prepare,
        lockRetries,
        ...(adapter && { adapter }),
      })
      return postgresStore(dialect, users, { keyType, batch, lockRetries })
    }
    const connections = connect({
      max: poolSize,
      ...(prepare && planned(url)),
      statement_timeout: statementTimeout,
      lock_timeout: Math.min(lockTimeout, statementTimeout),
      // A little later than the server itself gives up: then it is the network that is gone.
      query_timeout: statementTimeout + margin,
      // A little earlier, so that others get the locks of a node that was cut off in time.
      idle_in_transaction_session_timeout: Math.max(statementTimeout - margin, margin),
    })
    const lockRetries = new LockRetries({ poolSize, limit: statementTimeout, connectTimeout })
    const store = storeOn(connections, { lockRetries })
    try {
      await store.ping()
    } catch (error) {
      await store.close()
      const cause = error instanceof StoreUnavailable ? (error.cause ?? error) : error
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
      throw new StoreUnusable(
        `The database ${withoutPassword(url)} cannot be used (${reason}). Check that it runs, and DATABASE_URL.`,
        { cause: error },
      )
    }
    return {
      ...store,
      async migrate(options) {
        const plan = await store.migrate({ ...options, dryRun: true })
        if (options?.dryRun || plan.length === 0) return plan
        let isSaid = false
        const onWait = () => {
          if (!isSaid) options?.onWait?.()
          isSaid = true
        }
        // Building an index takes longer than any request may, and so does waiting for another node that does it.
        const patient = storeOn(
          connect({
            max: 1,
            lock_timeout: tableLockTimeout,
            idle_in_transaction_session_timeout: silenceTimeout,
            // Nothing else tells this side of a cut: no statement of it has a limit.
            keepAliveInitialDelayMillis: silenceTimeout,
          }),
          { adapter: new MigrationAdapter(onWait) },
        )
        try {
          return await whenTablesAreFree(() => patient.migrate(options), onWait)
        } finally {
          await patient.close()
        }
      },
      poolStats() {
        const stats = connections.stats()
        return { ...stats, waiting: stats.waiting + lockRetries.waiting }
      },
    }
  },
})

/** Milliseconds. */
const margin = 500

/**
 * A prepared statement keeps the plan of its first executions, and so does the check of a foreign key. Made while a
 * table is small, it would read the whole of it, and go on so while the table grows. Each statement of ours looks up keys.
 */
const planSettings = [
  'enable_seqscan',
  'enable_indexonlyscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'jit',
]
  .map((setting) => `-c ${setting}=off`)
  .join(' ')

// An address may have options of its own, which would take the place of ours.
const planned = (url: string): PoolConfig => {
  const address = URL.canParse(url) ? new URL(url) : undefined
  const given = address?.searchParams.get('options')
  if (!address || !given) return { options: planSettings }
  address.searchParams.set('options', `${planSettings} ${given}`)
  return { connectionString: address.href }
}

const withoutPassword = (url: string): string => {
  if (!URL.canParse(url)) return 'postgres'
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}
