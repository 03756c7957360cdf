import type { Removal } from '../../model/entities/removal.ts'
import type { SweeperNote, SweeperNoteKind } from '../../model/entities/sweeper-note.ts'
import type { Expiring } from './expiring.ts'
import type { Rows } from './rows.ts'

export interface RemovalStore extends Rows<Removal> {
  /** Deletes about `limit` rows of the client or user. @returns the number of deleted rows; call again until it is 0 */
  removeSome(removal: Pick<Removal, 'kind' | 'key'>, limit: number): Promise<number>
  /**
   * Finds keys of clients that no longer exist but still have rows. Usually, a foreign key to the user table of the
   * application has deleted these clients. Reads at most `limit` client keys above `after` in each table. `last` is the
   * value of `after` for the next call, or null at the end.
   */
  findOrphans(
    after: number,
    limit: number,
  ): Promise<{ readonly keys: readonly number[]; readonly last: number | null }>
}

/** The notes of the sweeper. The notes of a kind expire at their time. */
export interface SweeperNoteStore
  extends Rows<SweeperNote>,
    Expiring<{ readonly kind: SweeperNoteKind; readonly at: number }> {}
