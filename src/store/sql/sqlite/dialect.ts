import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
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

class TransactionalSqliteAdapter extends SqliteAdapter {
  // DDL is transactional in SQLite, so each migration is atomic. Its transaction holds the write lock from the
  // beginning.
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Returns Kysely's SQLite dialect over one connection of `node:sqlite`. */
export const sqliteDialect = (database: SqliteConnection): Dialect => {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, changes } = await database.run(sql, parameters)
      return { rows: rows as R[], numAffectedRows: changes }
    },
    // biome-ignore lint/correctness/useYield: the store never streams
    async *streamQuery(): AsyncGenerator<never> {
      throw new Error('Streaming is not supported.')
    },
  }
  const driver: Driver = {
    init: async () => undefined,
    acquireConnection: async () => connection,
    beginTransaction: () => database.begin(),
    commitTransaction: () => database.commit(),
    rollbackTransaction: () => database.rollback(),
    releaseConnection: async () => undefined,
    destroy: async () => database.close(),
  }
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalSqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}
