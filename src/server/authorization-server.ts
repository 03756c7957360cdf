import type { Answer } from '../http/answer.ts'
import type { Refusal } from '../http/refusal.ts'
import type { Connection, RequestSource } from '../http/request.ts'
import type { ActingAs } from '../http/request-scope.ts'
import type { AuditEventName } from '../model/audit-event.ts'
import type { AuthResult } from '../model/auth.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import type { ScopeRegistry } from '../model/scope.ts'
import type { UserProxy } from '../model/user.ts'
import type { ProviderOperations } from '../protocol/client-lookup.ts'
import type { ResourceServer } from '../protocol/resource-server.ts'
import type { PageSession } from '../protocol/session/page-session.ts'
import type { BrowserCredentials, Sessions } from '../protocol/session/sessions.ts'
import type { AuditHook } from '../records/audit/audit-hooks.ts'
import type { KeyRotation, KeyRotationOptions } from '../records/keys/rotate-keys.ts'
import type { Records } from '../records/records.ts'
import type { Settings } from '../settings/settings.ts'
import type { SweepPlan } from './sweeper/sweep-plan.ts'

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
  /** Returns the challenge for a request without a credential, or the refusal of a token without a required scope. */
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
