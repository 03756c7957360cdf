/** A condition for a value: the value, one of several values, any other value, or a limit. */
export type Condition<Value> =
  | Value
  | readonly Value[]
  | { readonly not: Value }
  | { readonly upTo: Value }

/** Conditions that a row must meet. Without conditions, every row is selected. Without fields, there is no condition. */
export type Where<Fields> = [Fields] extends [never]
  ? never
  : { readonly [Name in keyof Fields]?: Condition<Fields[Name]> | undefined }

/**
 * The rows of one table. Changes and deletions need a condition.
 * @template Fields the values that conditions and changes name
 */
export interface Rows<Row, Fields = Row> {
  /** Inserts a row. Returns false if a unique value is taken, so only one of several concurrent callers succeeds. */
  insert(row: Row): Promise<boolean>
  /** Inserts a row, or replaces the row with the same key. */
  put(row: Row): Promise<void>
  /** Changes the selected rows. @returns their number */
  update(where: Where<Fields>, changes: Partial<Fields>): Promise<number>
  /** Deletes the selected rows. @returns their number: a row is deleted by one of several concurrent callers */
  delete(where: Where<Fields>): Promise<number>
  /** Lists the selected rows in the order of their keys. */
  select(
    where?: Where<Fields>,
    options?: {
      /** The names of another order. An index must have this order. */
      readonly by?: readonly (keyof Fields & string)[]
      /** Omits the rows up to these values of the order. */
      readonly after?: Partial<Fields> | undefined
      readonly limit?: number
      readonly isReversed?: boolean
    },
  ): Promise<readonly Row[]>
}

/** A lock in a transaction until its end: to change the row, or to prevent changes of the row. */
export type Lock = 'change' | 'share'

/**
 * Reads rows with columns of other tables, in any order. Omits the rows of deleted users and clients.
 * @template Fields the values that conditions name; never if rows are found by their keys alone
 */
export interface Reads<Row, Fields, Key = number> {
  /**
   * Finds the row with this key, or a row that meets the conditions.
   * @param options.lock the lock to take inside a transaction; by default none
   */
  find(of: Key | Where<Fields>, options?: { readonly lock?: Lock }): Promise<Row | undefined>
  /** Lists the rows that meet the conditions. */
  select(where: Where<Fields>, options?: { readonly lock?: Lock }): Promise<readonly Row[]>
}

/** Clients or users, on which the rows of other tables depend. */
export interface Removable<Key> {
  /**
   * Deletes the row with this key. Must be called inside a transaction. The rows that depend on it become invisible
   * immediately, and are deleted later.
   * @param now the time of the deletion, in milliseconds since the epoch
   * @returns false if there is no row with this key
   */
  delete(key: Key, now: number): Promise<boolean>
}
