import type { Removal } from '../../model/entities/removal.ts'
import type { SweeperNote, SweeperNoteKind } from '../../model/entities/sweeper-note.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring } from './expiring.ts'
import type { Rows } from './rows.ts'

/** The client or user whose rows are removed. */
export interface Removed {
  readonly kind: Removal['kind']
  /** The key of the client, or the ID of the user. */
  readonly key: UserId
  /** Removes only rows that were created earlier, in milliseconds since the epoch. */
  readonly before?: number | null
}

/** The deleted clients and users. Removes rows, also of users in tables without a foreign key to the user table. */
export interface RemovalStore extends Rows<Removal> {
  /** Deletes about `limit` rows of the client or user. @returns the number of deleted rows; call again until it is 0 */
  removeSome(removed: Removed, limit: number): Promise<number>
  /**
   * Finds keys of clients that no longer exist but still have rows. Usually, a foreign key to the user table of the
   * application has deleted these clients. Reads at most `limit` client keys above `after` in each table. `last` is the
   * value of `after` for the next call, or null at the end.
   */
  findOrphans(
    after: number,
    limit: number,
  ): Promise<{ readonly keys: readonly number[]; readonly last: number | null }>
  /** Lists at most `limit` IDs of users that have rows, in ascending order after the ID `after`. */
  idsInUse(after: UserId | null, limit: number): Promise<readonly UserId[]>
  /** Returns whether a row that belongs to a user was created before this time. */
  hasOlder(userId: UserId, before: number): Promise<boolean>
}

/** The notes of the sweeper. The notes of a kind expire at their time. */
export interface SweeperNoteStore
  extends Rows<SweeperNote>,
    Expiring<{ readonly kind: SweeperNoteKind; readonly at: number }> {}
