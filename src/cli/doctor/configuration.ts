import { createAuthorizationServer } from '../../index.ts'
import { fromEnvironment, type Variables } from '../../server/environment/environment.ts'
import { application } from '../server.ts'
import { examine } from './examine.ts'
import type { Finding } from './finding.ts'

/**
 * Examines a temporary server with this configuration in memory. The real database is not used. Requests go directly to
 * the server, so that `BASE_URL` need not resolve to this machine.
 * @throws InvalidSettings
 */
export const examineConfiguration = async (env: Variables): Promise<readonly Finding[]> => {
  const { options } = await fromEnvironment({
    ...env,
    DATABASE_URL: 'sqlite::memory:',
    OAUTH2_CACHE_TYPE: 'memory',
    OAUTH2_CACHE_REDIS_URL: undefined,
  })
  const server = await createAuthorizationServer({
    ...options,
    ...application(),
    sweepInterval: 0,
    metricsToken: null,
    logLevel: 'silent',
  })
  const send = (request: Request) => server.fetch(request, { remoteAddress: '127.0.0.1' })
  try {
    return await examine({ issuer: server.issuer, send, records: server, isOurs: true })
  } finally {
    await server.close()
  }
}
