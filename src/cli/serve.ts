import type { Command } from 'commander'
import { respond } from '../adapters/node-http.ts'
import { type AuthorizationServerOptions, createAuthorizationServer } from '../index.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import { homeEndpoint } from '../protocol/endpoints/operations/home.ts'
import {
  addressFrom,
  closeOnSignal,
  listen,
  withIntrospectionClients,
} from '../server/environment/environment.ts'
import { configurationOf } from './configuration.ts'
import { UsageError } from './errors.ts'
import { repeated } from './options.ts'
import { say } from './output.ts'

/** `serve`: runs a standalone authorization server. */
export const addServe = (program: Command): void => {
  program
    .command('serve')
    .summary('Run a standalone authorization server.')
    .description(
      'Runs a standalone authorization server until SIGINT or SIGTERM. An application that embeds the server does not need this command.',
    )
    .addOption(
      repeated(
        '--resource <url>',
        'A part of the application, or another server, that tokens can be restricted to.',
      ),
    )
    .addOption(
      repeated(
        '--introspection-client <id>',
        'The id of the client of a resource server. This client may introspect the tokens of all resources.',
      ),
    )
    .addHelpText(
      'after',
      `
Example:
  $ PORT=8080 BASE_URL=https://login.example.org svc-oauth2server serve`,
    )
    .action(serve)
}

interface ServeOptions {
  readonly resource?: readonly string[]
  readonly introspectionClient?: readonly string[]
}

const serve = async (options: ServeOptions, command: Command): Promise<void> => {
  const { host, port } = addressFrom(process.env)
  const configuration = await configurationOf(command)
  if ('server' in configuration && (options.resource || options.introspectionClient))
    throw new UsageError(
      'the configuration exports a server, so set the resources in the configuration instead of the command line',
    )
  const server =
    'server' in configuration
      ? configuration.server
      : await createAuthorizationServer({
          ...configuration.options,
          resources: resourcesOf(configuration.options, options),
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

/** Returns the resources of the configuration and of the command line. */
const resourcesOf = (
  { resources = [], issuer }: AuthorizationServerOptions,
  { resource = [], introspectionClient = [] }: ServeOptions,
): readonly ProtectedResource[] => {
  const all = [...resources, ...resource.map((identifier) => ({ resource: identifier }))]
  return withIntrospectionClients(all, introspectionClient, issuer)
}
