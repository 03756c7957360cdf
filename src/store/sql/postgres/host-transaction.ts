import { Kysely, sql } from 'kysely'
import type { HostTransaction, PostgresClient, Store } from '../../store.ts'
import type { Handle } from '../handle.ts'
import { storeInTransaction } from '../sql-store.ts'
import type { Tables } from '../tables.ts'
import { PostgresDialect } from './dialect.ts'
import { sqlStateOf } from './errors.ts'
import { hostConnection } from './pool.ts'

/** The commands for a savepoint. The application itself begins and ends the transaction. */
const savepoint = {
  begin: 'savepoint oauth2server',
  commit: 'release savepoint oauth2server',
  rollback: 'rollback to savepoint oauth2server; release savepoint oauth2server',
}

/** The SQLSTATE of the error for a savepoint outside of a transaction. */
const noTransaction = '25P01'

export interface HostTransactionOptions {
  readonly handle: Handle
  /** The schema of the tables; undefined if the `search_path` of the client selects it. */
  readonly schema: string | undefined
}

/** Returns the operation `within` of a PostgreSQL store. */
export const hostTransactions = ({ handle, schema }: HostTransactionOptions) => {
  const running = new WeakSet<PostgresClient>()
  let known: string | undefined

  const checkDatabase = async (tx: Kysely<Tables>): Promise<void> => {
    const theirs = await databaseOf(tx)
    // The result of `databaseOf` changes when PostgreSQL restarts. Before refusing the client, query the value for the
    // store again.
    if (theirs !== known) known = await databaseOf(handle.read, schema)
    if (theirs !== known)
      throw new TypeError(
        'The client is connected to another database than the store, or its search_path does not find the tables of the store.',
      )
  }

  return async <T>(
    client: PostgresClient,
    work: (tx: Store) => Promise<T>,
  ): Promise<HostTransaction<T>> => {
    if (running.has(client))
      throw new TypeError(
        'server.transaction(client, …) already runs on this client. Inside the transaction, use tx.transaction(…).',
      )
    running.add(client)
    const connections = hostConnection(client)
    // Do not prepare statements. A prepared statement fails once after a change of the schema, and the error would
    // abort the transaction of the application.
    const dialect = new PostgresDialect(connections, { prepare: false, transactions: savepoint })
    try {
      return await new Kysely<Tables>({ dialect }).transaction().execute(async (tx) => {
        const leave = schema === undefined ? undefined : await enterSchema(tx, schema)
        await checkDatabase(tx)
        const result = await work(storeInTransaction(tx, handle))
        await leave?.()
        const { rows } = await sql<{
          id: string
        }>`select pg_current_xact_id()::text as id`.execute(tx)
        const id = rows[0]?.id ?? ''
        return { result, outcome: () => outcomeOf(handle.read, id) }
      })
    } catch (error) {
      if (sqlStateOf(error) !== noTransaction) throw error
      throw new TypeError(
        'server.transaction(client, …) needs a client with an open transaction: run begin first, and commit afterwards.',
      )
    } finally {
      running.delete(client)
    }
  }
}

/**
 * Returns a text that identifies the database and its tables. The text contains the start time in microseconds, because
 * two PostgreSQL servers are unlikely to start at the same time.
 */
const databaseOf = async (db: Kysely<Tables>, schema?: string): Promise<string> => {
  const table = schema === undefined ? 'oauth2server_token' : `"${schema}".oauth2server_token`
  const { rows } = await sql<{ place: string }>`select concat_ws('/', pg_postmaster_start_time(),
    current_database(), to_regclass(${table})::oid) as place`.execute(db)
  return rows[0]?.place ?? ''
}

/** Prepends the schema to the `search_path`. Returns a function that restores the former `search_path`. */
const enterSchema = async (tx: Kysely<Tables>, schema: string): Promise<() => Promise<void>> => {
  const { rows } = await sql<{
    path: string
  }>`select current_setting('search_path') as path`.execute(tx)
  const path = rows[0]?.path ?? ''
  const set = async (value: string): Promise<void> => {
    await sql`select set_config('search_path', ${value}, true)`.execute(tx)
  }
  await set(path === '' ? `"${schema}"` : `"${schema}", ${path}`)
  return () => set(path)
}

const outcomeOf = async (
  db: Kysely<Tables>,
  id: string,
): Promise<'committed' | 'aborted' | undefined> => {
  const { rows } = await sql<{
    status: string | null
  }>`select pg_xact_status(${id}::xid8) as status`.execute(db)
  const status = rows[0]?.status
  if (status === 'in progress') return undefined
  return status === 'committed' ? 'committed' : 'aborted'
}
