import { PasswordHasher } from '../crypto/passwords/password.ts'
import { type RandomSource, systemRandom } from '../crypto/random.ts'
import { KeyRing } from '../crypto/sealed.ts'
import { signatureAlgorithms } from '../crypto/signature-algorithms.ts'
import type { Answer } from '../http/answer.ts'
import { createOutbound } from '../http/outbound/fetcher.ts'
import type { OutboundOptions } from '../http/outbound/outbound.ts'
import { queryCharacters } from '../http/query-characters.ts'
import { logRefusal, type Refusal, refusalOf } from '../http/refusal.ts'
import type { Connection, RequestSource } from '../http/request.ts'
import { type ActingAs, currentOrigin, inNameOf } from '../http/request-scope.ts'
import { checkTarget } from '../http/request-target.ts'
import type { AuditEvent, AuditEventName } from '../model/audit-event.ts'
import type { AuthResult, PresentedToken } from '../model/auth.ts'
import type { AuthorizationCode } from '../model/authorization.ts'
import type { OnLeaked } from '../model/leak-report.ts'
import type { LogSink } from '../model/log.ts'
import { type ProtectedResource, resourceNamed } from '../model/protected-resource.ts'
import type { RegisterClient } from '../model/register-client.ts'
import type { Scope, ScopeRegistry } from '../model/scope.ts'
import type { FoundToken } from '../model/token.ts'
import { UserProxy } from '../model/user.ts'
import type { UserCallbacks, UserTable } from '../model/user-table.ts'
import type { Pages } from '../pages/pages.ts'
import { builtInClientAuthentication } from '../protocol/client-authentication/built-in.ts'
import { builtInEndpoints } from '../protocol/endpoints/built-in.ts'
import { loginEndpoint } from '../protocol/endpoints/login/login.ts'
import { logoutEndpoint } from '../protocol/endpoints/login/logout.ts'
import { metricsEndpoint } from '../protocol/endpoints/operations/metrics.ts'
import { settingsEndpoints } from '../protocol/endpoints/settings/built-in.ts'
import { sessionsPage } from '../protocol/endpoints/settings/sessions.ts'
import type {
  Extension,
  Notice,
  Outcome,
  PendingAuthorization,
  ProviderOperations,
  ServerContext,
} from '../protocol/extension.ts'
import { builtInExtensions } from '../protocol/extensions/built-in.ts'
import { jwtMint } from '../protocol/extensions/jwt-access-tokens.ts'
import { resourceMetadataAddress } from '../protocol/extensions/protected-resource-metadata.ts'
import { builtInGrants } from '../protocol/grants/built-in.ts'
import { ResourceServer } from '../protocol/resource-server.ts'
import { clientAddress } from '../protocol/session/client-address.ts'
import { currentUser } from '../protocol/session/current-user.ts'
import { KnownBrowsers } from '../protocol/session/known-browsers.ts'
import { type PageLinks, type PageSession, pageSession } from '../protocol/session/page-session.ts'
import {
  type BrowserCredentials,
  type FindResourceOwner,
  Sessions,
} from '../protocol/session/sessions.ts'
import { TokenQueues } from '../protocol/token-queues.ts'
import { AuditChain } from '../records/audit/audit-chain.ts'
import { type AuditHook, AuditHooks } from '../records/audit/audit-hooks.ts'
import { AuditQueue } from '../records/audit/audit-queue.ts'
import { AuditTrail, sealedEvent } from '../records/audit/audit-trail.ts'
import type { RecordsContext } from '../records/context.ts'
import { checkKeys, keepNoted, type NotedKey } from '../records/keys/noted-keys.ts'
import {
  type KeyRotation,
  type KeyRotationOptions,
  rotateSecretKeys,
} from '../records/keys/rotate-keys.ts'
import { SigningKeys } from '../records/keys/signing-keys.ts'
import { Limits } from '../records/limits.ts'
import { type Records, records } from '../records/records.ts'
import { IntactState } from '../records/seals/intact-state.ts'
import { TokenBounds } from '../records/tokens/token-bounds.ts'
import { TokenUses } from '../records/tokens/token-uses.ts'
import { TransientValues } from '../records/transient-values.ts'
import { Turns } from '../records/turns.ts'
import { FailedLogins } from '../records/users/failed-logins.ts'
import { requesterOf } from '../records/users/password-tries.ts'
import { looseningWarnings } from '../settings/loosening-warnings.ts'
import type { Settings } from '../settings/settings.ts'
import { decorated } from '../store/decorated.ts'
import { notifying } from '../store/notify-after-commit.ts'
import {
  type AroundStore,
  NewerSchema,
  type OpenStore,
  type OpenTransients,
  type StoreOpener,
  type TransientsOpener,
} from '../store/store.ts'
import { openedSoonerOrLater } from '../store/transients/late-transients.ts'
import { memoryTransients } from '../store/transients/memory-transients.ts'
import { brandOf, linksOf, pagesOf } from './appearance.ts'
import { DatabaseClock } from './clock/database-clock.ts'
import { MachineClock } from './clock/machine-clock.ts'
import { givenClock, type ServerClock } from './clock/server-clock.ts'
import { type ProviderOptions, providerOperations } from './provider-operations.ts'
import { readiness } from './readiness.ts'
import { createRouter } from './router.ts'
import { checkedOptions, loadVerifyJwt, type StartOptions } from './start-up.ts'
import { MissingUsers } from './sweeper/missing-users.ts'
import { Removals } from './sweeper/removals.ts'
import { type SweepPlan, sweepPlan } from './sweeper/sweep-plan.ts'
import { Sweeper } from './sweeper/sweeper.ts'
import { sweeperKinds } from './sweeper/sweeper-kinds.ts'
import { createObservers } from './telemetry/observers.ts'

/** What a host hands to `createAuthorizationServer`. Every setting of `SettingsInput` may be among it. */
export interface AuthorizationServerOptions extends StartOptions, ProviderOptions {
  /** The public address of the application, and the issuer (RFC 8414 §2): https, or http on a loopback host. */
  readonly issuer: string
  /** The application secret key, at least 32 bytes, and behind it earlier ones that still open what they sealed. */
  readonly secretKeys: readonly (string | undefined)[]
  readonly store: StoreOpener
  /** Keeps codes and other short-lived values outside the database: what `redis(url)` returns. */
  readonly transients?: TransientsOpener | undefined
  readonly scopes?: readonly Scope[]
  /** The folder of the application's `package.json`: scopes in its entry points are registered too. */
  readonly applicationRoot?: string
  readonly extensions?: readonly Extension[]
  /** Names of error views, for `errorEndpoint`, and their paths. */
  readonly views?: Readonly<Record<string, string>>

  /** The application's own users: `table(…)`, or callbacks. Without it, the built-in user table. */
  readonly users?: UserTable | UserCallbacks
  /** Takes the application's own session instead of the built-in login; needs `loginUrl`. */
  readonly resourceOwner?: FindResourceOwner
  /** The application's own pages, in the place of built-in ones; they make their markup with `html`, or vouch for it with `raw`. */
  readonly pages?: Partial<Pages>

  /**
   * Milliseconds since the epoch, for tests: it is believed. Without it, the time is that of the database server, or of this
   * machine where the database has no clock.
   */
  readonly clock?: () => number
  readonly random?: RandomSource
  /** How the server sends requests to addresses that clients name. */
  readonly outbound?: OutboundOptions
  /** Parts of the application that tokens can be for alone (RFC 8707), besides the whole. */
  readonly resources?: readonly ProtectedResource[]
  /** Refuses, restricts or vouches for clients that register themselves; `dynamicRegistration` has to let them in first. */
  readonly registerClient?: RegisterClient
  /** Told of each credential that a secret scanner found, once it has ended: to write to its owner. */
  readonly onLeaked?: OnLeaked
  readonly log?: LogSink
  /** Runs around every store operation. */
  readonly aroundStore?: AroundStore
}

/** An authorization server that is embedded in an application. */
export interface AuthorizationServer extends Records, ProviderOperations {
  readonly issuer: string
  readonly settings: Settings
  readonly scopes: ScopeRegistry
  /** What is protected: the first is the whole application, whose identifier is the issuer. */
  readonly resources: readonly ProtectedResource[]
  /** One of these, by its identifier. @throws TypeError where it is none */
  resourceNamed(identifier: string): ProtectedResource
  readonly resourceServer: ResourceServer
  readonly sessions: Sessions
  /** Answers a request to one of the server's addresses. Never rejects. */
  fetch(request: Request, connection?: Connection): Promise<Response>
  /** The same without a `Request` made of it, for adapters; undefined where it takes `fetch`. */
  direct(source: RequestSource, connection: Connection): Promise<Answer | Response> | undefined
  /** Whether the path is one of the server's addresses. */
  handles(path: string): boolean
  /** All its addresses, for a host that routes by path; one that ends in `/*` has all below it. */
  readonly addresses: readonly string[]
  /** The address of the client, from behind trusted proxies. */
  clientAddress(peer: string | undefined, forwardedFor: string | null): string
  /** Refuses characters that a query string of the REST application must not contain. @throws OAuthError */
  checkQuery(query: string): void
  /**
   * Refuses a request target with a dot segment or with credentials before the host.
   * @param target as the client sent it
   * @throws OAuthError
   */
  checkTarget(target: string): void
  /** What a page of the application needs: the signed-in user, and what its template embeds. */
  pageSession(browser: BrowserCredentials): Promise<PageSession>
  /** The user whose session or token a request carries; null where there is none, or it is not valid. */
  currentUser(request: Request, connection?: Connection): Promise<UserProxy | null>
  /** The answer to a guard's error; undefined for an error that is not a refusal. */
  refusalOf(error: unknown): Refusal | undefined
  /** The challenge for whoever presented nothing, and the refusal of a token that lacks scopes. */
  challenge(result: AuthResult, neededScopes: readonly string[]): Error | undefined
  /**
   * Calls the hook after each such event; `*` stands for every event. No request waits for it, and one that
   * throws is logged as `hook.failed`.
   * @returns what ends that
   * @throws TypeError for an event that does not exist
   */
  on<Name extends AuditEventName>(event: Name | '*', hook: AuditHook<Name>): () => void
  /** Runs code of the application in the name of a user: what it changes is recorded as done by that user. */
  actingAs<T>(who: ActingAs, work: () => T): T
  /**
   * Removes what has expired. @returns the number of rows
   * @throws ClockInDoubt where the clock of this machine is wrong
   */
  sweep(): Promise<number>
  /** Lists what `sweep` would remove, and why. Changes nothing. */
  sweepPlan(): Promise<SweepPlan>
  /** Seals every row under the current secret key, so that earlier ones are needed no more. Requests go on meanwhile. */
  rotateSecretKeys(options?: KeyRotationOptions): Promise<KeyRotation>
  /** Whether requests should be sent to this process: whether `/health/ready` answers 200. */
  isReady(): Promise<boolean>
  /** Makes `/health/ready` answer 503 from now on. For the beginning of a shutdown; requests are still served. */
  drain(): void
  /** Ends the sweeper and closes the store. */
  close(): Promise<void>
}

/**
 * Creates an authorization server: opens and migrates the store, and checks every option.
 * @throws InvalidSettings that names every wrong option; StoreUnusable for a store that cannot be used
 */
export const createAuthorizationServer = async (
  options: AuthorizationServerOptions,
): Promise<AuthorizationServer> => {
  const { random = systemRandom } = options
  const { settings, issuer, basePath, secrets, scopes, errorView, resources } =
    await checkedOptions(options)
  const { log, telemetry, traces, prometheus } = await createObservers(options.log, settings)
  const pages = pagesOf(options.pages)
  for (const message of looseningWarnings(settings))
    log({ level: 'warn', event: 'settings.loosened', message })
  const keys = new KeyRing(secrets, options.clock ?? Date.now)
  const verify = await loadVerifyJwt(options, settings)
  const users = usersOf(options.users)
  const opened = await options.store.open(users, options.users?.keyType)
  let beside: OpenTransients | undefined
  let notedKey: NotedKey | undefined
  let serverClock: ServerClock | undefined
  try {
    await migrated(opened, log)
    serverClock = await clockOf(options, opened, log)
    await checkKeys(opened, keys)
    notedKey = await keepNoted(opened, keys, { clock: serverClock.now, log })
    if (options.transients) {
      const isAway = (error: Error) =>
        log({ level: 'error', event: 'transients.away', message: error.message })
      beside = await openedSoonerOrLater(options.transients, isAway)
    }
  } catch (error) {
    await notedKey?.stop()
    serverClock?.stop()
    await opened.close()
    throw error
  }
  const { now: clock } = serverClock
  const transients = settings.cacheType === 'memory' ? memoryTransients() : beside
  const kept = transients ? { ...opened, transients } : opened
  const { aroundStore = (_operation, run) => run() } = options
  const measured = telemetry.aroundStore ? decorated(kept, telemetry.aroundStore) : kept
  const hooks = new AuditHooks(log)
  const observed = options.aroundStore ? decorated(measured, aroundStore) : measured
  const isKept = settings.auditRoutine ? undefined : (event: AuditEvent) => !event.isRoutine
  const store = notifying(observed, hooks, isKept)
  const lasting = transients ? decorated(opened, aroundStore).transients : store.transients
  const queue = new AuditQueue(observed, log)
  const failedLogins = new FailedLogins((event) => {
    queue.add(sealedEvent(keys, event))
    hooks.notify(event)
  }, log)
  const audit = new AuditTrail({
    root: store,
    keys,
    queue,
    hooks,
    failedLogins,
    keepsRoutine: settings.auditRoutine,
    clock,
    origin: currentOrigin,
  })
  const pingBeside =
    beside && (async () => aroundStore({ name: 'transients.ping' }, () => beside.ping()))
  const { health, drain } = readiness(
    {
      store: async () => aroundStore({ name: 'ping' }, () => opened.ping()),
      transients: pingBeside,
      isClockWrong: () => serverClock.isWrong(),
    },
    log,
  )
  const isReady = async () => (await health()).isReady

  const extensions = [...builtInExtensions, ...(options.extensions ?? [])].filter(
    ({ isOn }) => isOn?.(settings) ?? true,
  )
  const finders = extensions.filter(({ findClient }) => findClient)
  const extensionGrants = extensions.flatMap(({ grants = [] }) => grants)
  const grants = [...builtInGrants, ...extensionGrants]
  const removals = new Removals({ store, clock, log })
  const signingKeys = new SigningKeys({ store, settings, keys, clock, log, audit })
  const bounds = new TokenBounds({ store, settings, clock, log })
  const limits = new Limits(store.transients, clock, {
    numbers: settings.limits,
    isOff: settings.dangerouslyIgnoreLimits,
    log,
  })
  const context: RecordsContext = {
    store,
    turns: new Turns(store),
    transients: store.transients,
    settings,
    scopes,
    keys,
    intact: new IntactState(keys, { hasBuiltInUsers: users === 'built-in' }),
    passwords: new PasswordHasher(),
    requester: () => requesterOf(currentOrigin()),
    limits,
    clientContext: {
      scopes,
      allowedGrantTypes: [
        ...settings.allowedGrantTypes,
        ...extensionGrants.map(({ type }) => type),
      ],
      allowedResponseTypes: settings.allowedResponseTypes,
      knownGrantTypes: grants.map(({ type }) => type),
      defaultScopes: settings.defaultScopes,
    },
    hostUsers: users === 'elsewhere' ? (options.users as UserCallbacks) : undefined,
    saveToken: options.saveToken,
    mint:
      settings.accessTokenFormat === 'jwt' ? jwtMint({ issuer, signingKeys, random }) : undefined,
    clock,
    random,
    log,
    audit,
    bounds,
    removed: (removal) => removals.begin(removal),
  }
  const own = records(context)
  const provider = providerOperations(options, own)
  const sessions = new Sessions(context, issuer, verify, options.resourceOwner)
  const uses = new TokenUses(store, log)
  const metadataAddresses = new Map(
    resources.map(({ resource }) => [resource, resourceMetadataAddress(resource)]),
  )
  const resourceServer = new ResourceServer({
    noteUse: (found, now, address) => uses.note(found, now, address),
    noteLookup: telemetry.tokenLookup,
    getToken: (by) => traces.step('oauth2server.token_lookup', () => provider.getToken(by)),
    userProxy: (user) => new UserProxy(user, own.users),
    session: sessions,
    jwtAuthHeader: settings.jwtAuthHeader,
    jwtAuthHeaderType: settings.jwtAuthHeaderType,
    clock,
    limits,
    tokenQuota: settings.tokenQuota,
    acceptQueryAccessToken: settings.acceptQueryAccessToken,
    realm: issuer,
    resourceMetadata: (resource) => metadataAddresses.get(resource ?? issuer) ?? '',
    acceptsDpop: settings.dpop !== 'off',
    requiresDpop: settings.dpop === 'required',
    dpopAlgorithms: signatureAlgorithms(settings).join(' '),
    check: (presented, found) => checkPresented(presented, found, server),
  })
  const server: ServerContext = {
    ...own,
    ...provider,
    getClient: async (clientId, lookup = {}) => {
      for (const extension of finders) {
        const found = await extension.findClient?.(clientId, server, lookup)
        if (found !== undefined) return found ?? undefined
      }
      const client = await provider.getClient(clientId)
      // One that describes itself elsewhere is a client as long as somebody looks there.
      return client?.origin === 'metadata_document' ? undefined : client
    },
    issuer,
    basePath,
    pages,
    brand: brandOf(settings, issuer),
    links: linksOf(settings, basePath, { hostLogin: options.resourceOwner !== undefined }),
    settings,
    scopes,
    clock,
    random,
    log,
    countGrant: telemetry.grant,
    codes: new TransientValues<AuthorizationCode>('authorization_code', context),
    pending: new TransientValues<PendingAuthorization>('authorization_request', context),
    notices: new TransientValues<Notice>('settings_notice', context),
    forms: new TransientValues<Outcome>('settings_form', context),
    isReady,
    health,
    flushAudit: () => queue.flushBriefly(),
    flushTokenUses: () => uses.flushBriefly(),
    sessions,
    knownBrowsers: new KnownBrowsers(context, issuer),
    resourceServer,
    grants,
    clientAuthentication: builtInClientAuthentication(settings).filter(({ name }) =>
      settings.clientAuthentication.includes(name),
    ),
    extensions,
    endpoints: [
      ...(options.resourceOwner
        ? builtInEndpoints
        : [...builtInEndpoints, loginEndpoint, logoutEndpoint, sessionsPage]),
      ...settingsEndpoints,
      ...(prometheus ? [metricsEndpoint(prometheus.scrape)] : []),
      ...extensions.flatMap(({ endpoints = [] }) => endpoints),
    ],
    errorView,
    outbound: createOutbound(options.outbound, { settings, clock }),
    resources,
    limits,
    tokenQueues: new TokenQueues(),
    keys,
    signingKeys,
    registerClient: options.registerClient,
    onLeaked: options.onLeaked,
    // A spent assertion stays spent where Redis is emptied: one insert for each, in the database.
    transientValues: (kind) =>
      new TransientValues(
        kind,
        kind === 'client_assertion' ? { ...context, transients: lasting } : context,
      ),
  }
  const router = createRouter(server, { telemetry, traces, log })
  const links: PageLinks = {
    script: `${basePath}${settings.oauthPrefix}/session.js`,
    login: server.links.login,
    logout: server.links.logout,
    applications: server.links.applications,
  }
  const { keyType = 'integer' } = options.users ?? {}
  const missingUsers =
    users === 'built-in'
      ? undefined
      : new MissingUsers({ store, users: own.users, keyType, audit, log })
  const auditChain = new AuditChain({ store, keys, settings, clock, log })
  const toSweep = {
    store,
    transients: store.transients,
    lasting: transients ? lasting : undefined,
    settings,
    signingKeys,
    auditChain,
    missingUsers,
    removals,
  }
  const sweeper = new Sweeper({
    kinds: (now) => sweeperKinds(toSweep, now),
    transients: store.transients,
    settings,
    clock: serverClock,
    log,
    aroundRun: telemetry.sweep,
  })
  sweeper.start()
  const hidePool = opened.poolStats && telemetry.pool(opened.poolStats)

  return {
    ...own,
    ...provider,
    issuer,
    settings,
    scopes,
    resources,
    resourceNamed: (identifier) => mustBeNamed(resources, identifier),
    resourceServer,
    sessions,
    fetch: router.fetch,
    direct: router.direct,
    handles: router.handles,
    addresses: router.addresses,
    clientAddress: clientAddress(settings.trustedProxies),
    checkTarget,
    checkQuery: queryCharacters(settings.allowedUrlencodeCharacters),
    pageSession: (browser) => pageSession(sessions, browser, links),
    refusalOf: (error) => {
      const refusal = refusalOf(error)
      // What is no refusal goes to the host's own error handler, and into its log.
      if (refusal) logRefusal(log, error, refusal)
      return refusal
    },
    currentUser: (request, connection) => currentUser(request, server, connection),
    challenge: (result, needed) => resourceServer.challenge(result, needed),
    on: (name, hook) => hooks.on(name, hook),
    actingAs: (who, work) => inNameOf(who, work),
    sweep: () => sweeper.run(),
    sweepPlan: () => sweepPlan({ store, settings, clock: serverClock, signingKeys }),
    rotateSecretKeys: (given) => rotateSecretKeys(context, given),
    isReady,
    drain,
    async close() {
      await sweeper.stop()
      serverClock.stop()
      await bounds.stop()
      await removals.stop()
      await notedKey?.stop()
      await uses.flush()
      failedLogins.flush()
      await queue.close()
      // The rest is covered by the node that goes on, or at the next start.
      if (settings.sweepInterval > 0) await auditChain.coverSome().catch(() => undefined)
      await beside?.close()
      hidePool?.()
      await opened.close()
      await prometheus?.close()
    },
  }
}

/** The clock of the application, the database or the machine: the first of these that there is. */
const clockOf = async (
  { clock, aroundStore = (_operation, run) => run() }: AuthorizationServerOptions,
  { now: database, sweeperNotes }: OpenStore,
  log: LogSink,
): Promise<ServerClock> => {
  if (clock) return givenClock(clock)
  const sources = { machine: () => Date.now(), monotonic: () => performance.now() }
  if (database)
    return DatabaseClock.start({
      ...sources,
      database: async () => aroundStore({ name: 'now' }, database),
      log,
    })
  const lastSweep = {
    read: async () => (await sweeperNotes.find('last sweep', ['']))[0]?.at,
    write: (at: number) => sweeperNotes.put('last sweep', { key: '', at }),
  }
  return new MachineClock({ ...sources, lastSweep })
}

const migrated = async (store: OpenStore, log: LogSink): Promise<void> => {
  const message =
    'The database is to be migrated: this waits for another node that does it, or for whoever uses the tables.'
  const onWait = () => log({ level: 'info', event: 'migration.waiting', message })
  try {
    await store.migrate({ onWait })
  } catch (error) {
    if (!(error instanceof NewerSchema)) throw error
    // A node of the version before has to come up again while others are upgraded already.
    log({ level: 'warn', event: 'schema.newer', message: error.message })
  }
}

const mustBeNamed = (
  resources: readonly ProtectedResource[],
  identifier: string,
): ProtectedResource => {
  const found = resourceNamed(resources, identifier)
  if (found) return found
  const known = resources.map(({ resource }) => resource).join(', ')
  throw new TypeError(`There is no resource ${identifier}. The option resources names: ${known}.`)
}

const usersOf = (
  users: AuthorizationServerOptions['users'],
): UserTable | 'built-in' | 'elsewhere' => {
  if (!users) return 'built-in'
  return 'name' in users ? users : 'elsewhere'
}

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
