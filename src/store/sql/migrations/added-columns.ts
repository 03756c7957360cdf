import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Returns a migration that adds columns. A column with an initial value is never null. */
export const addedColumns = (
  ...columns: readonly (readonly [
    table: string,
    column: string,
    type: 'bigint' | 'integer' | 'text',
    initial?: number | string,
  ])[]
): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [table, column, type, initial] of columns)
      await db.schema
        .alterTable(table)
        .addColumn(column, type, (c) =>
          initial === undefined ? c : c.notNull().defaultTo(initial),
        )
        .execute()
  },

  async down(db: Kysely<unknown>): Promise<void> {
    for (const [table, column] of columns)
      await db.schema.alterTable(table).dropColumn(column).execute()
  },
})
