import { checkConnection } from '../http/check-connection.ts'
import { logRefusal, refusalOf } from '../http/refusal.ts'
import { inNameOf } from '../http/request-scope.ts'
import { checkTarget, queryCharacters } from '../http/request-target.ts'
import { checkHeaderLengths } from '../model/bounds.ts'
import { type ProtectedResource, resourceNamed } from '../model/protected-resource.ts'
import type { Configuration, Identity, ServerContext } from '../protocol/server-context.ts'
import { clientAddress } from '../protocol/session/client-address.ts'
import { currentUser } from '../protocol/session/current-user.ts'
import { type PageLinks, pageSession } from '../protocol/session/page-session.ts'
import { internals } from '../records/context.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import type { BuiltRecords } from './build-records.ts'
import type { Router } from './router.ts'

/** All members of the server except the members that control the running server. */
type RequestMembers = Omit<
  AuthorizationServer,
  'on' | 'transaction' | 'sweep' | 'sweepPlan' | 'rotateSecretKeys' | 'drain' | 'close'
>

/** Assembles the members with which an application and its adapters handle requests. */
export const assemble = (
  server: ServerContext,
  { records, provider }: BuiltRecords,
  { fetch, direct, handles, addresses }: Router,
): RequestMembers => {
  const { issuer, settings, scopes, resources, resourceServer, sessions, log } = server
  const links = pageLinksOf(server)
  return {
    ...records,
    ...provider,
    [internals]: server.records,
    issuer,
    settings,
    scopes,
    resources,
    resourceNamed: (identifier) => mustBeNamed(resources, identifier),
    resourceServer,
    sessions,
    fetch: (request, connection) => {
      checkConnection(connection)
      return fetch(request, connection)
    },
    direct,
    handles,
    addresses,
    clientAddress: clientAddress(settings.trustedProxies),
    checkTarget,
    checkQuery: queryCharacters(settings.allowedUrlencodeCharacters),
    pageSession: async (browser) => {
      checkHeaderLengths([browser.cookie ?? ''])
      return pageSession(sessions, browser, links)
    },
    refusalOf: (error) => {
      const refusal = refusalOf(error)
      // If the error is not a refusal, the error handler of the application logs it.
      if (refusal) logRefusal(log, error, refusal)
      return refusal
    },
    currentUser: async (request, connection) => {
      checkConnection(connection)
      return currentUser(request, server, connection)
    },
    challenge: (result, needed) => resourceServer.challenge(result, needed),
    loggedOut: (userId, sessionId) => server.logouts.loggedOut(userId, sessionId),
    actingAs: (who, work) => inNameOf(who, work),
    isReady: () => server.operations.isReady(),
  }
}

const pageLinksOf = ({
  basePath,
  settings,
  ui: { links },
}: Pick<ServerContext, 'ui'> & Identity & Configuration): PageLinks => ({
  script: `${basePath}${settings.oauthPrefix}/session.js`,
  login: links.login,
  logout: links.logout,
  applications: links.applications,
})

const mustBeNamed = (
  resources: readonly ProtectedResource[],
  identifier: string,
): ProtectedResource => {
  const found = resourceNamed(resources, identifier)
  if (found) return found
  const registered = resources.map(({ resource }) => resource).join(', ')
  throw new TypeError(
    `There is no resource ${identifier}. The resources of the server are: ${registered}.`,
  )
}
