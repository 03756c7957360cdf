/** A client or a built-in user that was deleted: the rows that belonged to it are dead, and have to be removed. */
export interface Removal {
  readonly kind: 'client' | 'user'
  readonly key: number
  /** When it was deleted; milliseconds since the epoch. */
  readonly at: number
}

export interface RemovalStore {
  /** At most `limit` of them, in one order, those after `after`. */
  list(after: Removal | null, limit: number): Promise<readonly Removal[]>
  /** Removes about `limit` rows. @returns how many; 0 once nothing is left */
  removeSome(removal: Pick<Removal, 'kind' | 'key'>, limit: number): Promise<number>
  delete(removal: Removal): Promise<void>
  /** Adds deleted clients to the list, unless they are listed. */
  addClients(keys: readonly number[], at: number): Promise<void>
  /**
   * Finds the clients that a foreign key of the application's user table has deleted: looks at about `limit` client keys
   * of each table after `after`. `last` is the last key that it looked at; null at the end.
   */
  findOrphans(
    after: number,
    limit: number,
  ): Promise<{ readonly keys: readonly number[]; readonly last: number | null }>
}

/** What the sweeper remembers between two runs: since when a user is missing, when the clock was last read. */
export type SweeperNoteKind = 'missing user' | 'last sweep'

export interface SweeperNote {
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface SweeperNoteStore {
  find(kind: SweeperNoteKind, keys: readonly string[]): Promise<readonly SweeperNote[]>
  /** At most `limit` notes from that time or earlier, the oldest first. */
  until(kind: SweeperNoteKind, at: number, limit: number): Promise<readonly SweeperNote[]>
  /** Writes a note, or replaces it. */
  put(kind: SweeperNoteKind, note: SweeperNote): Promise<void>
  delete(kind: SweeperNoteKind, keys: readonly string[]): Promise<void>
}

/** The times by which one run of the sweeper judges, in milliseconds since the epoch; null: nothing of the kind is removed. */
export interface SweepTimes {
  readonly now: number
  /** Sessions that were not used since are removed. */
  readonly idleSince: number
  readonly auditBefore: number | null
  readonly unusedClientsBefore: number | null
}

/** Counts what the sweeper would remove. */
export interface ExpiredStore {
  /** The number of rows of each kind, counted up to `most`. */
  count(times: SweepTimes, most: number): Promise<ExpiredCounts>
}

export interface ExpiredCounts {
  readonly tokens: number
  readonly authorizations: number
  readonly sessions: number
  readonly transients: number
  readonly auditEvents: number
}
