import { brandOf, linksOf, pagesOf } from './appearance.ts'
import { builtInClientAuthentication } from './client-authentication/built-in.ts'
import { PasswordHasher } from './crypto/password.ts'
import { type RandomSource, systemRandom } from './crypto/random.ts'
import { KeyRing } from './crypto/sealed.ts'
import { builtInEndpoints } from './endpoints/built-in.ts'
import { loginEndpoint } from './endpoints/login.ts'
import { logoutEndpoint } from './endpoints/logout.ts'
import { metricsEndpoint } from './endpoints/metrics.ts'
import { settingsEndpoints } from './endpoints/settings/built-in.ts'
import { sessionsPage } from './endpoints/settings/sessions.ts'
import type {
  Extension,
  Notice,
  Outcome,
  PendingAuthorization,
  ProviderOperations,
  ServerContext,
} from './extension.ts'
import { builtInExtensions } from './extensions/built-in.ts'
import { resourceMetadataAddress } from './extensions/protected-resource-metadata.ts'
import { builtInGrants } from './grants/built-in.ts'
import type { Connection } from './http-request.ts'
import type { LogSink } from './log.ts'
import type { AuthorizationCode } from './model/authorization.ts'
import type { Scope, ScopeRegistry } from './model/scope.ts'
import { UserProxy } from './model/user.ts'
import type { UserCallbacks, UserTable } from './model/user-table.ts'
import { loosenings, type Settings } from './options.ts'
import type { Pages } from './pages/pages.ts'
import { type ProviderOptions, providerOperations } from './provider-operations.ts'
import { queryCharacters } from './query-characters.ts'
import { readiness } from './readiness.ts'
import type { RecordsContext } from './records/context.ts'
import { checkKeys, keepNoted, type NotedKey } from './records/noted-keys.ts'
import { type Records, records } from './records/records.ts'
import {
  type KeyRotation,
  type KeyRotationOptions,
  rotateSecretKeys,
} from './records/rotate-keys.ts'
import { TokenUses } from './records/token-uses.ts'
import { TransientValues } from './records/transient-values.ts'
import { logRefusal, type Refusal, refusalOf } from './refusal.ts'
import { type Auth, ResourceServer } from './resource-server.ts'
import { createRouter } from './router.ts'
import { clientAddress } from './session/client-address.ts'
import { currentUser } from './session/current-user.ts'
import { type PageLinks, type PageSession, pageSession } from './session/page-session.ts'
import { type BrowserCredentials, type FindResourceOwner, Sessions } from './session/sessions.ts'
import { checkedOptions, loadVerifyJwt, type StartOptions } from './start-up.ts'
import { decorated } from './store/decorated.ts'
import { memoryTransients } from './store/memory-transients.ts'
import type { AroundStore, OpenTransients, StoreOpener, TransientsOpener } from './store/store.ts'
import { Sweeper } from './sweeper.ts'
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

  /** Milliseconds since the epoch. */
  readonly clock?: () => number
  readonly random?: RandomSource
  /** For requests that the server itself sends. */
  readonly fetch?: typeof fetch
  readonly log?: LogSink
  /** Runs around every store operation. */
  readonly aroundStore?: AroundStore
}

/** An authorization server that is embedded in an application. */
export interface AuthorizationServer extends Records, ProviderOperations {
  readonly issuer: string
  readonly settings: Settings
  readonly scopes: ScopeRegistry
  readonly resourceServer: ResourceServer
  readonly sessions: Sessions
  /** Answers a request to one of the server's addresses. Never rejects. */
  fetch(request: Request, connection?: Connection): Promise<Response>
  /** Whether the path is one of the server's addresses. */
  handles(path: string): boolean
  /** All its addresses, for a host that routes by path; one that ends in `/*` has all below it. */
  readonly addresses: readonly string[]
  /** The address of the client, from behind trusted proxies. */
  clientAddress(peer: string | undefined, forwardedFor: string | null): string
  /** Refuses characters that a query string of the REST application must not contain. @throws OAuthError */
  checkQuery(query: string): void
  /** What a page of the application needs: the signed-in user, and what its template embeds. */
  pageSession(browser: BrowserCredentials): Promise<PageSession>
  /** The user whose session or token a request carries; null where there is none, or it is not valid. */
  currentUser(request: Request, connection?: Connection): Promise<UserProxy | null>
  /** The answer to a guard's error; undefined for an error that is not a refusal. */
  refusalOf(error: unknown): Refusal | undefined
  /** The challenge for whoever presented nothing, and the refusal of a token that lacks scopes. */
  challenge(auth: Auth, neededScopes: readonly string[]): Error | undefined
  /** Removes what has expired. @returns the number of rows */
  sweep(): Promise<number>
  /** Seals every row under the current secret key, so that earlier ones are needed no more. Requests go on meanwhile. */
  rotateSecretKeys(options?: KeyRotationOptions): Promise<KeyRotation>
  /** Whether requests should be sent to this process: what `/health/ready` says. */
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
  const { clock = () => Date.now(), random = systemRandom } = options
  const { settings, issuer, basePath, secrets, scopes, errorView } = await checkedOptions(options)
  const { log, telemetry, traces, prometheus } = await createObservers(options.log, settings)
  const pages = pagesOf(options.pages)
  for (const message of loosenings(settings))
    log({ level: 'warn', event: 'settings.loosened', message })
  const keys = new KeyRing(secrets)
  const verify = await loadVerifyJwt(options, settings)
  const users = usersOf(options.users)
  const opened = await options.store.open(users, options.users?.keyType)
  let beside: OpenTransients | undefined
  let notedKey: NotedKey | undefined
  try {
    await opened.migrate()
    await checkKeys(opened, keys)
    notedKey = await keepNoted(opened, keys, { clock, log })
    beside = await options.transients?.open()
  } catch (error) {
    await notedKey?.stop()
    await opened.close()
    throw error
  }
  const transients = settings.cacheType === 'memory' ? memoryTransients() : beside
  const kept = transients ? { ...opened, transients } : opened
  const { aroundStore = (_operation, run) => run() } = options
  const measured = telemetry.aroundStore ? decorated(kept, telemetry.aroundStore) : kept
  const store = options.aroundStore ? decorated(measured, aroundStore) : measured
  const { isReady, drain } = readiness(
    [
      () => aroundStore({ name: 'ping' }, () => opened.ping()),
      async () => beside && aroundStore({ name: 'transients.ping' }, () => beside.ping()),
    ],
    log,
  )

  const extensions = [...builtInExtensions, ...(options.extensions ?? [])]
  const extensionGrants = extensions.flatMap(({ grants = [] }) => grants)
  const grants = [...builtInGrants, ...extensionGrants]
  const context: RecordsContext = {
    store,
    transients: store.transients,
    settings,
    scopes,
    keys,
    passwords: new PasswordHasher(),
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
    clock,
    random,
    log,
  }
  const own = records(context)
  const provider = providerOperations(options, own)
  const sessions = new Sessions(context, issuer, verify, options.resourceOwner)
  const uses = new TokenUses(store, log)
  const resourceServer = new ResourceServer({
    noteUse: (found, now, address) => uses.note(found, now, address),
    noteLookup: telemetry.tokenLookup,
    getToken: (by) => traces.step('oauth2server.token_lookup', () => provider.getToken(by)),
    userProxy: (user) => new UserProxy(user, own.users),
    session: sessions,
    jwtAuthHeader: settings.jwtAuthHeader,
    jwtAuthHeaderType: settings.jwtAuthHeaderType,
    clock,
    acceptQueryAccessToken: settings.acceptQueryAccessToken,
    realm: issuer,
    resourceMetadata: resourceMetadataAddress(issuer),
  })
  const server: ServerContext = {
    ...own,
    ...provider,
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
    telemetry,
    traces,
    codes: new TransientValues<AuthorizationCode>('authorization_code', context),
    pending: new TransientValues<PendingAuthorization>('authorization_request', context),
    notices: new TransientValues<Notice>('settings_notice', context),
    forms: new TransientValues<Outcome>('settings_form', context),
    isReady,
    flushTokenUses: () => uses.flushBriefly(),
    sessions,
    resourceServer,
    grants,
    clientAuthentication: builtInClientAuthentication,
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
    fetch: options.fetch ?? fetch,
  }
  const router = createRouter(server)
  const links: PageLinks = {
    script: `${basePath}${settings.oauthPrefix}/session.js`,
    login: server.links.login,
    logout: server.links.logout,
    applications: server.links.applications,
  }
  const sweeper = new Sweeper({
    findOrphans: users !== 'built-in' ? own.users : undefined,
    store,
    transients: context.transients,
    settings,
    clock,
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
    resourceServer,
    sessions,
    fetch: router.fetch,
    handles: router.handles,
    addresses: router.addresses,
    clientAddress: clientAddress(settings.trustedProxies),
    checkQuery: queryCharacters(settings.allowedUrlencodeCharacters),
    pageSession: (browser) => pageSession(sessions, browser, links),
    refusalOf: (error) => {
      const refusal = refusalOf(error)
      // What is no refusal goes to the host's own error handler, and into its log.
      if (refusal) logRefusal(log, error, refusal)
      return refusal
    },
    currentUser: (request, connection) => currentUser(request, server, connection),
    challenge: (auth, needed) => resourceServer.challenge(auth, needed),
    sweep: () => sweeper.run(),
    rotateSecretKeys: (given) => rotateSecretKeys(context, given),
    isReady,
    drain,
    async close() {
      await sweeper.stop()
      await notedKey?.stop()
      await uses.flush()
      await beside?.close()
      hidePool?.()
      await opened.close()
      await prometheus?.close()
    },
  }
}

const usersOf = (
  users: AuthorizationServerOptions['users'],
): UserTable | 'built-in' | 'elsewhere' => {
  if (!users) return 'built-in'
  return 'name' in users ? users : 'elsewhere'
}
