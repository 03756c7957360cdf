import { grantTypesOfClients } from '../protocol/endpoints/token/supported.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import type { Records } from '../records/all-records.ts'
import { rotateSecretKeys } from '../records/keys/rotate-keys.ts'
import { normalizeEmails } from '../records/users/normal-emails.ts'
import type { PostgresClient } from '../store/store.ts'
import { assemble } from './assemble.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { type BuiltRecords, buildRecords } from './build-records.ts'
import { buildServerContext } from './build-server-context.ts'
import { hostTransactions } from './host-transactions.ts'
import { type ObservedStore, observeStore } from './observe-store.ts'
import { type OpenedStore, openStore } from './open-store.ts'
import type { AuthorizationServerOptions } from './options.ts'
import { type Prepared, prepare } from './prepare.ts'
import { type Readiness, readiness } from './readiness.ts'
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
  const prepared = await prepare(options)
  const plugIns = selectPlugIns(prepared)
  const opened = await openStore(prepared)
  const observed = observeStore(prepared, opened)
  const built = buildRecords(prepared, opened, observed, plugIns)
  await normalizeEmails(built.context)
  const ready = readinessOf(prepared, opened)
  const server = buildServerContext(prepared, observed, built, plugIns, ready)
  if (server.settings.openidConnect) endLoginsAtEvents(server, observed, built)
  const inHost = hostTransactions(opened, observed, built)
  const router = createRouter(server, prepared)
  const { database, serverClock, notedKey, external } = opened
  const sweeper = new Sweeper({
    ...built,
    logouts: server.logouts,
    grantTypesOfClients: grantTypesOfClients(plugIns),
    serverClock,
    aroundRun: prepared.telemetry?.sweep ?? ((run) => run()),
  })
  sweeper.start()
  const stopPoolObservation = database.poolStats && prepared.telemetry?.pool(database.poolStats)
  return {
    ...assemble(server, built, router),
    transaction: <T>(...args: TransactionArguments<T>): Promise<T> =>
      args.length === 1 ? built.records.transaction(args[0]) : inHost.run(...args),
    on: (name, hook) => observed.hooks.on(name, hook),
    sweep: () => sweeper.run(),
    sweepPlan: () => sweeper.plan(),
    rotateSecretKeys: (rotation) => rotateSecretKeys(built.context, rotation),
    drain: ready.drain,
    async close() {
      inHost.stop()
      await server.logouts.stop()
      await sweeper.stop()
      serverClock.stop()
      await built.bounds.stop()
      await built.removals.stop()
      await built.logos.stop()
      await notedKey.stop()
      await built.uses.flush()
      await built.refusals.flush()
      observed.failedLogins.flush()
      await observed.queue.close()
      await observed.counts.close()
      // The queue has written the last events, so the checkpoint also covers these events.
      await sweeper.coverAuditLog()
      await external?.close()
      stopPoolObservation?.()
      await database.close()
      await prepared.prometheus?.close()
    },
  }
}

/** Notifies clients when a session ends, and when a user is deactivated, deleted or no longer found. */
const endLoginsAtEvents = (
  { logouts }: ServerContext,
  { hooks }: ObservedStore,
  { removals }: BuiltRecords,
): void => {
  removals.endLogins = (userId, store) => logouts.userEnded(userId, store)
  hooks.on('session.ended', ({ userId }) => userId !== null && logouts.sessionsEnded(userId))
  for (const event of ['user.deactivated', 'user.deleted', 'user.vanished'] as const)
    hooks.on(event, async ({ userId }) => {
      if (userId !== null) await logouts.userEnded(userId)
      // A transaction that has now committed may have stored notices.
      await logouts.sendDue()
    })
}

type TransactionArguments<T> =
  | readonly [work: (tx: Records) => Promise<T>]
  | readonly [client: PostgresClient, work: (tx: Records) => Promise<T>]

const readinessOf = (
  { aroundStore, log }: Prepared,
  { database, external, serverClock }: OpenedStore,
): Readiness =>
  readiness(
    {
      store: async () => aroundStore({ name: 'ping' }, () => database.ping()),
      transients:
        external && (async () => aroundStore({ name: 'transients.ping' }, () => external.ping())),
      isClockWrong: () => serverClock.isWrong(),
    },
    log,
  )
