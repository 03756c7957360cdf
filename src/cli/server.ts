import type { Command } from 'commander'
import { type AuthorizationServer, createAuthorizationServer } from '../index.ts'
import { configurationOf } from './configuration.ts'
import { say } from './output.ts'

/** The warnings that commands omit, because the running server logs them. */
const ofRunningServer: readonly string[] = ['settings.loosened', 'users.reusable_ids']

/**
 * Runs the work of a command with the server of the configuration, and closes the server. If the configuration contains
 * options, creates the server from these options, but without Redis, scheduled sweeps and metrics.
 */
export const withServer = async (
  command: Command,
  work: (server: AuthorizationServer) => Promise<void>,
): Promise<void> => {
  const configuration = await configurationOf(command)
  const server =
    'server' in configuration
      ? configuration.server
      : await createAuthorizationServer({
          ...configuration.options,
          // Don't connect to Redis, because commands do not need the short-lived values in Redis.
          cacheType: 'database',
          transients: undefined,
          sweepInterval: 0,
          metricsToken: null,
          log: ({ level, event, message }) => {
            if (!ofRunningServer.includes(event)) say(`${level}: ${message}`)
          },
        })
  try {
    await server.actingAs({ actor: 'command_line' }, () => work(server))
  } finally {
    await server.close()
  }
}
