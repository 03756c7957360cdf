import type { Command } from 'commander'
import { print } from './output.ts'
import { withServer } from './server.ts'

/** `scopes`: lists the registered scopes. */
export const addScopes = (program: Command): void => {
  program
    .command('scopes')
    .description('Show the registered scopes.')
    .helpCommand(false)
    .command('list')
    .description(
      'Prints every registered scope: the built-in scopes, and the scopes of the application and its direct dependencies.',
    )
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server scopes list
  {"id":"user:email","help_text":"Read your e-mail address","group":"User","is_internal":false}

An application can declare scopes in its package.json:
  "entryPoints": { "svc_oauth2server.scopes": { "notes_read": "./scopes.js:notesRead" } }`,
    )
    .action(list)
}

const list = (_options: unknown, command: Command): Promise<void> =>
  withServer(command, async ({ scopes }) => {
    for (const { id, helpText, group, isInternal } of scopes.all())
      print({ id, help_text: helpText, group, is_internal: isInternal })
  })
