import type { RandomSource } from '../crypto/random.ts'
import type { OutboundOptions } from '../http/outbound/outbound.ts'
import type { OnLeaked } from '../model/leak-report.ts'
import type { LogSink } from '../model/log.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import type { RegisterClient } from '../model/register-client.ts'
import type { Scope } from '../model/scope.ts'
import type { UserCallbacks, UserTable } from '../model/user-table.ts'
import type { Pages } from '../pages/pages.ts'
import type { Extension } from '../protocol/plug-ins.ts'
import type { FindResourceOwner } from '../protocol/session/sessions.ts'
import type { TransientsOpener } from '../store/contract/transients.ts'
import type { AroundStore, StoreOpener } from '../store/store.ts'
import type { ProviderOptions } from './provider-operations.ts'
import type { StartOptions } from './start-up.ts'

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
