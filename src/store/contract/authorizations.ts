import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { Authorization, Consent } from '../../model/authorization.ts'
import type { UserId } from '../../model/user.ts'

export type NewAuthorization = Omit<Authorization, 'id' | 'clientId' | 'revokedAt'> & {
  /** Unique: the request that inserts it has redeemed the code. */
  readonly codeDigest: Digest | null
}

export interface AuthorizationStore {
  /** Undefined where the code was redeemed before. Of concurrent callers, exactly one gets the id. */
  insertOnce(authorization: NewAuthorization): Promise<number | undefined>
  find(id: number): Promise<Authorization | undefined>
  findByCode(digest: Digest): Promise<Authorization | undefined>
  /** Those of a user for a client that are not revoked, but for so many, the latest: at most 100. */
  beyond(userId: UserId, clientId: string, keep: number): Promise<readonly number[]>
  /** Marks it and deletes its tokens. False where it was revoked before. */
  revoke(id: number, now: number): Promise<boolean>
  /**
   * Marks at most `limit` of a user's authorizations that have tokens, of one client or of all, and deletes their
   * tokens. @returns how many were marked; 0 once nothing is left
   */
  revokeOfUser(userId: UserId, clientId: string | null, now: number, limit: number): Promise<number>
  /**
   * Deletes at most `limit` tombstones of expired authorizations, and if there were fewer, the authorizations.
   * @returns the number of rows; only 0 means that none are left
   */
  deleteExpired(now: number, limit: number): Promise<number>
}

export interface SealedConsent {
  readonly consent: Consent
  readonly seal: Sealed
}

export interface ConsentStore {
  /**
   * In a transaction nobody else changes it until the end.
   * @param options.isShared the caller does not change it either: others who say so need not wait
   */
  find(
    userId: UserId,
    clientId: string,
    options?: { readonly isShared?: boolean },
  ): Promise<SealedConsent | undefined>
  /** False where the user has one to the client already. Of concurrent callers, exactly one inserts. */
  insert(consent: SealedConsent): Promise<boolean>
  /** Inserts or replaces the user's consent to the client. */
  put(consent: SealedConsent): Promise<void>
  delete(userId: UserId, clientId: string): Promise<boolean>
  deleteOfUser(userId: UserId): Promise<void>
  ofUser(userId: UserId, clientIds: readonly string[]): Promise<readonly SealedConsent[]>
}
