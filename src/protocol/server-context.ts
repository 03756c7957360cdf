import type { SecretKind } from '../crypto/digest.ts'
import type { RandomSource } from '../crypto/random.ts'
import type { KeyRing } from '../crypto/sealed.ts'
import type { Outbound } from '../http/outbound/outbound.ts'
import type { OwnEventName } from '../model/audit-event.ts'
import type { Health } from '../model/health.ts'
import type { OnLeaked } from '../model/leak-report.ts'
import type { LogSink } from '../model/log.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import type { RegisterClient } from '../model/register-client.ts'
import type { ScopeRegistry } from '../model/scope.ts'
import type { Brand, FrameLinks } from '../pages/frame.ts'
import type { Pages } from '../pages/pages.ts'
import type { About } from '../records/audit/audit-trail.ts'
import type { SigningKeys } from '../records/keys/signing-keys.ts'
import type { Limits } from '../records/limits.ts'
import type { Records } from '../records/records.ts'
import type { TransientValues } from '../records/transient-values.ts'
import type { Settings } from '../settings/settings.ts'
import type { ClientFinder, ProviderOperations } from './client-lookup.ts'
import type { ClientAuthenticationMethodFor } from './plug-ins/client-authentication-method.ts'
import type { EndpointFor } from './plug-ins/endpoint.ts'
import type { ExtensionFor } from './plug-ins/extension.ts'
import type { GrantFor } from './plug-ins/grant.ts'
import type { ResourceServer } from './resource-server.ts'
import type { KnownBrowsers } from './session/known-browsers.ts'
import type { Sessions } from './session/sessions.ts'
import type { ShortLived } from './short-lived.ts'
import type { TokenQueues } from './token-queues.ts'

/** The identifiers of the server. */
export interface Identity {
  /** The issuer identifier, to which every address is relative. RFC 8414 §2. */
  readonly issuer: string
  /** The path of the issuer, without a slash at its end. */
  readonly basePath: string
  /** The protected resources. The first one is the issuer, that is the whole application. RFC 8707 §2. */
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

/** The keys that seal our own values and sign tokens. */
export interface Keys {
  readonly keys: KeyRing
  readonly signingKeys: SigningKeys
}

/** Limits and queues, which keep one client or network from starving others. */
export interface Throttling {
  readonly limits: Limits
  /** Queues of token requests, so that those of one client do not delay others. */
  readonly tokenQueues: TokenQueues
}

/** Authenticates callers: browsers by their session, programs by their token. */
export interface Callers {
  readonly sessions: Sessions
  readonly knownBrowsers: KnownBrowsers
  readonly resourceServer: ResourceServer
}

/** The pages and what surrounds their content. */
export interface Ui {
  /** Every page: the built-in one, or the host's. */
  readonly pages: Pages
  readonly brand: Brand
  /** The addresses that every page needs. */
  readonly links: FrameLinks
  /** The address of the error view, to which errors can be appended. */
  readonly errorView: string
}

/** The state of this process, as far as requests need it. */
export interface Operations {
  /** Whether requests should be sent to this process. */
  isReady(): Promise<boolean>
  /** Returns the readiness, with the dependencies that are unavailable. */
  health(): Promise<Health>
  /** Writes the audit events that this process has collected. */
  flushAudit(): Promise<void>
  /** Writes the times at which tokens were last used in this process. */
  flushTokenUses(): Promise<void>
  /** Counts a grant of tokens by its outcome. @throws what `run` throws */
  countGrant<T>(type: string, run: () => Promise<T>): Promise<T>
}

/** Functions of the application that the protocol calls. */
export interface HostHooks {
  /** Refuses, restricts or vouches for clients that register themselves. */
  readonly registerClient: RegisterClient | undefined
  /** Receives each credential that a secret scanner found. */
  readonly onLeaked: OnLeaked | undefined
}

/** All plug-ins: built-in ones, and those of the application. */
export interface PlugIns {
  readonly grants: readonly GrantFor<ServerContext>[]
  readonly clientAuthentication: readonly ClientAuthenticationMethodFor<ServerContext>[]
  readonly extensions: readonly ExtensionFor<ServerContext>[]
  readonly endpoints: readonly EndpointFor<ServerContext>[]
}

/** Everything that grants, endpoints and extensions work with. A function that needs less names the ports it needs. */
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
  readonly ui: Ui
  readonly shortLived: ShortLived
  readonly operations: Operations
  readonly hostHooks: HostHooks
  /** Sends the requests that the server itself makes. */
  readonly outbound: Outbound
  /** Short-lived values of one kind, for extensions. */
  transientValues<T>(kind: SecretKind): TransientValues<T>
  /** Records an audit event of an extension. */
  recordEvent(name: OwnEventName, about: About<OwnEventName>): Promise<void>
}
