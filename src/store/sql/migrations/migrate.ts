import type { Kysely } from 'kysely'
import { type MigrationInfo, Migrator } from 'kysely/migration'
import { NewerSchema, StoreUnusable } from '../../contract/errors.ts'
import type { MigrationResult } from '../../store.ts'
import { currentSchema, existingTables } from '../existing-tables.ts'
import type { Handle } from '../handle.ts'
import { checkUsers } from '../start-checks.ts'
import type { Tables } from '../tables.ts'
import { migrationsFor } from './all.ts'
import { forgetOnlineAfter, pendingOnline, runOnline } from './online-steps.ts'

const table = 'oauth2server_migration'

export interface MigrateOptions {
  readonly to?: string
  readonly dryRun?: boolean
  /** Only tests set this option. */
  readonly migrations?: typeof migrationsFor
}

/**
 * Migrates the schema to the newest or the named migration, in one transaction. Then runs the pending online steps,
 * also those of earlier calls.
 * @throws StoreUnusable before any change if the named migration is unknown, the tables do not fit the configured
 * users, or a newer version has migrated the database
 */
export const migrate = async (
  handle: Handle,
  { to, dryRun = false, migrations: available = migrationsFor }: MigrateOptions = {},
): Promise<readonly MigrationResult[]> => {
  const { write: db } = handle
  const migrations = available(handle)
  if (to !== undefined && !Object.hasOwn(migrations, to)) {
    throw new StoreUnusable(
      `There is no migration ${to}. Available: ${Object.keys(migrations).join(', ')}.`,
    )
  }
  await checkUsers(handle)
  await refuseNewer(db, Object.keys(migrations))
  const schema = await currentSchema(db)
  if (schema === null)
    throw new StoreUnusable(
      'The PostgreSQL schema of the connection does not exist: create it, or check the option schema and search_path.',
    )
  const migrator = new Migrator({
    db,
    ...(schema !== undefined && { migrationTableSchema: schema }),
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
  })
  const schemaPlan = planned(await migrator.getMigrations(), to)
  const plan = withOnline(schemaPlan, await pendingOnline(db, migrations, to))
  if (dryRun || plan.length === 0) return plan

  if (to !== undefined && plan.some(({ direction }) => direction === 'down'))
    await forgetOnlineAfter(db, to)
  const done = schemaPlan.length > 0 ? await migrateSchema(migrator, to) : []
  const completed = await runOnline(db, migrations, to)
  // The call that completes the online steps of a migration reports the migration. This may be a call of another node.
  const withoutOnline = done.filter(
    ({ name, direction }) => direction === 'down' || !migrations[name]?.online,
  )
  return withOnline(withoutOnline, completed)
}

const migrateSchema = async (
  migrator: Migrator,
  to: string | undefined,
): Promise<readonly MigrationResult[]> => {
  const { error, results = [] } =
    to === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(to)
  if (error) throw error
  return results
    .filter(({ status }) => status === 'Success')
    .map(({ migrationName, direction }) => ({
      name: migrationName,
      direction: direction === 'Up' ? 'up' : 'down',
    }))
}

const withOnline = (
  schema: readonly MigrationResult[],
  online: readonly string[],
): readonly MigrationResult[] => {
  const further = online
    .filter((name) => !schema.some((result) => result.name === name))
    .map((name): MigrationResult => ({ name, direction: 'up' }))
  if (further.length === 0) return schema
  return [...schema, ...further].sort((one, other) => (one.name < other.name ? -1 : 1))
}

const planned = (
  migrations: readonly MigrationInfo[],
  to: string | undefined,
): readonly MigrationResult[] => {
  const last = to ?? migrations.at(-1)?.name ?? ''
  return migrations.flatMap(({ name, executedAt }): MigrationResult[] => {
    if (name <= last && !executedAt) return [{ name, direction: 'up' }]
    if (name > last && executedAt) return [{ name, direction: 'down' }]
    return []
  })
}

const refuseNewer = async (db: Kysely<Tables>, known: readonly string[]): Promise<void> => {
  if (!(await existingTables(db)).includes(table)) return
  const rows = await db
    .withTables<{ [table]: { name: string } }>()
    .selectFrom(table)
    .select('name')
    .execute()
  const applied = rows.map(({ name }) => name)
  const unknown = applied.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const why = `The database was migrated by a newer version of svc-oauth2server (it has ${unknown.join(', ')}).`
  if (known.every((name) => applied.includes(name)))
    throw new NewerSchema(
      `${why} This version can use the database, but only the newer version can migrate the database.`,
    )
  throw new StoreUnusable(`${why} Install that version, or restore a backup.`)
}
