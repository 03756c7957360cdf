/** A deleted client or built-in user. Its rows are already invisible, and will be deleted in batches. */
export interface Removal {
  readonly kind: 'client' | 'user'
  readonly key: number
  /**
   * The time of the deletion, in milliseconds since the epoch. For a client that `deleteUnused` deleted, the value of
   * its parameter `before`.
   */
  readonly at: number
}

export interface RemovalStore {
  /** Lists at most `limit` removals after `after`, in a fixed order. */
  list(after: Removal | null, limit: number): Promise<readonly Removal[]>
  /** Deletes about `limit` rows of the client or user. @returns the number of deleted rows; call again until it is 0 */
  removeSome(removal: Pick<Removal, 'kind' | 'key'>, limit: number): Promise<number>
  /** Deletes a removal. The caller has already deleted the rows of the client or user. */
  delete(removal: Removal): Promise<void>
  /** Adds removals of deleted clients. Ignores clients that already have a removal. */
  addClients(keys: readonly number[], at: number): Promise<void>
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

/**
 * The kind of a time that the sweeper stores: when a user was first missing, or when the last sweep took place. A note
 * of the kind `email addresses` says that built-in users may have e-mail addresses that are not in normal form. A note of
 * the kind `deleted token` is the right to restore a deleted personal token: only the caller that deletes it may do so.
 * A note of the kind `restored token` replaces it, so that a search that missed the deleted token finds one of the notes.
 * A note of the kind `leaked token` takes this right away, also from a later deletion of the token.
 * A note of the kind `subject` is the creation time of the first user with an ID, or the time of a deletion of that user.
 */
export type SweeperNoteKind =
  | 'missing user'
  | 'last sweep'
  | 'email addresses'
  | 'deleted token'
  | 'restored token'
  | 'leaked token'
  | 'subject'

export interface SweeperNote {
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface SweeperNoteStore {
  find(kind: SweeperNoteKind, keys: readonly string[]): Promise<readonly SweeperNote[]>
  /** Lists at most `limit` notes up to a time, the oldest first. */
  until(kind: SweeperNoteKind, at: number, limit: number): Promise<readonly SweeperNote[]>
  /** Writes a note, or replaces it. */
  put(kind: SweeperNoteKind, note: SweeperNote): Promise<void>
  /** Deletes notes. Returns the number of deleted notes: a note is deleted by one of several concurrent callers. */
  delete(kind: SweeperNoteKind, keys: readonly string[]): Promise<number>
  /** Deletes at most `limit` notes of a time before `at`. Returns their number. */
  deleteBefore(kind: SweeperNoteKind, at: number, limit: number): Promise<number>
}

/**
 * The times of one run of the sweeper, in milliseconds since the epoch. If a time is null, the sweeper removes no rows
 * of that kind.
 */
export interface SweepTimes {
  readonly now: number
  /** The sweeper removes sessions that were not used after this time. */
  readonly idleSince: number
  readonly auditBefore: number | null
  readonly unusedClientsBefore: number | null
}

/** Counts the expired rows of each kind. */
export interface ExpiredStore {
  /** Counts up to `max` rows of each kind. */
  count(times: SweepTimes, max: number): Promise<ExpiredCounts>
}

export interface ExpiredCounts {
  readonly tokens: number
  readonly authorizations: number
  readonly sessions: number
  readonly transients: number
  readonly auditEvents: number
}
