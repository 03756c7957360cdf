import type { Refusal } from '../http/refusal.ts'
import type { Connection, RequestSource } from '../http/request.ts'
import type { ActingAs } from '../http/request-scope.ts'
import type { HttpResponse } from '../http/response.ts'
import type { AuditEventName } from '../model/audit-event.ts'
import type { AuthResult } from '../model/auth.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import type { ScopeRegistry } from '../model/scope.ts'
import type { UserId, UserProxy } from '../model/user.ts'
import type { ProviderOperations } from '../protocol/client-lookup.ts'
import type { ResourceServer } from '../protocol/resource-server.ts'
import type { PageSession } from '../protocol/session/page-session.ts'
import type { BrowserCredentials, Sessions } from '../protocol/session/sessions.ts'
import type { Records } from '../records/all-records.ts'
import type { AuditHook } from '../records/audit/audit-hooks.ts'
import type { internals, RecordsContext } from '../records/context.ts'
import type { KeyRotation, KeyRotationOptions } from '../records/keys/rotate-keys.ts'
import type { Settings } from '../settings/settings.ts'
import type { PostgresClient } from '../store/store.ts'
import type { SweepPlan } from './sweeper/sweeper.ts'

/** An authorization server that is embedded in an application. */
export interface AuthorizationServer extends Records, ProviderOperations {
  /** @internal */
  readonly [internals]: RecordsContext
  readonly issuer: string
  readonly settings: Settings
  readonly scopes: ScopeRegistry
  /** The protected resources. The first is the whole application, whose identifier is the issuer. */
  readonly resources: readonly ProtectedResource[]
  /** Returns the protected resource with this identifier. @throws TypeError for an unknown identifier */
  resourceNamed(identifier: string): ProtectedResource
  readonly resourceServer: ResourceServer
  readonly sessions: Sessions
  /** Handles a request to an endpoint of the server. An error of the endpoint becomes a response. */
  fetch(request: Request, connection?: Connection): Promise<Response>
  /**
   * Handles a request without a `Request` object, and is therefore faster than `fetch`. Returns undefined if the
   * adapter must call `fetch` instead.
   */
  direct(
    source: RequestSource,
    connection: Connection,
  ): Promise<HttpResponse | Response> | undefined
  /** Returns whether the server handles the path. */
  handles(path: string): boolean
  /**
   * All paths of the server, for an application that routes by path. A path that ends in `/*` includes all lower paths.
   */
  readonly addresses: readonly string[]
  /** Returns the IP address of the client. If the peer is a trusted proxy, the address comes from `X-Forwarded-For`. */
  clientAddress(peer: string | undefined, forwardedFor: string | null): string
  /** Checks the characters of a query string of the REST application. @throws OAuthError for a forbidden character */
  checkQuery(query: string): void
  /**
   * Refuses a request target that contains a dot segment, or credentials before the host.
   * @param target the request target, exactly as the client sent it
   * @throws OAuthError
   */
  checkTarget(target: string): void
  /** Returns the logged-in user, and the values that a page template of the application embeds. */
  pageSession(browser: BrowserCredentials): Promise<PageSession>
  /** Returns the user of the session or token in a request; null without a valid session or token. */
  currentUser(request: Request, connection?: Connection): Promise<UserProxy | null>
  /** Returns the response for an error that a guard threw; undefined for an error that is not a refusal. */
  refusalOf(error: unknown): Refusal | undefined
  /**
   * Returns the error for a request without a credential or without a required scope; undefined if neither is missing.
   */
  challenge(result: AuthResult, neededScopes: readonly string[]): Error | undefined
  /**
   * Notifies OpenID Connect clients that a user logged out, and revokes the access that these clients received without
   * the scope `offline_access`. An application with `resourceOwner` calls this method when it logs a user out.
   * @param sessionId the session ID that `resourceOwner` returned; default: all sessions of the user
   */
  loggedOut(userId: UserId, sessionId?: string): Promise<void>
  /**
   * Calls the hook after each audit event with this name, or after every event if the name is `*`. Requests do not wait
   * for the hook. If the hook throws, the server logs `hook.failed`.
   * @returns a function that removes the hook
   * @throws TypeError for an unknown event name
   */
  on<Name extends AuditEventName>(event: Name | '*', hook: AuditHook<Name>): () => void
  /** Runs `work` in a new transaction. `work` must call the methods of `tx` instead of the methods of the server. */
  transaction<T>(work: (tx: Records) => Promise<T>): Promise<T>
  /**
   * Runs `work` in a transaction that the application has begun on a client of the package `pg`. The writes of the
   * application and the writes of `tx` are then committed or rolled back together. Requires the store `postgres(…)` on
   * the same database. If `work` throws, the writes of `tx` are rolled back, and the transaction of the application
   * stays open. Hooks receive the audit events after the application has committed.
   * @throws TypeError for another store, a client without an open transaction, a client that is connected to another
   *   database, or a nested call with the same client
   */
  transaction<T>(client: PostgresClient, work: (tx: Records) => Promise<T>): Promise<T>
  /** Runs `work`. The audit log records the changes that `work` makes as actions of the given user or actor. */
  actingAs<T>(who: ActingAs, work: () => T): T
  /**
   * Removes expired rows, and the rows of deleted clients and users. @returns the number of removed rows
   * @throws ClockInDoubt if the clock is not reliable enough to decide which rows have expired
   */
  sweep(): Promise<number>
  /**
   * Returns the numbers of rows that `sweep` would remove, with the reasons, and the missing users. Does not change the
   * database.
   */
  sweepPlan(): Promise<SweepPlan>
  /** Replaces the seals of earlier secret keys by seals of the current key. Does not block requests. */
  rotateSecretKeys(options?: KeyRotationOptions): Promise<KeyRotation>
  /** Returns whether this process should receive requests, as `/health/ready` reports. */
  isReady(): Promise<boolean>
  /** Makes `/health/ready` return 503. Call this method when a shutdown begins. The server still handles requests. */
  drain(): void
  /** Stops the background work, writes the audit events and token uses in memory to the store, and closes the store. */
  close(): Promise<void>
}
