import type { OwnKind } from '../crypto/digest.ts'
import type { RandomSource } from '../crypto/random.ts'
import type { KeyRing } from '../crypto/sealed.ts'
import type { Outbound } from '../http/outbound/outbound.ts'
import type { HttpResponse } from '../http/response.ts'
import type { OwnEventName } from '../model/audit-event.ts'
import type { BoundedMap } from '../model/bounded-map.ts'
import type { Health } from '../model/health.ts'
import type { OnLeaked } from '../model/leak-report.ts'
import type { LogSink } from '../model/log.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import type { RegisterClient } from '../model/register-client.ts'
import type { ScopeRegistry } from '../model/scope.ts'
import type { FindClaims } from '../model/standard-claims.ts'
import type { UserId } from '../model/user.ts'
import type { SendUserLink } from '../model/user-link.ts'
import type { Brand, FrameLinks } from '../pages/frame.ts'
import type { Texts } from '../pages/messages/texts.ts'
import type { Pages } from '../pages/pages.ts'
import type { FairQueue } from '../queues/fair-queue.ts'
import type { Records } from '../records/all-records.ts'
import type { About } from '../records/audit/audit-trail.ts'
import type { ClientLogos } from '../records/clients/client-logos.ts'
import type { ClientRefusals } from '../records/clients/client-refusals.ts'
import type { RecordsContext } from '../records/context.ts'
import type { SigningKeys } from '../records/keys/signing-keys.ts'
import type { Limits } from '../records/limits.ts'
import type { ShortLivedKind } from '../records/short-lived-kinds.ts'
import type { TransientValues } from '../records/transient-values.ts'
import type { PasswordTries } from '../records/users/password-tries.ts'
import type { UserLinks } from '../records/users/user-links.ts'
import type { Settings } from '../settings/settings.ts'
import type { ClientFinder, ProviderOperations } from './client-lookup.ts'
import type { OwnBound } from './extension-names.ts'
import type { ClientAuthenticationMethodFor } from './plug-ins/client-authentication-method.ts'
import type { EndpointFor } from './plug-ins/endpoint.ts'
import type { ExtensionFor } from './plug-ins/extension.ts'
import type { GrantFor } from './plug-ins/grant.ts'
import type { ResourceServer } from './resource-server.ts'
import type { KnownBrowsers } from './session/known-browsers.ts'
import type { Sessions } from './session/sessions.ts'
import type { FormAnswer, ShortLived } from './short-lived.ts'
import type { TokenQueues } from './token-queues.ts'

/** The identifiers of the server. */
export interface Identity {
  /** The issuer identifier, which is the base URL of every endpoint. RFC 8414 §2. */
  readonly issuer: string
  /** The path of the issuer, without a trailing slash. */
  readonly basePath: string
  /** The protected resources. The first resource is the whole application, identified by the issuer. RFC 8707 §2. */
  readonly resources: readonly ProtectedResource[]
}

/** The configuration of the server. */
export interface Configuration {
  readonly settings: Settings
  readonly scopes: ScopeRegistry
}

/** The clock, randomness and the log. */
export interface Environment {
  readonly clock: () => number
  readonly random: RandomSource
  readonly log: LogSink
}

/** The keys that seal rows and values, and the keys that sign tokens. */
export interface Keys {
  readonly keys: KeyRing
  readonly signingKeys: SigningKeys
}

/** Limits and queues, so that one client or network cannot block others. */
export interface Throttling {
  readonly limits: Limits
  /** Queues of token requests, so that a burst of one client does not delay other clients. */
  readonly tokenQueues: TokenQueues
  /**
   * Queues the steps of activity exports. One step runs at a time, alternately for the users, so that many exports do
   * not delay other requests.
   * @internal
   */
  readonly exports: FairQueue
  /** The login forms that this process is processing, or has accepted a short time ago, by a digest of the form. */
  readonly logins: BoundedMap<{
    readonly answer: Promise<FormAnswer | HttpResponse | Response>
    /** Milliseconds since the epoch; infinite while the form is being processed. */
    readonly until: number
  }>
}

/** Authenticates callers: browsers by their session and programs by their token. */
export interface Callers {
  readonly sessions: Sessions
  readonly knownBrowsers: KnownBrowsers
  readonly userLinks: UserLinks
  readonly resourceServer: ResourceServer
  /** Checks passwords of logins. @internal */
  readonly passwordTries: PasswordTries
}

/** The pages and the values that all pages share. */
export interface Ui {
  /** The functions that render the pages. The host can replace each of them. */
  readonly pages: Pages
  readonly brand: Brand
  /** The languages and texts of the pages. */
  readonly texts: Texts
  /** The URLs that all pages link to. */
  readonly links: FrameLinks
  /** The URL of the error view, to which the parameters of an error are appended. */
  readonly errorView: string
}

/** Functions for monitoring and shutdown: health, grant counts, and the data that this process has not written yet. */
export interface Operations {
  /** Returns the readiness and the unavailable dependencies. */
  health(): Promise<Health>
  /** Writes the audit events that this process has collected. */
  flushAudit(): Promise<void>
  /** Writes the last uses of tokens that this process has collected. */
  flushTokenUses(): Promise<void>
  /** Runs a grant and counts its outcome; undefined without metrics. @throws the error of `run` */
  readonly countGrant: (<T>(type: string, run: () => Promise<T>) => Promise<T>) | undefined
}

/** Ends logins at OpenID Connect clients: notifies the clients, and revokes access without `offline_access`. */
export interface Logouts {
  /** Ends those logins of a user that belong to an ended session of this server. */
  sessionsEnded(userId: UserId): Promise<void>
  /**
   * Notifies the clients of a deactivated or deleted user. The tokens of this user are already invalid.
   * @param store the transaction of the deletion. Its notices must be sent after the commit, by `sendDue`
   * @internal
   */
  userEnded(userId: UserId, store?: RecordsContext['store']): Promise<void>
  /**
   * Ends the logins of a user whom the application logged out.
   * @param sessionId the session of the application; undefined for all sessions of the user
   */
  loggedOut(userId: UserId, sessionId?: string): Promise<void>
  /** Begins to send the notices that are due, also those of ended processes. Does not wait for the clients. */
  sendDue(): Promise<void>
  /** Ends all attempts to notify clients. The store contains the notices that are not delivered. */
  stop(): Promise<void>
}

/** Functions of the application that the protocol calls. */
export interface HostHooks {
  /** Decides on clients that register themselves. */
  readonly registerClient: RegisterClient | undefined
  /** Notifies the owner of a credential that the server revoked after a leak report. */
  readonly onLeaked: OnLeaked | undefined
  /** Returns claims about a user, for clients with OpenID Connect. */
  readonly claims: FindClaims | undefined
  /** Sends a link to a built-in user. */
  readonly sendUserLink: SendUserLink | undefined
}

/** The built-in plug-ins and the plug-ins of the application. */
export interface PlugIns {
  readonly grants: readonly GrantFor<ServerContext>[]
  /** All grants, including disabled grants. */
  readonly knownGrants: readonly GrantFor<ServerContext>[]
  readonly clientAuthentication: readonly ClientAuthenticationMethodFor<ServerContext>[]
  readonly extensions: readonly ExtensionFor<ServerContext>[]
  readonly endpoints: readonly EndpointFor<ServerContext>[]
}

/**
 * All interfaces (ports) that grants, endpoints and extensions receive from the server. A function should take only
 * the ports it needs.
 */
export interface ServerContext
  extends Records,
    Omit<ProviderOperations, 'getClient'>,
    ClientFinder,
    Identity,
    Configuration,
    Environment,
    Keys,
    Throttling,
    Callers,
    PlugIns {
  /** The database, for this package only. @internal */
  readonly store: RecordsContext['store']
  /** The context of the records, for this package only. @internal */
  readonly records: RecordsContext
  readonly ui: Ui
  readonly shortLived: ShortLived
  /** The latest refused requests of each client, with the reasons. */
  readonly refusals: ClientRefusals
  /** The logos of verified clients. */
  readonly logos: ClientLogos
  readonly operations: Operations
  readonly hostHooks: HostHooks
  /** Handles the end of a user's logins. */
  readonly logouts: Logouts
  /** Sends outbound HTTP requests. */
  readonly outbound: Outbound
  /** Returns the short-lived values of one kind. */
  transientValues<T>(kind: ShortLivedKind | OwnKind, bound?: OwnBound): TransientValues<T>
  /** Records an audit event of an extension. */
  recordEvent(name: OwnEventName, about: About<OwnEventName>): Promise<void>
}
