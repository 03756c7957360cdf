/** Rows that expire. @template End what decides which rows have expired; by default, a time or a number */
export interface Expiring<End = number> {
  /**
   * Deletes at most `limit` rows that expired up to `end`, and the rows that depend on them. The rows with the earliest
   * end are first.
   * @param end milliseconds since the epoch
   * @returns the number of deleted rows; call again until it is 0
   */
  deleteExpired(end: End, limit: number): Promise<number>
  /** Counts, up to `max`, the rows that expired up to `end`. */
  countExpired(end: End, max: number): Promise<number>
}

/** Rows whose number is limited for each owner. @template Owner the owner, and which of its rows are counted */
export interface Surplus<Owner> {
  /**
   * Deletes the oldest rows of an owner: at most `limit` rows, without the latest `keep` rows.
   * @returns the number of deleted rows, which is less than `limit` if no further rows are surplus
   */
  deleteSurplus(
    of: Owner,
    which: { readonly keep: number; readonly limit: number },
  ): Promise<number>
}
