import type { Command } from 'commander'
import { locationOf } from '../model/user-table.ts'
import { configurationOf } from './configuration.ts'
import { CommandError } from './errors.ts'
import { single } from './options.ts'
import { print, say } from './output.ts'

interface MigrateOptions {
  readonly to?: string
  readonly dryRun?: true
}

/** `migrate`: migrates the schema of the database, or prints the migrations that would run. */
export const addMigrate = (program: Command): void => {
  program
    .command('migrate')
    .summary('Migrate the schema of the database.')
    .description(
      'Migrates the schema of the database to the newest version, and prints the names of the migrations. The server, and every other command that opens the database, does this automatically.',
    )
    .addOption(
      single(
        '--to <name>',
        'Migrate up or down to this migration. Migrating down deletes data that the older schema cannot store.',
      ),
    )
    .option('--dry-run', 'Only print the migrations that would run.')
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server migrate --dry-run`,
    )
    .action(migrate)
}

const migrate = async ({ to, ...given }: MigrateOptions, command: Command): Promise<void> => {
  const dryRun = given.dryRun ?? false
  const configuration = await configurationOf(command)
  if ('server' in configuration) {
    await configuration.server.close()
    throw new CommandError(
      'The configuration exports a server, which has already migrated the database. Export the options instead.',
    )
  }
  const { store: opener, users } = configuration.options
  const store = await opener.open(locationOf(users), users?.keyType)
  try {
    const done = await store.migrate({
      dryRun,
      ...(to === undefined ? {} : { to }),
      onWait: () =>
        say('Waiting for another node that is migrating, or for transactions that use the tables.'),
    })
    const isDown = done.some(({ direction }) => direction === 'down')
    if (done.length === 0) say('There is nothing to migrate.')
    else if (isDown) say(dryRun ? 'Migrations that would be reverted:' : 'Reverted migrations:')
    else say(dryRun ? 'Migrations that would be applied:' : 'Applied migrations:')
    for (const { name } of done) print(name)
  } finally {
    await store.close()
  }
}
