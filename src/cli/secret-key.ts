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
      'Seals every row under SECRET_KEY that is sealed under a key of SECRET_KEY_PREVIOUS, and prints the number of rows. Servers can keep running. Run it again after an interruption.',
    )
    .addHelpText(
      'after',
      `
Configure both keys on every server first, the new one as SECRET_KEY. Keep the earlier
key configured for as long as this command says.

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
        'Rows are still being written under an earlier key: restart every server with this SECRET_KEY, then run this again.',
      )
    }
    say(
      `No row needs an earlier key any more. Keep the key in SECRET_KEY_PREVIOUS for ${hours(rotation.keepFor)} more: open pages and codes that are not redeemed yet depend on it.`,
    )
  })

/** Milliseconds between two lines of progress. */
const interval = 1_000

const everySecond = (): ((progress: KeyRotationProgress) => void) => {
  let last = Number.NEGATIVE_INFINITY
  return ({ table, resealed }) => {
    const now = performance.now()
    if (now - last < interval) return
    last = now
    say(`${table}: rows sealed so far: ${resealed}`)
  }
}

const hours = (seconds: number): string => {
  const count = Math.ceil(seconds / 3600)
  return count === 1 ? 'an hour' : `${count} hours`
}
