import type { Command } from 'commander'
import { CommandError } from './errors.ts'

/** `secret-key`: the key under which everything is sealed. */
export const addSecretKey = (program: Command): void => {
  program
    .command('secret-key')
    .description('Change the secret key.')
    .helpCommand(false)
    .command('rotate')
    .description(
      'Seals every row under SECRET_KEY that is sealed under one of SECRET_KEY_PREVIOUS, and prints how many. Not available yet.',
    )
    .addHelpText(
      'after',
      `
Example:
  $ SECRET_KEY=new… SECRET_KEY_PREVIOUS=old… svc-oauth2server secret-key rotate`,
    )
    .action(() => {
      throw new CommandError(
        'secret-key rotate is not available yet: keep the earlier key in SECRET_KEY_PREVIOUS.',
      )
    })
}
