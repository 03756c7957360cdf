import type { Command } from 'commander'
import type { KeyRotationProgress } from '../index.ts'
import { CommandError } from './errors.ts'
import { print, say } from './output.ts'
import { withServer } from './server.ts'

/** `secret-key`: rotates the secret key. */
export const addSecretKey = (program: Command): void => {
  program
    .command('secret-key')
    .description('Change the secret key.')
    .helpCommand(false)
    .command('rotate')
    .description(
      'Replaces the seals of the earlier keys in SECRET_KEY_PREVIOUS by seals of SECRET_KEY, and prints the number of changed rows. Servers can keep running. After an interruption, run the command again.',
    )
    .addHelpText(
      'after',
      `
First configure both keys on every server, the new key as SECRET_KEY. This command prints
how long the earlier key must remain configured.

Example:
  $ SECRET_KEY=new… SECRET_KEY_PREVIOUS=old… svc-oauth2server secret-key rotate`,
    )
    .action(rotate)
}

const rotate = (_options: unknown, command: Command): Promise<void> =>
  withServer(command, async (server) => {
    const rotation = await server.rotateSecretKeys({ onProgress: everySecond() })
    print(rotation.resealed)
    if (!rotation.isComplete) {
      throw new CommandError(
        'Rows are still being written under an earlier key: restart every server with this SECRET_KEY, then run this command again.',
      )
    }
    say(
      `No row needs an earlier key any more. Keep the key in SECRET_KEY_PREVIOUS for ${hours(rotation.keepFor)} more: open pages and unredeemed codes still depend on the key.`,
    )
  })

/** The minimum time between two lines of progress, in milliseconds. */
const interval = 1_000

const everySecond = (): ((progress: KeyRotationProgress) => void) => {
  let last = Number.NEGATIVE_INFINITY
  return ({ table, resealed }) => {
    const now = performance.now()
    if (now - last < interval) return
    last = now
    say(`Rows resealed so far: ${resealed}. Current table: ${table}.`)
  }
}

const hours = (seconds: number): string => {
  const count = Math.ceil(seconds / 3600)
  return count === 1 ? 'an hour' : `${count} hours`
}
