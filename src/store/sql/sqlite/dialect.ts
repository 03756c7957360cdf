import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { StatementResult } from './database.ts'

/** A connection of `node:sqlite`, in this thread or in another thread. */
export interface SqliteConnection {
  run(sql: string, parameters: readonly unknown[]): Promise<StatementResult>
  begin(): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  close(): void | Promise<void>
}

/** Kysely's SQLite dialect over one connection of `node:sqlite`. */
export class SqliteDialect implements Dialect {
  readonly #database: SqliteConnection

  constructor(database: SqliteConnection) {
    this.#database = database
  }

  createDriver(): Driver {
    return new SqliteDriver(this.#database)
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler()
  }

  createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter()
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db)
  }
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  // DDL is transactional in SQLite, so each migration is atomic. Its transaction holds the write lock from the
  // beginning.
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class SqliteDriver implements Driver {
  readonly #database: SqliteConnection
  readonly #connection: DatabaseConnection

  constructor(database: SqliteConnection) {
    this.#database = database
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const { rows, changes } = await database.run(sql, parameters)
        return { rows: rows as R[], numAffectedRows: changes }
      },
      // biome-ignore lint/correctness/useYield: the store never streams
      async *streamQuery(): AsyncGenerator<never> {
        throw new Error('Streaming is not supported.')
      },
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    await this.#database.begin()
  }

  async commitTransaction(): Promise<void> {
    await this.#database.commit()
  }

  async rollbackTransaction(): Promise<void> {
    await this.#database.rollback()
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#database.close()
  }
}
