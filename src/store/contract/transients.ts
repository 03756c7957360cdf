/** Short-lived values: codes, pending requests. Keys carry their kind, values are sealed by the caller. */
export interface Transients {
  /** False where the key is taken. */
  put(key: string, value: string, expiresAt: number, now: number): Promise<boolean>
  /** Keeps the value in the place of what is there. */
  set(key: string, value: string, expiresAt: number, now: number): Promise<void>
  get(key: string, now: number): Promise<string | undefined>
  /** Returns the values of several keys, in their order, in one round trip. */
  getMany(keys: readonly string[], now: number): Promise<readonly (string | undefined)[]>
  /** Removes and returns the value; of concurrent callers, exactly one receives it. */
  take(key: string, now: number): Promise<string | undefined>
  /** Counts up and returns the new count; every caller gets another number. */
  increment(key: string, expiresAt: number, now: number): Promise<number>
  delete(key: string): Promise<void>
  deleteExpired(now: number, limit: number): Promise<number>
}

/** Short-lived values that are kept beside the database. */
export interface OpenTransients extends Transients {
  /** @throws StoreUnavailable where they do not answer */
  ping(): Promise<void>
  close(): Promise<void>
}

/** How to open a keeper of short-lived values: what `redis(url)` returns. */
export interface TransientsOpener {
  readonly description: string
  /** @throws StoreUnavailable where it is away for now, StoreUnusable where it does not let us in */
  open(): Promise<OpenTransients>
}
