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

/** Creates a server without background tasks, runs the work of a command with it, and closes the server. */
export const withServer = async (
  work: (server: AuthorizationServer) => Promise<void>,
): Promise<void> => {
  const { options } = await environment()
  const server = await createAuthorizationServer({
    ...options,
    ...application(),
    // Don't connect to Redis, because commands do not use short-lived values.
    cacheType: 'database',
    transients: undefined,
    sweepInterval: 0,
    metricsToken: null,
    // Omit warnings about settings: they concern the running server, not a command.
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
