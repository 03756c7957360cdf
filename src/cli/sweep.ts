import type { Command } from 'commander'
import type { AuthorizationServer } from '../index.ts'
import { print, say } from './output.ts'
import { withServer } from './server.ts'

/** `sweep`: removes expired rows. A running server does this in the background. */
export const addSweep = (program: Command): void => {
  program
    .command('sweep')
    .description(
      'Removes expired rows and the rows of deleted clients and users, and prints their number. A running server does this automatically.',
    )
    .option('--dry-run', 'Only print how many rows of each kind would be removed, and why.')
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server sweep --dry-run`,
    )
    .action(({ dryRun = false }: { readonly dryRun?: boolean }, command: Command) =>
      withServer(command, async (server) => {
        if (dryRun) await printPlan(server)
        else print(await server.sweep())
      }),
    )
}

const printPlan = async (server: AuthorizationServer): Promise<void> => {
  const { heldBecause, rows, missingUsers } = await server.sweepPlan()
  if (heldBecause !== null) say(`warn: ${heldBecause}`)
  for (const { count, what, why } of rows) print(`${count} ${what}: ${why}`)
  for (const { userId, since, removedFrom } of missingUsers)
    print(
      `user ${userId}: not found since ${time(since)}; rows removed after ${time(removedFrom)} if still not found`,
    )
  if (rows.length === 0 && missingUsers.length === 0) print('nothing')
}

const time = (at: number): string => new Date(at).toISOString()
