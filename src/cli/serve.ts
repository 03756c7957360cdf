import type { Command } from 'commander'
import { respond } from '../adapters/node-http.ts'
import { createAuthorizationServer } from '../index.ts'
import { homeEndpoint } from '../protocol/endpoints/operations/home.ts'
import { addressFrom, closeOnSignal, listen } from '../server/environment/environment.ts'
import { configurationOf } from './configuration.ts'
import { say } from './output.ts'

/** `serve`: runs a standalone authorization server. */
export const addServe = (program: Command): void => {
  program
    .command('serve')
    .summary('Run a standalone authorization server.')
    .description(
      'Runs a standalone authorization server until SIGINT or SIGTERM. An application that embeds the server does not need it.',
    )
    .addHelpText(
      'after',
      `
Example:
  $ PORT=8080 BASE_URL=https://login.example.org svc-oauth2server serve`,
    )
    .action(serve)
}

const serve = async (_options: unknown, command: Command): Promise<void> => {
  const { host, port } = addressFrom(process.env)
  const configuration = await configurationOf(command)
  const server =
    'server' in configuration
      ? configuration.server
      : await createAuthorizationServer({
          ...configuration.options,
          extensions: [
            ...(configuration.options.extensions ?? []),
            { name: 'home', endpoints: [homeEndpoint] },
          ],
        })
  try {
    const http = await listen(respond(server), { port, host })
    closeOnSignal(http, () => server.close(), { drain: server.drain })
  } catch (error) {
    await server.close()
    throw error
  }
  say(`The authorization server of ${server.issuer} listens on ${host}, port ${port}.`)
}
