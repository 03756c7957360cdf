import type { RandomSource } from '../crypto/random.ts'
import type { OutboundOptions } from '../http/outbound/outbound.ts'
import type { OnLeaked } from '../model/leak-report.ts'
import type { LogSink } from '../model/log.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import type { RegisterClient } from '../model/register-client.ts'
import type { Scope } from '../model/scope.ts'
import type { FindClaims } from '../model/standard-claims.ts'
import type { SendUserLink } from '../model/user-link.ts'
import type { UserCallbacks, UserTable } from '../model/user-table.ts'
import type { TextOverrides } from '../pages/messages/texts.ts'
import type { Pages } from '../pages/pages.ts'
import type { Extension } from '../protocol/plug-ins.ts'
import type { ProviderOptions } from '../protocol/provider-operations.ts'
import type { FindResourceOwner } from '../protocol/session/sessions.ts'
import type { SettingsInput } from '../settings/settings-input.ts'
import type { TransientsOpener } from '../store/contract/transients.ts'
import type { AroundStore, StoreOpener } from '../store/store.ts'

/** The options of `createAuthorizationServer`. The options include every setting of `SettingsInput`. */
export interface AuthorizationServerOptions extends SettingsInput, ProviderOptions {
  /** The public URL of the application, which is the issuer (RFC 8414 §2): https, or http on a loopback host. */
  readonly issuer: string
  /** The secret key, at least 32 bytes, followed by earlier keys. Rows that an earlier key sealed remain readable. */
  readonly secretKeys: readonly (string | undefined)[]
  readonly store: StoreOpener
  /** A store outside the database for codes and other short-lived values, such as `redis(url)`. */
  readonly transients?: TransientsOpener | undefined
  readonly scopes?: readonly Scope[]
  /**
   * The directory of the application's `package.json`, relative to the current directory. The server registers the
   * scopes that the application and its direct dependencies declare as entry points, and resolves import
   * paths in settings from this directory.
   */
  readonly applicationRoot?: string
  readonly extensions?: readonly Extension[]
  /** Maps the names of error views to their paths. `errorEndpoint` accepts these names. */
  readonly views?: Readonly<Record<string, string>>

  /** The users of the application: `table(…)`, or callbacks. Default: the built-in user table. */
  readonly users?: UserTable | UserCallbacks
  /**
   * Finds the logged-in user in the session of the application. This function replaces the built-in login, and requires
   * `loginUrl`.
   */
  readonly resourceOwner?: FindResourceOwner
  /** Pages that replace built-in pages. A page creates HTML with `html`, or passes trusted HTML to `raw`. */
  readonly pages?: Partial<Pages>
  /**
   * Texts by language code, which replace texts of the pages or add a language: `{ en: { login: { title: 'Hello' } } }`.
   * Each text contains the arguments of the English text, such as `{client}`. Missing texts are the texts of the package,
   * which are English for a new language.
   */
  readonly texts?: TextOverrides

  /**
   * Returns milliseconds since the epoch, for tests. The server does not check this clock. Default: the clock of the
   * database, or the clock of this machine if the database has no clock.
   */
  readonly clock?: () => number
  readonly random?: RandomSource
  /** Configures the requests that the server sends to URLs that clients supply. */
  readonly outbound?: OutboundOptions
  /** Parts of the application that a token can be restricted to (RFC 8707). */
  readonly resources?: readonly ProtectedResource[]
  /** Refuses or changes the registrations of clients that register themselves (`dynamicRegistration`). */
  readonly registerClient?: RegisterClient
  /**
   * Runs after the server revoked a credential that a secret scanner found. The application can then notify the owner
   * of the credential.
   */
  readonly onLeaked?: OnLeaked
  /**
   * Sends a link to a built-in user by e-mail. With this function, users can reset a forgotten password and verify
   * their e-mail address, and the setting `signUp` can let visitors create accounts.
   */
  readonly sendUserLink?: SendUserLink
  /**
   * Returns claims about a user, such as `name` and `picture`, for the ID tokens and userinfo responses of OpenID Connect
   * (`openidConnect`). Without this function, the only claims about a user are `sub`, `email` and
   * `email_verified`.
   */
  readonly claims?: FindClaims
  readonly log?: LogSink
  /** Wraps every store operation. */
  readonly aroundStore?: AroundStore
}
