import { migrationsFor } from '../../src/store/sql/migrations/all.ts'

/** The names of all migrations in their order, so that a new migration changes no test. */
export const migrationNames: readonly string[] = Object.keys(
  migrationsFor({
    users: 'built-in',
    types: { id: 'integer', userKey: 'integer' },
    userForeignKey: { exists: false },
  }),
).sort()

/** The name of the last migration. */
export const lastMigration = migrationNames.at(-1) ?? ''
