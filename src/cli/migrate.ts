import type { Command } from 'commander'
import { single } from './options.ts'
import { print, say } from './output.ts'
import { environment } from './server.ts'

interface MigrateOptions {
  readonly to?: string
  readonly dryRun?: true
}

/** `migrate`: migrates the schema of the database. Other commands do this automatically. */
export const addMigrate = (program: Command): void => {
  program
    .command('migrate')
    .summary('Bring the database up to date.')
    .description(
      'Brings the database up to date and prints the names of the migrations that this took. Every other command and the server do so by themselves.',
    )
    .addOption(
      single(
        '--to <name>',
        'Up, or back down, to this migration. Going down deletes what the older schema cannot hold.',
      ),
    )
    .option('--dry-run', 'Only print what would be done.')
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server migrate --dry-run`,
    )
    .action(migrate)
}

const migrate = async ({ to, ...given }: MigrateOptions): Promise<void> => {
  const dryRun = given.dryRun ?? false
  const { options } = await environment()
  const store = await options.store.open()
  try {
    const done = await store.migrate({
      dryRun,
      ...(to === undefined ? {} : { to }),
      onWait: () =>
        say('Waiting for another node that migrates, or for transactions that use the tables.'),
    })
    const isDown = done.some(({ direction }) => direction === 'down')
    if (done.length === 0) say('There is nothing to migrate.')
    else if (isDown) say(dryRun ? 'These would be reverted:' : 'These were reverted:')
    else say(dryRun ? 'These would be applied:' : 'These were applied:')
    for (const { name } of done) print(name)
  } finally {
    await store.close()
  }
}
