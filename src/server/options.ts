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

/** The options of `createAuthorizationServer`. They include every setting of `SettingsInput`. */
export interface AuthorizationServerOptions extends StartOptions, ProviderOptions {
  /** The public address of the application, and the issuer (RFC 8414 §2): https, or http on a loopback host. */
  readonly issuer: string
  /** The secret key of the application, at least 32 bytes, then earlier keys, which still open the rows sealed with them. */
  readonly secretKeys: readonly (string | undefined)[]
  readonly store: StoreOpener
  /** Keeps codes and other short-lived values outside the database, such as `redis(url)`. */
  readonly transients?: TransientsOpener | undefined
  readonly scopes?: readonly Scope[]
  /** The directory of the application's `package.json`. The scopes in its entry points are registered too. */
  readonly applicationRoot?: string
  readonly extensions?: readonly Extension[]
  /** Maps names of error views, which `errorEndpoint` accepts, to their paths. */
  readonly views?: Readonly<Record<string, string>>

  /** The application's own users: `table(…)`, or callbacks. The default is the built-in user table. */
  readonly users?: UserTable | UserCallbacks
  /** Finds the user in the application's own session, in place of the built-in login. Needs `loginUrl`. */
  readonly resourceOwner?: FindResourceOwner
  /** The application's own pages, in place of built-in ones. They build markup with `html`, or pass trusted markup to `raw`. */
  readonly pages?: Partial<Pages>

  /**
   * Returns milliseconds since the epoch. For tests: the server does not check it. The default is the clock of the database
   * server, or that of this machine if the database has no clock.
   */
  readonly clock?: () => number
  readonly random?: RandomSource
  /** Controls how the server sends requests to addresses that clients name. */
  readonly outbound?: OutboundOptions
  /** Parts of the application that a token can be restricted to (RFC 8707). */
  readonly resources?: readonly ProtectedResource[]
  /** Refuses, restricts or verifies clients that register themselves, if `dynamicRegistration` admits them. */
  readonly registerClient?: RegisterClient
  /** Runs after a credential that a secret scanner found was revoked, so that the application can write to its owner. */
  readonly onLeaked?: OnLeaked
  readonly log?: LogSink
  /** Runs around every store operation. */
  readonly aroundStore?: AroundStore
}
