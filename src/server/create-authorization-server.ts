import { checkConnection } from '../http/check-connection.ts'
import { logRefusal, refusalOf } from '../http/refusal.ts'
import { inNameOf } from '../http/request-scope.ts'
import { checkTarget, queryCharacters } from '../http/request-target.ts'
import { checkHeaderLengths } from '../model/bounds.ts'
import { type ProtectedResource, resourceNamed } from '../model/protected-resource.ts'
import { grantTypesOfClients } from '../protocol/endpoints/token/supported.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { clientAddress } from '../protocol/session/client-address.ts'
import { currentUser } from '../protocol/session/current-user.ts'
import { pageSession } from '../protocol/session/page-session.ts'
import type { Records } from '../records/all-records.ts'
import { internals } from '../records/context.ts'
import { rotateSecretKeys } from '../records/keys/rotate-keys.ts'
import { normalizeEmails } from '../records/users/normal-emails.ts'
import type { PostgresClient } from '../store/store.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { type Built, buildRecords } from './build-records.ts'
import { buildServerContext } from './build-server-context.ts'
import { hostTransactions } from './host-transactions.ts'
import { observeStore } from './observe-store.ts'
import { openStore } from './open-store.ts'
import type { AuthorizationServerOptions } from './options.ts'
import { prepare } from './prepare.ts'
import { readiness } from './readiness.ts'
import { createRouter } from './router.ts'
import { selectPlugIns } from './select-plug-ins.ts'
import { Sweeper } from './sweeper/sweeper.ts'

/**
 * Creates an authorization server: checks the options, and then opens and migrates the store.
 * @throws InvalidSettings for invalid options; StoreUnusable or StoreUnavailable if the store cannot be used
 */
export const createAuthorizationServer = async (
  options: AuthorizationServerOptions,
): Promise<AuthorizationServer> => {
  // Each step adds its parts to the parts of the steps before.
  const prepared = await prepare(options)
  const planned = { ...prepared, plugIns: selectPlugIns(prepared) }
  const opened = { ...planned, ...(await openStore(planned)) }
  const observed = { ...opened, ...observeStore(opened) }
  const built = { ...observed, ...buildRecords(observed) }
  const { context, database, hooks, log, records, telemetry } = built
  await normalizeEmails(context)
  const ready = readiness(built)
  const server = buildServerContext(built, ready)
  const { basePath, issuer, logouts, resources, resourceServer, sessions, settings } = server
  if (settings.openidConnect) endLoginsAtEvents(server, built)
  const inHost = hostTransactions(built)
  const sweeper = new Sweeper({
    ...built,
    logouts,
    grantTypesOfClients: grantTypesOfClients(server),
    aroundRun: telemetry?.sweep ?? ((run) => run()),
  })
  sweeper.start()
  const stopPoolObservation = database.poolStats && telemetry?.pool(database.poolStats)
  const { login, logout, applications } = server.ui.links
  const script = `${basePath}${settings.oauthPrefix}/session.js`
  const links = { script, login, logout, applications }
  return {
    ...records,
    ...built.provider,
    [internals]: context,
    issuer,
    settings,
    scopes: server.scopes,
    resources,
    resourceNamed: (identifier) => mustBeNamed(resources, identifier),
    resourceServer,
    sessions,
    ...createRouter(server, built),
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
    loggedOut: (userId, sessionId) => logouts.loggedOut(userId, sessionId),
    actingAs: (who, work) => inNameOf(who, work),
    isReady: async () => (await ready.health()).isReady,
    transaction: <T>(...args: TransactionArguments<T>): Promise<T> =>
      args.length === 1 ? records.transaction(args[0]) : inHost.run(...args),
    on: (name, hook) => hooks.on(name, hook),
    sweep: () => sweeper.run(),
    sweepPlan: () => sweeper.plan(),
    rotateSecretKeys: (rotation) => rotateSecretKeys(context, rotation),
    drain: ready.drain,
    async close() {
      inHost.stop()
      await logouts.stop()
      await sweeper.stop()
      built.serverClock.stop()
      await built.bounds.stop()
      await built.removals.stop()
      await built.logos.stop()
      await built.notedKey.stop()
      await built.uses.flush()
      await built.refusals.flush()
      built.failedLogins.flush()
      await built.queue.close()
      await built.counts.close()
      // The queue has written the last events, so the checkpoint also covers these events.
      await sweeper.coverAuditLog()
      await built.external?.close()
      stopPoolObservation?.()
      await database.close()
      await built.prometheus?.close()
    },
  }
}

/** Notifies clients when a session ends, and when a user is deactivated, deleted or no longer found. */
const endLoginsAtEvents = ({ logouts }: ServerContext, { hooks, removals }: Built): void => {
  removals.endLogins = (userId, store) => logouts.userEnded(userId, store)
  hooks.on('session.ended', ({ userId }) => userId !== null && logouts.sessionsEnded(userId))
  for (const event of ['user.deactivated', 'user.deleted', 'user.vanished'] as const)
    hooks.on(event, async ({ userId }) => {
      if (userId !== null) await logouts.userEnded(userId)
      // A transaction that has now committed may have stored notices.
      await logouts.sendDue()
    })
}

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

type TransactionArguments<T> =
  | readonly [work: (tx: Records) => Promise<T>]
  | readonly [client: PostgresClient, work: (tx: Records) => Promise<T>]
