import { type AuthorizationServerOptions, createAuthorizationServer } from '../../index.ts'
import type { Variables } from '../../server/environment/environment.ts'
import { databaseFrom } from '../../server/environment/environment-stores.ts'
import { loadConfiguration } from '../configuration.ts'
import { CommandError } from '../errors.ts'
import { say } from '../output.ts'
import { examine } from './examine.ts'
import type { Finding } from './finding.ts'

/**
 * Examines a temporary server with this configuration and a database in memory, instead of the real database. Requests
 * go directly to the server, so `BASE_URL` need not resolve to this machine.
 * @throws CommandError if the module cannot be loaded, or exports a server; InvalidSettings for invalid options
 */
export const examineConfiguration = async (
  variables: Variables,
  path?: string,
  aiClients = false,
): Promise<readonly Finding[]> => {
  // With a database in memory, reading the environment creates neither a data directory nor a secret key file.
  const env = { ...variables, DATABASE_URL: 'sqlite::memory:', OAUTH2_CACHE_REDIS_URL: undefined }
  const configuration = await loadConfiguration(env, path)
  if ('server' in configuration) {
    await configuration.server.close()
    throw new CommandError(
      'The configuration exports a server, whose database the doctor must not change. Export the options, or examine the running server with --url.',
    )
  }
  const { options } = configuration
  if (options.users) say('The examined server has built-in users instead of your own users.')
  if (options.resourceOwner)
    say('The examined server has the built-in login instead of your own login.')
  const server = await createAuthorizationServer(await inMemory(options))
  const send = (request: Request) => server.fetch(request, { remoteAddress: '127.0.0.1' })
  try {
    return await examine({ issuer: server.issuer, send, records: server, isOurs: true, aiClients })
  } finally {
    await server.close()
  }
}

// Use the built-in users and the built-in login, because the doctor creates a user and logs in.
const inMemory = async ({
  users,
  resourceOwner,
  loginUrl,
  logoutUrl,
  transients,
  ...options
}: AuthorizationServerOptions): Promise<AuthorizationServerOptions> => ({
  ...options,
  ...(resourceOwner ? {} : { loginUrl, logoutUrl }),
  store: (await databaseFrom('sqlite::memory:')).store,
  cacheType: 'memory',
  sweepInterval: 0,
  metricsToken: null,
  logLevel: 'silent',
})
