import { existsSync } from 'node:fs'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
} from '../index.ts'
import { type Environment, fromEnvironment } from '../server/environment/environment.ts'
import { say } from './output.ts'

/** What this program reads from its environment: the same as the application does. */
export const environment = (): Promise<Environment> => fromEnvironment(process.env)

/** The options by which the scopes of the application in the current directory are known. */
export const application = (): Pick<AuthorizationServerOptions, 'applicationRoot'> =>
  existsSync('package.json') ? { applicationRoot: process.cwd() } : {}

/** Runs a command's work with a server that has no timers, and closes it. */
export const withServer = async (
  work: (server: AuthorizationServer) => Promise<void>,
): Promise<void> => {
  const { options } = await environment()
  const server = await createAuthorizationServer({
    ...options,
    ...application(),
    // No command has to do with short-lived values: it works where Redis is away.
    cacheType: 'database',
    transients: undefined,
    sweepInterval: 0,
    metricsToken: null,
    // Warnings about settings belong to the process that serves, not to a command.
    log: ({ level, event, message }) => {
      if (event !== 'settings.loosened') say(`${level}: ${message}`)
    },
  })
  try {
    await server.actingAs({ actor: 'command_line' }, () => work(server))
  } finally {
    await server.close()
  }
}
