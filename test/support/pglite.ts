import { PGlite } from '@electric-sql/pglite'
import { type PostgresConnection, PostgresDialect } from '../../src/store/sql/postgres/dialect.ts'
import { postgresStore } from '../../src/store/sql/postgres/store.ts'
import type { StoreOpener } from '../../src/store/store.ts'

/** Opens PGlite: PostgreSQL inside this process, with a single connection. */
export const pglite = async (): Promise<StoreOpener & { end(): Promise<void> }> => {
  const database = await PGlite.create()
  const waiting: (() => void)[] = []
  let isTaken = false
  const connection: PostgresConnection = {
    async query(sql, parameters) {
      const { rows, affectedRows = 0 } = await database.query<Record<string, unknown>>(
        sql,
        parameters as unknown[],
      )
      return { rows, changes: Math.max(affectedRows, rows.length) }
    },
    release() {
      const next = waiting.shift()
      if (next) next()
      else isTaken = false
    },
  }
  const connections = {
    async acquire() {
      if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve))
      isTaken = true
      return connection
    },
    async end() {},
  }
  return {
    description: 'pglite',
    async open(users = 'built-in', keyType = 'integer') {
      const dialect = new PostgresDialect(connections, { prepare: false })
      return postgresStore(dialect, users, { keyType, batch: true })
    },
    end: () => database.close(),
  }
}
