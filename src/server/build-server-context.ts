import type { AuthorizationCode } from '../model/authorization.ts'
import { BoundedMap } from '../model/bounded-map.ts'
import { textsWith } from '../pages/messages/texts.ts'
import { ClientLogouts } from '../protocol/openid/logouts.ts'
import { clientFinder } from '../protocol/provider-operations.ts'
import { ResourceServer } from '../protocol/resource-server.ts'
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
import { FairQueue } from '../queues/fair-queue.ts'
import { canRecall } from '../records/clients/client-rows.ts'
import type { RecordsContext } from '../records/context.ts'
import { TransientValues } from '../records/transient-values.ts'
import { PasswordTries } from '../records/users/password-tries.ts'
import { UserLinks } from '../records/users/user-links.ts'
import { brandOf, linksOf } from './appearance.ts'
import type { Built } from './build-records.ts'
import type { Readiness } from './readiness.ts'

/** The maximum number of logins that this process keeps in memory, to answer repeated forms. */
const maxLogins = 1_000

/** Builds the context that grants, endpoints and extensions receive. */
export const buildServerContext = (built: Built, { health }: Readiness): ServerContext => {
  const { options, settings, issuer, basePath, context, records, provider, uses } = built
  const { databaseTransients, telemetry, verifyJwt } = built
  const parts: Omit<ServerContext, 'getClient' | 'logouts' | 'resourceServer'> = {
    ...records,
    ...provider,
    store: context.store,
    records: context,
    mayRecall: mayRecall(options, context),
    issuer,
    basePath,
    settings,
    scopes: built.scopes,
    clock: context.clock,
    random: built.random,
    log: built.log,
    sessions: new Sessions(context, records.users, issuer, verifyJwt, options.resourceOwner),
    knownBrowsers: new KnownBrowsers(context, issuer),
    userLinks: new UserLinks(context),
    passwordTries: new PasswordTries(context),
    ...built.plugIns,
    ui: {
      pages: built.pages,
      brand: brandOf(settings, issuer),
      texts: textsWith(options.texts),
      links: linksOf(settings, basePath, options),
      errorView: built.errorView,
    },
    shortLived: shortLivedOf(context),
    refusals: built.refusals,
    operations: {
      health,
      flushAudit: async () =>
        void (await Promise.all([built.queue.flushBriefly(), built.counts.flushBriefly()])),
      flushTokenUses: () => uses.flushBriefly(),
      countGrant: telemetry?.grant,
    },
    hostHooks: {
      registerClient: options.registerClient,
      onLeaked: options.onLeaked,
      claims: options.claims,
      sendUserLink: options.sendUserLink,
    },
    outbound: built.outbound,
    logos: built.logos,
    resources: built.resources,
    limits: context.limits,
    tokenQueues: new TokenQueues(),
    exports: new FairQueue({ maxRunning: 1 }),
    logins: new BoundedMap(maxLogins),
    keys: built.keys,
    signingKeys: built.signingKeys,
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
  // These parts receive the context itself, so add them to the same object.
  const server = parts as ServerContext
  return Object.assign(parts, {
    getClient: clientFinder(provider, server),
    logouts: new ClientLogouts(server),
    resourceServer: new ResourceServer(server, { uses, telemetry }),
  })
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
 * Returns whether a token request may use the copy of its client in the memory of this process. If the copy is outdated,
 * the server processes the request a second time. Therefore returns false if the second attempt would call a function of
 * the application again.
 */
const mayRecall = (
  { getClient, saveToken, extensions = [] }: Built['options'],
  context: RecordsContext,
): boolean =>
  canRecall(context) &&
  !getClient &&
  !saveToken &&
  extensions.every(
    ({ findClient, onTokenIssue, onTokenResponse }) =>
      !findClient && !onTokenIssue && !onTokenResponse,
  )
