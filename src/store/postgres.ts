import { Kysely } from 'kysely'
import { Pool, type PoolClient, type PoolConfig, types } from 'pg'
import type { PostgresConnection, PostgresConnections } from './sql/postgres-dialect.ts'
import { PostgresDialect } from './sql/postgres-dialect.ts'
import { tableLockTimeout, whenTablesAreFree } from './sql/postgres-migrate.ts'
import { postgresStore } from './sql/postgres-store.ts'
import type { Tables } from './sql/tables.ts'
import { type OpenStore, type StoreOpener, StoreUnavailable, StoreUnusable } from './store.ts'

export interface PostgresOptions {
  /** Connections of this process at most. Default 10. */
  readonly poolSize?: number
  /** Milliseconds to wait for a connection, from the pool or to the server. Default 2,000. */
  readonly connectTimeout?: number
  /** Milliseconds that a statement may take. Default 5,000. */
  readonly statementTimeout?: number
  /** False where PgBouncer in transaction mode stands between: statements are then not kept prepared. */
  readonly prepare?: boolean
}

/** A PostgreSQL database, version 13 or newer, by its address `postgres://user:password@host/database`. */
export const postgres = (
  url: string,
  {
    poolSize = 10,
    connectTimeout = 2_000,
    statementTimeout = 5_000,
    prepare = true,
  }: PostgresOptions = {},
): StoreOpener => ({
  description: withoutPassword(url),
  async open(users = 'built-in', keyType = 'integer') {
    const newPool = (limits: PoolConfig): Pool => {
      const pool = new Pool({
        connectionString: url,
        application_name: 'svc-oauth2server',
        connectionTimeoutMillis: connectTimeout,
        keepAlive: true,
        types: { getTypeParser },
        ...limits,
      })
      // Without somebody who listens, a connection that is cut off would end the process.
      pool.on('error', () => undefined)
      pool.on('connect', (client) => client.on('error', () => undefined))
      return pool
    }
    const storeOn = (pool: Pool): OpenStore => {
      const dialect = new PostgresDialect(connectionsOf(pool), { prepare })
      return postgresStore(new Kysely<Tables>({ dialect }), users, keyType)
    }
    const pool = newPool({
      max: poolSize,
      statement_timeout: statementTimeout,
      // A little later than the server itself gives up: then it is the network that is gone.
      query_timeout: statementTimeout + 1_000,
      idle_in_transaction_session_timeout: 30_000,
    })
    const store = storeOn(pool)
    try {
      await store.ping()
    } catch (error) {
      await store.close()
      const cause = error instanceof StoreUnavailable ? error.cause : error
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
        // Building an index takes longer than any request may, and so does waiting for another node that does it.
        const patient = storeOn(newPool({ max: 1, lock_timeout: tableLockTimeout }))
        try {
          return await whenTablesAreFree(() => patient.migrate(options))
        } finally {
          await patient.close()
        }
      },
      poolStats: () => ({
        total: pool.totalCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
      }),
    }
  },
})

const connectionsOf = (pool: Pool): PostgresConnections => ({
  acquire: async () => new PooledConnection(await pool.connect()),
  end: () => pool.end(),
})

class PooledConnection implements PostgresConnection {
  readonly #client: PoolClient

  constructor(client: PoolClient) {
    this.#client = client
  }

  async query(sql: string, parameters: readonly unknown[], name: string | undefined) {
    const { rows, rowCount } = await this.#client.query({
      text: sql,
      values: parameters as unknown[],
      ...(name !== undefined && { name }),
    })
    return { rows: rows as Record<string, unknown>[], changes: rowCount ?? 0 }
  }

  release(isBroken: boolean): void {
    this.#client.release(isBroken)
  }
}

const bigint = 20

// Our 64-bit integers are times and ids, all far below 2^53: numbers, as in SQLite.
const getTypeParser: typeof types.getTypeParser = ((oid: number, format: never) =>
  oid === bigint ? Number : types.getTypeParser(oid, format)) as never

const withoutPassword = (url: string): string => {
  if (!URL.canParse(url)) return 'postgres'
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}
