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
import { isLockTimeout, type LockRetries } from '../lock-retries.ts'
import { asStoreError, hasChangedPlan, isBeyondType } from './errors.ts'

export interface PostgresResult {
  readonly rows: Record<string, unknown>[]
  readonly changes: number
}

/** One connection to PostgreSQL, of whatever driver. */
export interface PostgresConnection {
  /** @param name under which the connection keeps the statement prepared; undefined: it does not */
  query(
    sql: string,
    parameters: readonly unknown[],
    name: string | undefined,
  ): Promise<PostgresResult>
  /** Gives it back; for good where it is in an unknown state. */
  release(isBroken: boolean): void
}

/** Where connections come from. */
export interface PostgresConnections {
  acquire(): Promise<PostgresConnection>
  end(): Promise<void>
}

export interface PostgresDialectOptions {
  /** Whether statements stay prepared on their connections; not through PgBouncer in transaction mode. */
  readonly prepare: boolean
  /** How statements outside of transactions are tried again that waited for a lock in vain; by default they fail. */
  readonly lockRetries?: LockRetries | undefined
  /** How one node migrates while others wait. */
  readonly adapter?: DialectAdapter
}

/** Kysely's PostgreSQL with statements that stay prepared, over connections of any driver. */
export class PostgresDialect implements Dialect {
  readonly #driver: PostgresDriver
  readonly #adapter: DialectAdapter

  constructor(
    connections: PostgresConnections,
    { prepare, lockRetries, adapter = new PostgresAdapter() }: PostgresDialectOptions,
  ) {
    this.#driver = new PostgresDriver(connections, new StatementNames(prepare), lockRetries)
    this.#adapter = adapter
  }

  createDriver(): Driver {
    return this.#driver
  }

  /** Runs one statement on a connection of its own, past Kysely. @throws what `asStoreError` knows */
  async run(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    const session = await this.#driver.acquireConnection()
    try {
      return await session.execute(sql, parameters)
    } finally {
      session.release()
    }
  }

  /** The same, without another attempt after a lock timeout. */
  async runOnce(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    const session = await this.#driver.acquireConnection()
    try {
      return await session.executeOnce(sql, parameters)
    } finally {
      session.release()
    }
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
}

/** Statements are few and fixed; lists of differing length must not fill the memory of the server. */
const mostStatements = 300

/** A name for each statement, and new ones for all once the schema has changed under them. */
class StatementNames {
  readonly #prepare: boolean
  readonly #names = new Map<string, string>()
  #generation = 0

  constructor(prepare: boolean) {
    this.#prepare = prepare
  }

  of(sql: string): string | undefined {
    const known = this.#names.get(sql)
    if (known !== undefined || !this.#prepare || this.#names.size >= mostStatements) return known
    const name = `oauth2server_${this.#generation}_${this.#names.size}`
    this.#names.set(sql, name)
    return name
  }

  renew(): void {
    this.#generation += 1
    this.#names.clear()
  }
}

class Session implements DatabaseConnection {
  readonly #driver: PostgresDriver
  #connection: PostgresConnection | undefined
  inTransaction = false
  isBroken = false

  constructor(driver: PostgresDriver, connection: PostgresConnection) {
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
      // Others need the connection meanwhile.
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
    const { names } = this.#driver
    try {
      return await this.#run(sql, parameters)
    } catch (error) {
      if (!this.inTransaction) {
        if (hasChangedPlan(error)) {
          // Another version has migrated the database beside us: the statement is prepared anew.
          names.renew()
          return this.#run(sql, parameters)
        }
        // No row can hold a value that its column cannot.
        if (isBeyondType(error) && sql.startsWith('select')) return { rows: [], changes: 0 }
      } else if (hasChangedPlan(error)) names.renew()
      throw this.failed(error)
    }
  }

  /** Gives the connection back; for good if it is in an unknown state. */
  release(): void {
    this.#connection?.release(this.isBroken)
    this.#connection = undefined
    this.isBroken = false
  }

  // biome-ignore lint/correctness/useYield: nothing of ours streams
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
    const { known, breaksConnection } = asStoreError(error)
    if (breaksConnection) this.isBroken = true
    return known
  }

  #run(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    // A select that is kept fails once when its table has got another column, and a transaction with it.
    const isKept = !(this.inTransaction && sql.startsWith('select'))
    const name = isKept ? this.#driver.names.of(sql) : undefined
    return this.#current.query(sql, parameters, name)
  }

  get #current(): PostgresConnection {
    if (!this.#connection) throw new Error('The connection was given back.')
    return this.#connection
  }
}

class PostgresDriver implements Driver {
  readonly #connections: PostgresConnections
  readonly names: StatementNames
  readonly lockRetries: LockRetries | undefined

  constructor(
    connections: PostgresConnections,
    names: StatementNames,
    lockRetries: LockRetries | undefined,
  ) {
    this.#connections = connections
    this.names = names
    this.lockRetries = lockRetries
  }

  async init(): Promise<void> {}

  async connect(): Promise<PostgresConnection> {
    try {
      return await this.#connections.acquire()
    } catch (error) {
      throw asStoreError(error, { isConnecting: true }).known
    }
  }

  async acquireConnection(): Promise<Session> {
    return new Session(this, await this.connect())
  }

  async beginTransaction(session: Session): Promise<void> {
    await session.command('begin')
    session.inTransaction = true
  }

  async commitTransaction(session: Session): Promise<void> {
    session.inTransaction = false
    await session.command('commit')
  }

  async rollbackTransaction(session: Session): Promise<void> {
    session.inTransaction = false
    // What was cut off is rolled back by the server; why it failed is on its way already.
    if (!session.isBroken) await session.command('rollback').catch(() => undefined)
  }

  async releaseConnection(session: Session): Promise<void> {
    session.release()
  }

  async destroy(): Promise<void> {
    await this.#connections.end()
  }
}
