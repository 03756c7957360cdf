import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { Authorization, Consent } from '../../model/authorization.ts'
import type { UserId } from '../../model/user.ts'

export type NewAuthorization = Omit<Authorization, 'id' | 'clientId' | 'revokedAt'> & {
  /** The digest of the code. It is unique, so that only one request can redeem the code. */
  readonly codeDigest: Digest | null
}

export interface AuthorizationStore {
  /** Inserts an authorization unless its code was redeemed. Exactly one of several concurrent callers gets the ID. */
  insertOnce(authorization: NewAuthorization): Promise<number | undefined>
  find(id: number): Promise<Authorization | undefined>
  findByCode(digest: Digest): Promise<Authorization | undefined>
  /** Sets the expiry of the authorization, unless the current expiry is later. */
  extend(id: number, endsAt: number): Promise<void>
  /** Returns at most 100 IDs of active authorizations of a user for a client, without the latest `keep`. */
  listExceeding(userId: UserId, clientId: string, keep: number): Promise<readonly number[]>
  /** Marks the authorization as revoked and deletes its tokens. Returns false if it was revoked before. */
  revoke(id: number, now: number): Promise<boolean>
  /**
   * Revokes at most `limit` authorizations of a user that have tokens, for one client or for all clients. Deletes the
   * tokens.
   * @returns the number of revoked authorizations; 0 if none was left
   */
  revokeOfUser(userId: UserId, clientId: string | null, now: number, limit: number): Promise<number>
  /**
   * Deletes at most `limit` rotated refresh tokens and at most `limit` exchanged tokens of expired authorizations. If
   * fewer existed, also deletes the authorizations with their other tokens.
   * @returns the number of deleted rows; only 0 means that no rows are left
   */
  deleteExpired(now: number, limit: number): Promise<number>
}

export interface SealedConsent {
  readonly consent: Consent
  readonly seal: Sealed
}

export interface ConsentStore {
  /**
   * Finds the consent. Inside a transaction, locks the row until the end of the transaction.
   * @param options.isShared whether to take a shared lock, for callers that only read
   */
  find(
    userId: UserId,
    clientId: string,
    options?: { readonly isShared?: boolean },
  ): Promise<SealedConsent | undefined>
  /** Inserts the consent. Returns false if the user already has a consent for the client. */
  insert(consent: SealedConsent): Promise<boolean>
  /** Inserts or replaces the consent of the user for the client. */
  put(consent: SealedConsent): Promise<void>
  delete(userId: UserId, clientId: string): Promise<boolean>
  deleteOfUser(userId: UserId): Promise<void>
  ofUser(userId: UserId, clientIds: readonly string[]): Promise<readonly SealedConsent[]>
}
