/** Short-lived values: codes, pending requests. Keys carry their kind, values are sealed by the caller. */
export interface Transients {
  /** Returns false if the key is taken. */
  put(key: string, value: string, expiresAt: number, now: number): Promise<boolean>
  /** Stores a value, and replaces a former one. */
  set(key: string, value: string, expiresAt: number, now: number): Promise<void>
  get(key: string, now: number): Promise<string | undefined>
  /** Returns the values of several keys, in their order, in one round trip. */
  getMany(keys: readonly string[], now: number): Promise<readonly (string | undefined)[]>
  /** Removes and returns the value; of concurrent callers, exactly one receives it. */
  take(key: string, now: number): Promise<string | undefined>
  /** Increments a counter and returns it; every caller gets a different number. */
  increment(key: string, expiresAt: number, now: number): Promise<number>
  delete(key: string): Promise<void>
  deleteExpired(now: number, limit: number): Promise<number>
}

/** Short-lived values that are stored outside of the database. */
export interface OpenTransients extends Transients {
  /** @throws StoreUnavailable without an answer */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Opens a store of short-lived values: the result of `redis(url)`. */
export interface TransientsOpener {
  readonly description: string
  /** @throws StoreUnavailable during an outage, StoreUnusable if access is refused */
  open(): Promise<OpenTransients>
}
