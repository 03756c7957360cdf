import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { sha256 } from '../../../crypto/digest.ts'
import { isLockTimeout, type LockRetries } from '../lock-retries.ts'
import { asStoreError, hasChangedPlan, isBeyondType } from './errors.ts'

export interface PostgresResult {
  readonly rows: Record<string, unknown>[]
  readonly changes: number
}

/** A connection to PostgreSQL, for any driver. */
export interface PostgresConnection {
  /** @param name the name of the prepared statement. If undefined, the statement is not prepared. */
  query(
    sql: string,
    parameters: readonly unknown[],
    name: string | undefined,
  ): Promise<PostgresResult>
  /** Returns the connection to its pool. A broken connection is closed instead. */
  release(isBroken: boolean): void
}

/** A source of connections. */
export interface PostgresConnections {
  acquire(): Promise<PostgresConnection>
  end(): Promise<void>
}

export interface PostgresDialectOptions {
  /** Whether statements are prepared. False behind PgBouncer in transaction mode. */
  readonly prepare: boolean
  /**
   * Retries statements outside of transactions after lock timeouts. If undefined, these statements fail after a lock
   * timeout.
   */
  readonly lockRetries?: LockRetries | undefined
  /** The adapter with the migration lock. The default is the adapter of Kysely. */
  readonly adapter?: DialectAdapter
  readonly transactions?: TransactionCommands | undefined
}

/** The commands that begin and end a transaction. */
export interface TransactionCommands {
  readonly begin: string
  readonly commit: string
  readonly rollback: string
}

const ordinary: TransactionCommands = { begin: 'begin', commit: 'commit', rollback: 'rollback' }

/** Kysely's PostgreSQL dialect with prepared statements, for any driver. The dialect is the driver of one `Kysely`. */
export class PostgresDialect implements Dialect, Driver {
  readonly #connections: PostgresConnections
  readonly #adapter: DialectAdapter
  readonly #transactions: TransactionCommands
  readonly names: StatementNames
  readonly lockRetries: LockRetries | undefined

  constructor(
    connections: PostgresConnections,
    {
      prepare,
      lockRetries,
      adapter = new PostgresAdapter(),
      transactions = ordinary,
    }: PostgresDialectOptions,
  ) {
    this.#connections = connections
    this.#adapter = adapter
    this.#transactions = transactions
    this.names = new StatementNames(prepare)
    this.lockRetries = lockRetries
  }

  /** Runs one statement on a connection of the pool, without Kysely. @throws the errors of `asStoreError` */
  run(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    return this.#onSession((session) => session.execute(sql, parameters))
  }

  /** Runs one statement without a retry after a lock timeout. @throws the errors of `asStoreError` */
  runOnce(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    return this.#onSession((session) => session.executeOnce(sql, parameters))
  }

  createDriver(): Driver {
    return this
  }

  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler()
  }

  createAdapter(): DialectAdapter {
    return this.#adapter
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db)
  }

  async init(): Promise<void> {}

  async connect(): Promise<PostgresConnection> {
    try {
      return await this.#connections.acquire()
    } catch (error) {
      throw asStoreError(error, { isConnecting: true }).storeError
    }
  }

  async acquireConnection(): Promise<Session> {
    return new Session(this, await this.connect())
  }

  async beginTransaction(session: Session): Promise<void> {
    await session.command(this.#transactions.begin)
    session.inTransaction = true
  }

  async commitTransaction(session: Session): Promise<void> {
    session.inTransaction = false
    await session.command(this.#transactions.commit)
  }

  async rollbackTransaction(session: Session): Promise<void> {
    session.inTransaction = false
    // Ignore an error of `rollback`, because it would hide the original error. PostgreSQL rolls back the transaction of
    // a lost connection.
    if (!session.isBroken) await session.command(this.#transactions.rollback).catch(() => undefined)
  }

  async releaseConnection(session: Session): Promise<void> {
    session.release()
  }

  async destroy(): Promise<void> {
    await this.#connections.end()
  }

  async #onSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.acquireConnection()
    try {
      return await work(session)
    } finally {
      session.release()
    }
  }
}

/**
 * The maximum number of prepared statements, because PostgreSQL stores every statement in every connection. Most texts
 * are fixed, but a statement with a list has a different text for each length of the list.
 */
const maxStatements = 300

/** Assigns a name to each prepared statement, and new names after a change of the schema. */
class StatementNames {
  readonly #prepare: boolean
  readonly #names = new Map<string, string>()
  #generation = 0

  constructor(prepare: boolean) {
    this.#prepare = prepare
  }

  of(sql: string): string | undefined {
    const existing = this.#names.get(sql)
    if (existing !== undefined || !this.#prepare || this.#names.size >= maxStatements)
      return existing
    // Derive the name from the text. Two servers may share the connections of an application's pool, and a name must
    // not refer to different statements.
    const name = `oauth2server_${this.#generation}_${sha256(sql)}`
    this.#names.set(sql, name)
    return name
  }

  renew(): void {
    this.#generation += 1
    this.#names.clear()
  }
}

class Session implements DatabaseConnection {
  readonly #driver: PostgresDialect
  #connection: PostgresConnection | undefined
  inTransaction = false
  isBroken = false

  constructor(driver: PostgresDialect, connection: PostgresConnection) {
    this.#driver = driver
    this.#connection = connection
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.execute(sql, parameters)
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    try {
      return await this.executeOnce(sql, parameters)
    } catch (error) {
      const { lockRetries } = this.#driver
      if (this.inTransaction || !lockRetries || !isLockTimeout(error)) throw error
      // Release the connection while this statement waits for its next attempt.
      this.release()
      const attempt = async () => {
        this.#connection = await this.#driver.connect()
        try {
          return await this.executeOnce(sql, parameters)
        } catch (error) {
          this.release()
          throw error
        }
      }
      return lockRetries.again(attempt, error)
    }
  }

  async executeOnce(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    try {
      return await this.#runPrepared(sql, parameters)
    } catch (error) {
      // A value that does not fit the type of its column matches no row.
      if (!this.inTransaction && isBeyondType(error) && sql.startsWith('select'))
        return { rows: [], changes: 0 }
      throw this.failed(error)
    }
  }

  /** Returns the connection to its pool; closes a broken connection. */
  release(): void {
    this.#connection?.release(this.isBroken)
    this.#connection = undefined
    this.isBroken = false
  }

  // biome-ignore lint/correctness/useYield: the store never streams
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('Streaming is not supported.')
  }

  async command(sql: string): Promise<void> {
    try {
      await this.#current.query(sql, [], undefined)
    } catch (error) {
      this.isBroken = true
      throw this.failed(error)
    }
  }

  failed(error: unknown): unknown {
    const { storeError, breaksConnection } = asStoreError(error)
    if (breaksConnection) this.isBroken = true
    return storeError
  }

  async #runPrepared(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    try {
      return await this.#run(sql, parameters)
    } catch (error) {
      if (!hasChangedPlan(error)) throw error
      // A migration has changed the table since the statement was prepared, so prepare the statement again.
      this.#driver.names.renew()
      if (this.inTransaction) throw error
      return this.#run(sql, parameters)
    }
  }

  #run(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    // Do not prepare a select in a transaction: a prepared select fails once after a column was added to its table, and
    // the error would abort the transaction.
    const isPrepared = !(this.inTransaction && sql.startsWith('select'))
    const name = isPrepared ? this.#driver.names.of(sql) : undefined
    return this.#current.query(sql, parameters, name)
  }

  get #current(): PostgresConnection {
    if (!this.#connection) throw new Error('The connection was released.')
    return this.#connection
  }
}
