import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { Authorization, Consent } from '../../model/authorization.ts'
import type { UserId } from '../../model/user.ts'

export type NewAuthorization = Omit<Authorization, 'id' | 'clientId' | 'revokedAt'> & {
  /** Unique: the request that inserts it has redeemed the code. */
  readonly codeDigest: Digest | null
}

export interface AuthorizationStore {
  /** Inserts an authorization unless its code was redeemed before. Of concurrent callers, exactly one gets the ID. */
  insertOnce(authorization: NewAuthorization): Promise<number | undefined>
  find(id: number): Promise<Authorization | undefined>
  findByCode(digest: Digest): Promise<Authorization | undefined>
  /** Returns at most 100 IDs of a user's live authorizations for a client, without the latest `keep`. */
  beyond(userId: UserId, clientId: string, keep: number): Promise<readonly number[]>
  /** Marks the authorization as revoked and deletes its tokens. Returns false if it was revoked before. */
  revoke(id: number, now: number): Promise<boolean>
  /**
   * Marks at most `limit` of a user's authorizations that have tokens, of one client or of all, and deletes their
   * tokens. @returns the number of marked authorizations; 0 when nothing is left
   */
  revokeOfUser(userId: UserId, clientId: string | null, now: number, limit: number): Promise<number>
  /**
   * Deletes at most `limit` tombstones and exchanged tokens of expired authorizations; then, if there were fewer, the
   * authorizations.
   * @returns the number of rows; only 0 means that nothing is left
   */
  deleteExpired(now: number, limit: number): Promise<number>
}

export interface SealedConsent {
  readonly consent: Consent
  readonly seal: Sealed
}

export interface ConsentStore {
  /**
   * Finds the consent. In a transaction the row is locked until the end.
   * @param options.isShared takes a shared lock, for callers that only read
   */
  find(
    userId: UserId,
    clientId: string,
    options?: { readonly isShared?: boolean },
  ): Promise<SealedConsent | undefined>
  /** Returns false if the user already has a consent to the client. Of concurrent callers, exactly one inserts. */
  insert(consent: SealedConsent): Promise<boolean>
  /** Inserts or replaces the user's consent to the client. */
  put(consent: SealedConsent): Promise<void>
  delete(userId: UserId, clientId: string): Promise<boolean>
  deleteOfUser(userId: UserId): Promise<void>
  ofUser(userId: UserId, clientIds: readonly string[]): Promise<readonly SealedConsent[]>
}
