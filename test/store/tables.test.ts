import { expect, test } from 'vitest'
import { tables } from '../../src/store/sql/tables.ts'
import { lacks } from '../support/needs.ts'
import { newDatabase } from '../support/new-database.ts'

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly isNullable: boolean
  /** The position in the primary key, from 1; otherwise 0. */
  readonly place: number
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
  ['SQLite', newDatabase.SQLite, sqliteColumns, { bigint: 'integer', userKey: 'integer' }, false],
  // A flag is a smallint in the table with the most rows.
  [
    'PostgreSQL',
    newDatabase.PostgreSQL,
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
      const { opener, query, drop } = await create()
      const store = await opener.open()
      try {
        await store.migrate()
        const stored = (await query(sql))
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
