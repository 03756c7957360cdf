import type { Digest } from '../../crypto/digest.ts'
import type { StoredSession } from '../../model/entities/session.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring } from './expiring.ts'
import type { Cursor, Page } from './page.ts'
import type { Rows } from './rows.ts'
import type { StoredUser } from './users.ts'

export interface SessionStore
  extends Rows<StoredSession>,
    Expiring<{ readonly now: number; readonly idleSince: number }> {
  find(
    id: Digest,
  ): Promise<{ readonly session: StoredSession; readonly user: StoredUser | null } | undefined>
  /** Lists a user's sessions, the latest first. */
  ofUser(userId: UserId, cursor: Cursor): Promise<Page<StoredSession>>
  /**
   * Deletes at most 100 valid sessions of a user. Retains the latest `keep` valid sessions. A valid session expires
   * after `now`, and was used after `idleSince`.
   * @returns the number of deleted sessions
   */
  deleteOldest(
    userId: UserId,
    keep: number,
    valid: { readonly now: number; readonly idleSince: number },
  ): Promise<number>
}
