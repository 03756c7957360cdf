/** A deleted client or built-in user, whose rows are invisible but not deleted yet. */
export interface Removal {
  readonly kind: 'client' | 'user'
  readonly key: number
  /** The time of the deletion, in milliseconds since the epoch. */
  readonly at: number
}

export interface RemovalStore {
  /** Lists at most `limit` removals after `after`, in a fixed order. */
  list(after: Removal | null, limit: number): Promise<readonly Removal[]>
  /** Deletes about `limit` rows. @returns the number of deleted rows; 0 if none was left */
  removeSome(removal: Pick<Removal, 'kind' | 'key'>, limit: number): Promise<number>
  delete(removal: Removal): Promise<void>
  /** Adds deleted clients to the list, unless they are in it. */
  addClients(keys: readonly number[], at: number): Promise<void>
  /**
   * Finds clients that a foreign key to the user table of the application deleted. Reads about `limit` client keys of
   * each table after `after`. `last` is the last key that was read, or null at the end.
   */
  findOrphans(
    after: number,
    limit: number,
  ): Promise<{ readonly keys: readonly number[]; readonly last: number | null }>
}

/** The kind of a note that the sweeper stores for its next run: when a user was first missing, or the last sweep. */
export type SweeperNoteKind = 'missing user' | 'last sweep'

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
  delete(kind: SweeperNoteKind, keys: readonly string[]): Promise<void>
}

/** The times of one run of the sweeper, in milliseconds since the epoch. For null, no row of that kind is removed. */
export interface SweepTimes {
  readonly now: number
  /** Removes sessions that were not used since this time. */
  readonly idleSince: number
  readonly auditBefore: number | null
  readonly unusedClientsBefore: number | null
}

/** Counts the rows that the sweeper would remove. */
export interface ExpiredStore {
  /** Counts the rows of each kind, up to `max`. */
  count(times: SweepTimes, max: number): Promise<ExpiredCounts>
}

export interface ExpiredCounts {
  readonly tokens: number
  readonly authorizations: number
  readonly sessions: number
  readonly transients: number
  readonly auditEvents: number
}
