import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { makeDatabase } from '../../support/postgres.ts'

export type StoreName = 'sqlite' | 'postgres'

type Row = Readonly<Record<string, unknown>>

/** Rows that differ from a template row in a few columns. */
export interface Copies {
  readonly table: string
  /** The SQL condition that selects the template row, which has the alias `t`. */
  readonly template: string
  readonly count: number
  /** SQL for the columns that differ, including all unique columns. The number of the copy is `i`, from 1. */
  readonly columns: Readonly<Record<string, string>>
}

/** A new database that SQL statements fill without the store. */
export interface LoadDatabase {
  readonly store: StoreName
  /** The value of `DATABASE_URL`. */
  readonly url: string
  query(sql: string): Promise<readonly Row[]>
  /** Inserts copies of a row without checking foreign keys. */
  copy(copies: Copies): Promise<void>
  /** Runs the pending work of autovacuum, and writes a checkpoint. */
  settle(): Promise<void>
  /** SQL for a random text that is as long as a digest. */
  readonly randomDigest: string
  remove(): Promise<void>
}

/** Returns SQL that copies the template row. The database assigns numeric keys that `columns` does not set. */
const copySql = (
  { table, template, columns }: Copies,
  names: readonly string[],
  numbers: string,
): string => {
  const known = names.filter((name) => name !== 'id' || columns.id !== undefined)
  const unknown = Object.keys(columns).filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new Error(`${table} has no column ${unknown.join(', ')}`)
  const values = known.map((name) => columns[name] ?? `t.${name}`)
  return `insert into ${table} (${known.join(', ')})
    select ${values.join(', ')} from ${table} as t, ${numbers} where ${template}`
}

const openSqlite = async (): Promise<LoadDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-neighbours-'))
  const path = join(folder, 'load.sqlite')
  const using = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: 5000 })
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  return {
    store: 'sqlite',
    url: `sqlite:${path}`,
    query: async (sql) => using((database) => database.prepare(sql).all() as Row[]),
    async copy(copies) {
      using((database) => {
        database.exec('pragma synchronous = off; pragma cache_size = -1000000')
        const columns = database.prepare(`select name from pragma_table_info('${copies.table}')`)
        const names = columns.all().map(({ name }) => String(name))
        const numbers = `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${copies.count})
          select i from n) as n`
        database.exec(copySql(copies, names, numbers))
      })
    },
    settle: async () => using((database) => database.exec('pragma wal_checkpoint(truncate)')),
    randomDigest: 'substr(hex(randomblob(22)), 1, 43)',
    // Retry, because a process that was just stopped may still write files.
    remove: () => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 100 }),
  }
}

const openPostgres = async (): Promise<LoadDatabase> => {
  const { url, query, drop } = await makeDatabase()
  return {
    store: 'postgres',
    url,
    query: (sql) => query(sql),
    async copy(copies) {
      const { table, count, columns } = copies
      const client = new Client({ connectionString: url })
      await client.connect()
      try {
        await client.query('set session_replication_role = replica')
        const { rows } = await client.query(
          'select column_name from information_schema.columns where table_name = $1 order by ordinal_position',
          [table],
        )
        const names = rows.map(({ column_name }) => String(column_name))
        await client.query(copySql(copies, names, `generate_series(1, ${count}) as i`))
        if (columns.id !== undefined)
          await client.query(
            `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
          )
      } finally {
        await client.end()
      }
    },
    async settle() {
      await query('vacuum analyze')
    },
    randomDigest: `substr(encode(sha256((random()::text || i)::bytea), 'hex'), 1, 43)`,
    remove: drop,
  }
}

/** Creates a database. A PostgreSQL database is created on the server at `TEST_POSTGRES_URL`. */
export const openDatabase = (store: StoreName): Promise<LoadDatabase> =>
  store === 'sqlite' ? openSqlite() : openPostgres()
