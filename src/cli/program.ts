import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { addAudit } from './audit.ts'
import { addClients } from './clients.ts'
import { configOption } from './configuration.ts'
import { addDoctor } from './doctor.ts'
import { exitStatus, report } from './errors.ts'
import { addMigrate } from './migrate.ts'
import { addScopes } from './scopes.ts'
import { addSecretKey } from './secret-key.ts'
import { addServe } from './serve.ts'
import { addSweep } from './sweep.ts'
import { addTokens } from './tokens.ts'
import { addUsers } from './users.ts'

const environment = `
Environment:
  DATABASE_URL         the database: sqlite:PATH or postgres://…
                       (default: sqlite:./data/oauth2server.sqlite)
  SECRET_KEY           the application's secret key, at least 32 bytes
                       (default: generated next to the SQLite database)
  SECRET_KEY_PREVIOUS  earlier secret keys, comma-separated
  BASE_URL             the public URL (default: http://localhost:PORT)
  PORT, HOST           where serve listens (default: 3000, 127.0.0.1)
  OAUTH2…              all other settings, as for the application

A configuration module (--config) replaces these variables, except PORT and HOST of serve.

Without a configuration module, scopes are declared as entry points in the package.json of
the current directory and of its direct dependencies.

Results are written to stdout, messages to stderr. Exit status: 0 done, 1 refused or failed,
2 wrong usage.

Examples:
  $ svc-oauth2server users create --email me@example.org
  $ svc-oauth2server tokens create --name Laptop --user me@example.org --scope user:email`

const version = (): string => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}

const createProgram = (): Command => {
  const program = new Command('svc-oauth2server')
    .description(
      'Runs an OAuth 2.0 authorization server, and manages its users, tokens and clients.',
    )
    .version(version(), '-V, --version', 'Show the version.')
    .helpOption('-h, --help', 'Show the help of a command.')
    .helpCommand('help [command]', 'Show the help of a command.')
    .addOption(configOption())
    .addHelpText('after', environment)
    .exitOverride()
    .configureOutput({ outputError: (text) => report(text.replace(/^error: /, '')) })
  for (const add of [
    addServe,
    addUsers,
    addTokens,
    addClients,
    addScopes,
    addAudit,
    addSweep,
    addMigrate,
    addSecretKey,
    addDoctor,
  ])
    add(program)
  return program
}

/** Runs a command. @returns the exit status: 0 for success, 1 for an error, 2 for wrong usage */
export const run = async (args: readonly string[]): Promise<number> => {
  try {
    await createProgram().parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has already printed the help or the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return exitStatus(error)
  }
}
