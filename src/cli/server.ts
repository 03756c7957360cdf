import { existsSync } from 'node:fs'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
} from '../index.ts'
import { type Environment, fromEnvironment } from '../server/environment/environment.ts'
import { say } from './output.ts'

/** Reads the configuration from the environment, as the application does. */
export const environment = (): Promise<Environment> => fromEnvironment(process.env)

/** Returns the options that load the scopes of the application in the current directory. */
export const application = (): Pick<AuthorizationServerOptions, 'applicationRoot'> =>
  existsSync('package.json') ? { applicationRoot: process.cwd() } : {}

/** Runs the work of a command with a server without background tasks, and closes the server. */
export const withServer = async (
  work: (server: AuthorizationServer) => Promise<void>,
): Promise<void> => {
  const { options } = await environment()
  const server = await createAuthorizationServer({
    ...options,
    ...application(),
    // Commands use no short-lived values, so they work without Redis.
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
