import { Pool, type PoolClient, type PoolConfig, types } from 'pg'
import type { PoolStats } from '../../store.ts'
import { TimeoutError, unlessStoodStill, withTimeout } from '../../timeout.ts'
import type { PostgresConnection, PostgresConnections } from './dialect.ts'

/** Connections of the driver `pg`. */
export interface PooledConnections extends PostgresConnections {
  stats(): PoolStats
}

/** Keeps connections for who comes next; where one turns out to be silent, all are made anew. */
export const pooledConnections = (config: PoolConfig): PooledConnections => {
  let current = newPool(config)
  const renew = (met: ClientPool) => {
    if (met !== current) return
    current = newPool(config)
    met.abandon()
  }
  const { query_timeout: silence, connectionTimeoutMillis: patience = 0 } = config
  const acquire = async (): Promise<PostgresConnection> => {
    const met = current
    try {
      const client = await unlessStoodStill(patience, () => met.pool.connect())
      return new PooledConnection(client, silence, () => renew(met))
    } catch (error) {
      // The pool was replaced while this caller waited, so try the new one.
      if (met !== current) return acquire()
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

interface ClientPool {
  readonly pool: Pool
  /** Ends it, and soon also what hangs. */
  abandon(): void
}

/** Milliseconds for what is under way on connections that do answer. */
const grace = 500

const newPool = (config: PoolConfig): ClientPool => {
  // The driver's own limit of a query does not notice that this process stood still.
  const { query_timeout: _, ...options } = config
  const pool = new Pool({ ...options, types: { getTypeParser } })
  const clients = new Set<PoolClient>()
  // Without somebody who listens, a connection that is cut off would end the process.
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

class PooledConnection implements PostgresConnection {
  readonly #client: PoolClient
  readonly #silence: number | undefined
  readonly #onSilence: () => void

  constructor(client: PoolClient, silence: number | undefined, onSilence: () => void) {
    this.#client = client
    this.#silence = silence
    this.#onSilence = onSilence
  }

  async query(sql: string, parameters: readonly unknown[], name: string | undefined) {
    try {
      const asked = this.#client.query({
        text: sql,
        values: parameters as unknown[],
        ...(name !== undefined && { name }),
      })
      const { rows, rowCount } = await (this.#silence ? withTimeout(this.#silence, asked) : asked)
      return { rows: rows as Record<string, unknown>[], changes: rowCount ?? 0 }
    } catch (error) {
      // The server ends what takes too long, and says so. Where it says nothing, the network swallows it.
      if (error instanceof TimeoutError) this.#onSilence()
      throw error
    }
  }

  release(isBroken: boolean): void {
    this.#client.release(isBroken)
  }
}

const bigint = 20

// Our 64-bit integers are times and ids, all far below 2^53: numbers, as in SQLite. A key of the application's own users
// that is not stays text, since the nearest number is somebody else's.
const integer = (text: string): number | string => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

const getTypeParser: typeof types.getTypeParser = ((oid: number, format: never) =>
  oid === bigint ? integer : types.getTypeParser(oid, format)) as never
