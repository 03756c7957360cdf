// Database access for peers whose library does not include any. Uses prepared statements, like the floor.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import pg from 'pg'
import { place } from '../../support/serve.ts'

export type Value = string | number | null
export type Row = Readonly<Record<string, unknown>>

export interface Sql {
  /** Runs a script of statements. */
  script(text: string): Promise<void>
  /** Runs a prepared statement with the parameters `$1`, `$2` … in this order. */
  rows(text: string, values: readonly Value[]): Promise<readonly Row[]>
}

const inSqlite = (): Sql => {
  const database = new DatabaseSync(place.at, { timeout: 1000 })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  const statements = new Map<string, StatementSync>()
  return {
    async script(text) {
      database.exec(text)
    },
    async rows(text, values) {
      let statement = statements.get(text)
      if (!statement) {
        statement = database.prepare(text.replaceAll(/\$\d+/g, '?'))
        statements.set(text, statement)
      }
      return statement.all(...(values as SQLInputValue[]))
    },
  }
}

const inPostgres = (): Sql => {
  const pool = new pg.Pool({ connectionString: place.at, max: 10 })
  const names = new Map<string, string>()
  return {
    async script(text) {
      await pool.query(text)
    },
    async rows(text, values) {
      let name = names.get(text)
      if (name === undefined) {
        name = `statement_${names.size}`
        names.set(text, name)
      }
      return (await pool.query({ name, text, values: [...values] })).rows
    },
  }
}

export const openSql = (): Sql => (place.kind === 'postgres' ? inPostgres() : inSqlite())
