import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { tables } from '../../src/store/sql/tables.ts'
import type { StoreOpener } from '../../src/store/store.ts'
import { query } from '../support/database.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly isNullable: boolean
  /** The position in the primary key, from 1; otherwise 0. */
  readonly place: number
}

interface Database {
  readonly opener: StoreOpener
  readonly read: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>
  readonly drop: () => Promise<unknown>
}

const sqliteDatabase = async (): Promise<Database> => {
  const folder = await databaseFolder()
  const file = join(folder, 'test.sqlite')
  return {
    opener: sqlite(file),
    read: async (sql) => query(file, sql),
    drop: () => rm(folder, { recursive: true }),
  }
}

const postgresDatabase = async (): Promise<Database> => {
  const { url, query: read, drop } = await makeDatabase()
  return { opener: postgres(url), read, drop }
}

const sqliteColumns = `
  select t.name as "table", c.name as "column", lower(c.type) as type, c."notnull" = 0 and c.pk = 0 as nullable, c.pk as place
  from sqlite_master as t, pragma_table_info(t.name) as c where t.type = 'table'`
const postgresColumns = `
  select c.table_name as table, c.column_name as column, c.data_type as type, c.is_nullable = 'YES' as nullable,
    coalesce(array_position(k.key, a.attnum), 0) as place
  from information_schema.columns as c
  join pg_attribute as a on a.attrelid = c.table_name::regclass and a.attname = c.column_name
  left join (select conrelid, conkey::smallint[] as key from pg_constraint where contype = 'p') as k
    on k.conrelid = a.attrelid
  where c.table_schema = 'public'`

const cases = [
  // In SQLite, `integer` and `bigint` are the same type. A primary key of this type is never null.
  ['SQLite', sqliteDatabase, sqliteColumns, { bigint: 'integer', userKey: 'integer' }, false],
  // A flag is a smallint in the table with the most rows.
  [
    'PostgreSQL',
    postgresDatabase,
    postgresColumns,
    { integer: 'smallint', userKey: 'bigint' },
    await lacks('postgres'),
  ],
] as const

for (const [name, create, sql, equal, isMissing] of cases)
  test.skipIf(isMissing)(
    `the tables of a migrated database on ${name} have exactly the columns, types and keys of the entities [T4780]`,
    async () => {
      const common = (type: string) => Reflect.get(equal, type) ?? type
      const { opener, read, drop } = await create()
      const store = await opener.open()
      try {
        await store.migrate()
        const stored = (await read(sql))
          .filter(({ table }) => /^oauth2server_(?!migration)/.test(String(table)))
          .map(({ table, column, type, nullable, place }) => ({
            table,
            column,
            type: common(String(type)),
            isNullable: Boolean(nullable),
            place: Number(place),
          })) as readonly Column[]
        const declared = tables.flatMap(({ table, key, stored: columns }) =>
          columns.map(({ column, type, isNullable }) => ({
            table,
            column,
            type: common(type),
            isNullable,
            place: key.indexOf(column) + 1,
          })),
        )
        const sorted = (columns: readonly Column[]) =>
          columns.map((column) => JSON.stringify(column)).sort()
        expect(sorted(stored)).toEqual(sorted(declared))
      } finally {
        await store.close()
        await drop()
      }
    },
  )
