import type { Kysely } from 'kysely'
import { type MigrationInfo, Migrator } from 'kysely/migration'
import { type MigrationResult, NewerSchema, StoreUnusable } from '../store.ts'
import type { Handle } from './handle.ts'
import { migrationsFor } from './migrations/all.ts'
import type { Tables } from './tables.ts'

const table = 'oauth2server_migration'

/** Brings the schema to the newest migration, or to the one named. All of it happens, or nothing. */
export const migrate = async (
  { write: db, users, types }: Handle,
  { to, dryRun = false }: { readonly to?: string; readonly dryRun?: boolean } = {},
): Promise<readonly MigrationResult[]> => {
  const migrations = migrationsFor({ users, types })
  if (to !== undefined && !Object.hasOwn(migrations, to)) {
    throw new StoreUnusable(
      `There is no migration ${to}. Known: ${Object.keys(migrations).join(', ')}.`,
    )
  }
  await refuseNewer(db, Object.keys(migrations))
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
  })
  const known = await migrator.getMigrations()
  if (dryRun) return planned(known, to)
  if (to === undefined && known.every(({ executedAt }) => executedAt)) return []

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

const planned = (
  known: readonly MigrationInfo[],
  to: string | undefined,
): readonly MigrationResult[] => {
  const last = to ?? known.at(-1)?.name ?? ''
  return known.flatMap(({ name, executedAt }): MigrationResult[] => {
    if (name <= last && !executedAt) return [{ name, direction: 'up' }]
    if (name > last && executedAt) return [{ name, direction: 'down' }]
    return []
  })
}

const refuseNewer = async (db: Kysely<Tables>, known: readonly string[]): Promise<void> => {
  const tables = await db.introspection.getTables()
  if (!tables.some(({ name }) => name === table)) return
  const rows = await db
    .withTables<{ [table]: { name: string } }>()
    .selectFrom(table)
    .select('name')
    .execute()
  const applied = rows.map(({ name }) => name)
  const unknown = applied.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const why = `The database was made by a newer version of svc-oauth2server (it has ${unknown.join(', ')}).`
  if (known.every((name) => applied.includes(name)))
    throw new NewerSchema(`${why} This version serves from it, and only that one can migrate it.`)
  throw new StoreUnusable(`${why} Install that version, or restore a backup.`)
}
