import { FairQueue } from '../crypto/passwords/fair-queue.ts'
import type { PresentedToken } from '../model/auth.ts'
import type { AuthorizationCode } from '../model/authorization.ts'
import { BoundedMap } from '../model/bounded-map.ts'
import type { FoundToken } from '../model/token.ts'
import type { ProviderOperations } from '../protocol/client-lookup.ts'
import { ClientLogouts } from '../protocol/openid/logouts.ts'
import type { Extension } from '../protocol/plug-ins.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { KnownBrowsers } from '../protocol/session/known-browsers.ts'
import { Sessions } from '../protocol/session/sessions.ts'
import type {
  Draft,
  LookedUp,
  Notice,
  PendingAuthorization,
  ShortLived,
  StoredRedirect,
  SubmittedForm,
} from '../protocol/short-lived.ts'
import { TokenQueues } from '../protocol/token-queues.ts'
import type { Records } from '../records/all-records.ts'
import type { RecordsContext } from '../records/context.ts'
import { TransientValues } from '../records/transient-values.ts'
import { UserLinks } from '../records/users/user-links.ts'
import { brandOf, linksOf } from './appearance.ts'
import type { BuiltRecords } from './build-records.ts'
import { buildResourceServer } from './build-resource-server.ts'
import type { ObservedStore } from './observe-store.ts'
import type { AuthorizationServerOptions } from './options.ts'
import type { Prepared } from './prepare.ts'
import type { Readiness } from './readiness.ts'
import type { SelectedPlugIns } from './select-plug-ins.ts'

/** The maximum number of logins that this process keeps in memory, to answer repeated forms. */
const maxLogins = 1_000

/** Builds the context that grants, endpoints and extensions receive. */
export const buildServerContext = (
  prepared: Prepared,
  { databaseTransients, queue, counts }: ObservedStore,
  built: BuiltRecords,
  plugIns: SelectedPlugIns,
  { health }: Readiness,
): ServerContext => {
  const { options, settings, issuer, basePath, random, log } = prepared
  const { context, records, provider, signingKeys, uses, refusals } = built
  const { extensions, grants, knownGrants, clientAuthentication, endpoints } = plugIns
  const sessions = new Sessions(context, issuer, prepared.verifyJwt, options.resourceOwner)
  const resourceServer = buildResourceServer(prepared, built, {
    sessions,
    check: (presented, found) => checkPresented(presented, found, server),
  })
  const exporting = new FairQueue({
    maxRunning: 1,
    maxWaiting: Number.POSITIVE_INFINITY,
    full: () => new Error('The queue of exports has no maximum length.'),
  })
  const server: ServerContext = {
    ...records,
    ...provider,
    getClient: clientFinder(extensions, provider, () => server),
    recallClient:
      mayRecall(options) && records.clients.canRecall
        ? (clientId) => recalled(records, clientId)
        : undefined,
    issuer,
    basePath,
    settings,
    scopes: prepared.scopes,
    clock: context.clock,
    random,
    log,
    sessions,
    knownBrowsers: new KnownBrowsers(context, issuer),
    userLinks: new UserLinks(context),
    resourceServer,
    grants,
    knownGrants,
    clientAuthentication,
    extensions,
    endpoints,
    ui: {
      pages: prepared.pages,
      brand: brandOf(settings, issuer),
      links: linksOf(settings, basePath, {
        hostLogin: options.resourceOwner !== undefined,
        hostUsers: options.users !== undefined,
        userLinks: options.sendUserLink !== undefined,
      }),
      errorView: prepared.errorView,
    },
    shortLived: shortLivedOf(context),
    refusals,
    operations: {
      isReady: async () => (await health()).isReady,
      health,
      flushAudit: async () =>
        void (await Promise.all([queue.flushBriefly(), counts.flushBriefly()])),
      flushTokenUses: () => uses.flushBriefly(),
      countGrant: prepared.telemetry.grant,
    },
    hostHooks: {
      registerClient: options.registerClient,
      onLeaked: options.onLeaked,
      claims: options.claims,
      sendUserLink: options.sendUserLink,
    },
    logouts: new ClientLogouts(() => server),
    outbound: built.outbound,
    logos: built.logos,
    resources: prepared.resources,
    limits: context.limits,
    tokenQueues: new TokenQueues(),
    exportStep: (userId, work) => exporting.run({ lane: String(userId), isKnown: false }, work),
    logins: new BoundedMap(maxLogins),
    keys: prepared.keys,
    signingKeys,
    recordEvent: (name, about) => context.audit.add(context.store, name, about),
    // Record the used JWTs of clients in the database. If Redis recorded the JWTs and lost its data, the server would
    // accept a used JWT again.
    transientValues: (kind, bound) =>
      new TransientValues(
        kind,
        (kind === 'client_assertion' || kind === 'request_object') && databaseTransients
          ? { ...context, transients: databaseTransients }
          : context,
        bound,
      ),
  }
  return server
}

const shortLivedOf = (context: RecordsContext): ShortLived => ({
  codes: new TransientValues<AuthorizationCode>('authorization_code', context),
  pending: new TransientValues<PendingAuthorization>('authorization_request', context),
  notices: new TransientValues<Notice>('settings_notice', context),
  lookedUp: new TransientValues<LookedUp>('looked_up', context),
  drafts: new TransientValues<Draft>('form_draft', context),
  refusedRedirects: new TransientValues<StoredRedirect>('refused_redirect', context),
  forms: new TransientValues<SubmittedForm>('settings_form', context),
})

/**
 * Returns whether a token request may use a client from memory. If this client is outdated, the server processes the
 * request a second time. Returns false if the second attempt would call a function of the application again.
 */
const mayRecall = ({
  getClient,
  saveToken,
  extensions = [],
}: AuthorizationServerOptions): boolean =>
  !getClient &&
  !saveToken &&
  extensions.every(
    ({ findClient, onTokenIssue, onTokenResponse }) =>
      !findClient && !onTokenIssue && !onTokenResponse,
  )

const recalled = (
  { clients }: Records,
  clientId: string,
): ReturnType<NonNullable<ServerContext['recallClient']>> => {
  const found = clients.recall(clientId)
  const isOwn = found && !found.client.isPersonal && found.client.origin !== 'metadata_document'
  return isOwn ? found : undefined
}

/** Returns a function that looks up a client in the extensions first, then with the provider operation. */
const clientFinder = (
  extensions: readonly Extension[],
  provider: ProviderOperations,
  server: () => ServerContext,
): ServerContext['getClient'] => {
  const finders = extensions.filter(({ findClient }) => findClient)
  return async (clientId, lookup = {}) => {
    for (const extension of finders) {
      const found = await extension.findClient?.(clientId, server(), lookup)
      if (found !== undefined) return found ?? undefined
    }
    const client = await provider.getClient(clientId)
    // Ignore a stored client with a metadata document. Only the extension that validates the document may return this
    // client.
    return client?.origin === 'metadata_document' ? undefined : client
  }
}

/** Calls the hook `onProtectedRequest` of each extension in order. Returns undefined if every hook is synchronous. */
const checkPresented = (
  presented: PresentedToken,
  found: FoundToken,
  server: ServerContext,
): Promise<void> | undefined => {
  let checking: Promise<void> | undefined
  for (const { onProtectedRequest } of server.extensions) {
    if (!onProtectedRequest) continue
    if (checking) checking = checking.then(() => onProtectedRequest(presented, found, server))
    else checking = onProtectedRequest(presented, found, server) || undefined
  }
  return checking
}
