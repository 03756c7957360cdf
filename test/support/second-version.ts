import { sql } from 'kysely'
import { migrationsFor } from '../../src/store/sql/migrations/all.ts'
import type { MigrateOptions } from '../../src/store/sql/migrations/migrate.ts'
import { createIndexOnline, fillInBatches } from '../../src/store/sql/migrations/online.ts'
import type { OpenStore } from '../../src/store/store.ts'

export const secondName = '9999-second-version'
export const secondColumn = 'scopes_copy'
export const secondIndex = 'oauth2server_token_by_scopes_copy'

const table = 'oauth2server_token'

/** The migrations of a fictitious next version, which adds, fills and indexes a column of the token table. */
const secondVersion =
  (beforeOnline: () => Promise<unknown>): typeof migrationsFor =>
  (reference) => ({
    ...migrationsFor(reference),
    [secondName]: {
      async up(db) {
        await db.schema.alterTable(table).addColumn(secondColumn, 'text').execute()
      },
      async down(db) {
        await db.schema.dropIndex(secondIndex).ifExists().execute()
        await db.schema.alterTable(table).dropColumn(secondColumn).execute()
      },
      async online(db) {
        await beforeOnline()
        await fillInBatches(db, { table, column: secondColumn, value: sql`scopes` })
        await createIndexOnline(db, { name: secondIndex, table, columns: [secondColumn] })
      },
    },
  })

/** Migrates the schema to the fictitious next version, or to the migration `to`. */
export const migrateToSecond = (
  store: OpenStore,
  {
    beforeOnline = async () => undefined,
    ...options
  }: Pick<MigrateOptions, 'to' | 'dryRun'> & {
    /** Called after the schema change, before the steps that run while the server handles requests. */
    readonly beforeOnline?: () => Promise<unknown>
  } = {},
) => {
  const given: MigrateOptions = { ...options, migrations: secondVersion(beforeOnline) }
  return store.migrate(given)
}

/** Returns a statement for PostgreSQL that inserts this many copies of a token row. */
export const copyTokens = (count: number): string => `
  insert into oauth2server_token
    (client_key, user_id, token_type, access_token, access_token_digest, scopes, is_personal, is_internal, created_at)
  select t.client_key, t.user_id, t.token_type, t.access_token, 'copy ' || copy, t.scopes, t.is_personal, t.is_internal, t.created_at
  from (select * from oauth2server_token order by id limit 1) as t, generate_series(1, ${count}) as copy`
