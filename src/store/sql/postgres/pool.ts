import { Pool, type PoolClient, type PoolConfig, types } from 'pg'
import type { PoolStats, PostgresClient, PostgresPool, PostgresPoolClient } from '../../store.ts'
import { retryAfterStall, TimeoutError, withTimeout } from '../../timeout.ts'
import type { PostgresConnection, PostgresConnections } from './dialect.ts'

/** A connection pool of the driver `pg`. */
export interface PooledConnections extends PostgresConnections {
  stats(): PoolStats
}

/** Creates a connection pool. If a connection does not respond in time, the whole pool is replaced. */
export const pooledConnections = (config: PoolConfig): PooledConnections => {
  let current = newPool(config)
  const renew = (used: ClientPool) => {
    if (used !== current) return
    current = newPool(config)
    used.abandon()
  }
  const { query_timeout: responseTimeout, connectionTimeoutMillis: connectTimeout = 0 } = config
  const acquire = async (): Promise<PostgresConnection> => {
    const used = current
    try {
      const client = await retryAfterStall(connectTimeout, () => used.pool.connect())
      const connection = new ClientConnection(client, responseTimeout, () => renew(used))
      return {
        query: (sql, parameters, name) => connection.query(sql, parameters, name),
        release: (isBroken) => client.release(isBroken),
      }
    } catch (error) {
      // The pool was replaced while this caller waited, so try the new pool.
      if (used !== current) return acquire()
      throw error
    }
  }
  return {
    acquire,
    end: () => current.pool.end(),
    stats: () => ({
      total: current.pool.totalCount,
      idle: current.pool.idleCount,
      waiting: current.pool.waitingCount,
    }),
  }
}

export interface HostConnectionOptions {
  /** Milliseconds after which a connection that does not respond is closed. Default: never. */
  readonly responseTimeout?: number
  /**
   * SQL settings for each connection. If the list is not empty, a connection is closed after its use instead of reused.
   */
  readonly settings?: readonly string[]
}

/** Uses the connections of a pool of the application. */
export const hostConnections = (
  pool: PostgresPool,
  { responseTimeout, settings = [] }: HostConnectionOptions,
): PooledConnections => ({
  async acquire() {
    const client = await listeningClient(pool)
    const connection = new ClientConnection(client, responseTimeout)
    const release = (isBroken: boolean): void => {
      client.off('error', ignore)
      client.release(isBroken || settings.length > 0)
    }
    try {
      for (const setting of settings) await connection.query(`set ${setting}`, [], undefined)
    } catch (error) {
      release(true)
      throw error
    }
    return { query: (sql, parameters, name) => connection.query(sql, parameters, name), release }
  },
  // The pool belongs to the application, so only the application ends it.
  end: async () => undefined,
  stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
})

/**
 * Acquires a client of a pool, with a listener for errors. Adds the listener in the callback, because the connection
 * could be lost before code after an `await` runs.
 */
const listeningClient = (pool: PostgresPool) =>
  new Promise<PostgresPoolClient>((resolve, reject) => {
    pool.connect((error, client) => {
      if (!client) return reject(error)
      client.on('error', ignore)
      resolve(client)
    })
  })

/** Uses one client of the application, which the application releases. */
export const hostConnection = (client: PostgresClient): PostgresConnections => {
  const connection = new ClientConnection(client, undefined)
  return {
    acquire: async () => ({
      query: (sql, parameters, name) => connection.query(sql, parameters, name),
      release: ignore,
    }),
    end: async () => undefined,
  }
}

// Without a listener, the error event of a lost connection would end the process. The query reports the same error.
const ignore = (): void => undefined

interface ClientPool {
  readonly pool: Pool
  /** Closes the pool, and soon afterwards also connections that are still in use. */
  abandon(): void
}

/** Milliseconds in which running statements may finish before an abandoned pool closes its connections. */
const grace = 500

const newPool = (config: PoolConfig): ClientPool => {
  // Use `withTimeout` instead of the query timeout of the driver. The driver would report a timeout even if only the
  // event loop was blocked.
  const { query_timeout: _, ...options } = config
  const pool = new Pool(options)
  const clients = new Set<PoolClient>()
  // Without a listener, the error event of a lost connection would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    clients.add(client)
    client.on('error', () => undefined)
  })
  pool.on('remove', (client) => clients.delete(client))
  return {
    pool,
    abandon() {
      void pool.end()
      const cut = () => clients.forEach(destroy)
      setTimeout(cut, grace).unref()
    },
  }
}

const destroy = (client: PoolClient): void => {
  const { connection } = client as PoolClient & {
    readonly connection: { readonly stream: { destroy(): void } }
  }
  connection.stream.destroy()
}

/** Runs statements on a client of the driver `pg`, and converts 64-bit integers to numbers. */
class ClientConnection {
  readonly #client: PostgresClient
  readonly #responseTimeout: number | undefined
  readonly #onTimeout: () => void

  constructor(
    client: PostgresClient,
    responseTimeout: number | undefined,
    onTimeout: () => void = ignore,
  ) {
    this.#client = client
    this.#responseTimeout = responseTimeout
    this.#onTimeout = onTimeout
  }

  async query(sql: string, parameters: readonly unknown[], name: string | undefined) {
    try {
      const result = this.#client.query({
        text: sql,
        values: parameters as unknown[],
        types: ownTypes,
        ...(name !== undefined && { name }),
      })
      const { rows, rowCount } = await (this.#responseTimeout
        ? withTimeout(this.#responseTimeout, result)
        : result)
      return { rows: rows as Record<string, unknown>[], changes: rowCount ?? 0 }
    } catch (error) {
      // PostgreSQL cancels a slow statement before this timeout and reports an error. If not even an error arrives, the
      // connection is lost.
      if (error instanceof TimeoutError) this.#onTimeout()
      throw error
    }
  }
}

const bigint = 20

// The 64-bit integers of the store are times and IDs below 2^53, so they are converted to numbers, as in SQLite. A
// larger user key of the application remains text, because the nearest number could be the key of another user.
const integer = (text: string): number | string => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

const getTypeParser: typeof types.getTypeParser = ((oid: number, format: never) =>
  oid === bigint ? integer : types.getTypeParser(oid, format)) as never

const ownTypes = { getTypeParser }
