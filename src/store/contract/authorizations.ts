import type { Digest } from '../../crypto/digest.ts'
import type { SealedAuditEvent } from '../../model/audit-event.ts'
import type { Authorization, NewAuthorization } from '../../model/entities/authorization.ts'
import type { ClientLogin } from '../../model/entities/client-login.ts'
import type { Consent, SealedConsent } from '../../model/entities/consent.ts'
import type { StoredSession } from '../../model/entities/session.ts'
import type { NewToken } from '../../model/entities/token.ts'
import type { ReservedIds } from '../../model/redemption.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring } from './expiring.ts'
import type { Reads, Rows } from './rows.ts'
import type { StoredUser } from './users.ts'

/** The rows of a new authorization, and the conditions of its insert. */
export interface AuthorizedToken {
  /** The IDs from `findGrant`; undefined if the store assigns the IDs when it inserts. */
  readonly ids: ReservedIds | undefined
  readonly authorization: NewAuthorization
  readonly tokenOf: (authorizationId: number) => NewToken
  readonly eventOf: (ids: ReservedIds) => SealedAuditEvent
  /** The login at the client that is stored with the authorization. */
  readonly login: Omit<ClientLogin, 'authorizationId'> | undefined
  /** The consent that must cover these scopes. */
  readonly consent: { readonly id: string; readonly scopes: readonly string[] }
  /** The session that must exist; null for a grant that outlives its session. */
  readonly sessionId: string | null
  /** The user must have fewer unrevoked authorizations for the client. */
  readonly most: number
}

/**
 * `deleteExpired` deletes at most `limit` rows of each kind: rotated refresh tokens, then exchanged tokens, then the
 * authorizations with their other tokens. If `limit` rows of a kind were deleted, it stops.
 */
export interface AuthorizationStore
  extends Expiring,
    Pick<Reads<Authorization, Authorization>, 'find'> {
  /**
   * Atomically inserts an authorization with its token and its event. Returns undefined and inserts nothing if the code
   * was redeemed, a condition is not met or `ids` is missing. Missing in transactions and in a database in memory.
   * @throws UniqueViolation for a token value that exists
   */
  readonly insertWithToken?:
    | ((rows: AuthorizedToken) => Promise<ReservedIds | undefined>)
    | undefined
  /** Inserts an authorization. Returns its ID, or undefined if another request has redeemed the code. */
  insertOnce(authorization: NewAuthorization): Promise<number | undefined>
  /** Sets the expiry of the authorization if the current expiry is earlier. */
  extend(id: number, endsAt: number): Promise<void>
  /** Lists the IDs of a user's unrevoked authorizations for a client: at most 100, without the latest `keep`. */
  listExceeding(userId: UserId, clientId: string, keep: number): Promise<readonly number[]>
  /** Revokes the authorization and deletes its tokens. Returns false if no unrevoked authorization has this ID. */
  revoke(id: number, now: number): Promise<boolean>
  /**
   * Revokes at most `limit` authorizations of a user that have tokens, and deletes these tokens.
   * @param clientId the client of the authorizations; null for all clients
   * @returns the number of revoked authorizations. Call again until it is less than `limit`.
   */
  revokeOfUser(userId: UserId, clientId: string | null, now: number, limit: number): Promise<number>
}

/** What a redemption checks before it issues tokens. */
export interface StoredGrant extends SealedConsent {
  /** The user of the consent; null if the store cannot read the users. */
  readonly user: StoredUser | null
  /** The session with the given ID, if it belongs to the user of the consent. */
  readonly session: StoredSession | undefined
  /** The IDs of the rows to insert; undefined if `insertWithToken` assigns the IDs. */
  readonly reserved: ReservedIds | undefined
}

export interface ConsentStore
  extends Pick<Rows<SealedConsent>, 'insert' | 'put'>,
    Reads<SealedConsent, Pick<Consent, 'userId' | 'clientId'>, never> {
  /** Finds a consent with its user and a session in one statement. Locks nothing. */
  findGrant(
    userId: UserId,
    clientId: string,
    sessionId: string | null,
  ): Promise<StoredGrant | undefined>
  /** Finds the consent of the user of a session, even if the session has expired. Locks nothing. */
  findOfSession(sessionId: Digest, clientId: string): Promise<SealedConsent | undefined>
  /** Deletes the consent of the user for a client; without a client, all consents of the user. */
  delete(userId: UserId, clientId: string | null): Promise<boolean>
}
