/** A map with a maximum size, which evicts the least recently used entry. */
export class BoundedMap<T> {
  readonly #values = new Map<string, T>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** Returns the value, and makes it the most recently used one. */
  get(key: string): T | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  /** Sets the value. If the map is full, deletes the least recently used value. */
  set(key: string, value: T): void {
    // A Map iterates in insertion order, so set the key again to make it the newest.
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > this.#max && oldest !== undefined) this.#values.delete(oldest)
  }

  /** Deletes the value. */
  delete(key: string): void {
    this.#values.delete(key)
  }
}
