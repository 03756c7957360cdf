import type { Expiring } from './expiring.ts'

/** The owner of a value, and the maximum number of values of this owner. */
export interface Room {
  readonly owner: string
  readonly most: number
}

/**
 * Stores short-lived values, such as codes and pending requests. The callers seal the values. With `room`, a new value
 * removes those other values of its owner that expire first, until at most `room.most` values remain. The new value is
 * stored even if it expires before all others. Concurrent calls may together exceed this number; the next call removes
 * the excess.
 */
export interface Transients extends Pick<Expiring, 'deleteExpired'> {
  /** Stores a value. Returns false if the key is taken. */
  put(key: string, value: string, expiresAt: number, now: number, room?: Room): Promise<boolean>
  /** Stores or replaces a value. */
  set(key: string, value: string, expiresAt: number, now: number, room?: Room): Promise<void>
  /**
   * Returns values and counters in the order of the keys; undefined for a missing or expired key. Looks up all keys
   * concurrently or in one statement.
   */
  get(keys: readonly string[], now: number): Promise<readonly (Transient | undefined)[]>
  /** Removes and returns the value. Exactly one of several concurrent callers receives it. */
  take(key: string, now: number): Promise<string | undefined>
  /**
   * Adds 1, or `by`, to a counter and returns the sum. Concurrent callers that add 1 get different numbers. An expired
   * counter begins again at 0.
   */
  increment(key: string, expiresAt: number, now: number, by?: number): Promise<number>
  delete(key: string): Promise<void>
}

/** A value or a counter. `expiresAt` is in milliseconds since the epoch. */
export interface Transient {
  /** Null for a counter. */
  readonly value: string | null
  readonly count: number
  readonly expiresAt: number
}

/** An open store of short-lived values outside of the database. */
export interface OpenTransients extends Transients {
  /** Checks that the store responds. @throws StoreUnavailable otherwise */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Opens a store of short-lived values: the result of `redis(url)`. */
export interface TransientsOpener {
  readonly description: string
  /**
   * @param issuer the issuer of the server. Servers with different issuers must not share values
   * @throws StoreUnavailable during an outage; StoreUnusable if the store refuses access
   */
  open(issuer?: string): Promise<OpenTransients>
}
