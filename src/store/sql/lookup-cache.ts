import type { CacheStats } from '../store.ts'

/** A row that can be named by a number in a message. */
interface Numbered {
  readonly id: number
}

interface Kept {
  readonly row: Numbered
  /** In milliseconds of the clock of the cache. */
  readonly until: number
}

/** Rows that are kept at most. */
const most = 10_000

/**
 * Keeps for some seconds what look-ups found, as long as somebody tells what changes. What was not found is
 * never kept.
 */
export class LookupCache {
  readonly #life: number
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()
  readonly #keys = new Map<number, string>()
  // What is found while something changes may be from before.
  #changes = 0
  #isTold = false
  #hits = 0
  #misses = 0

  /**
   * @param seconds after which a row is looked up anew, whatever was told meanwhile
   * @param now milliseconds of a clock that never goes back
   */
  constructor(seconds: number, now: () => number = () => performance.now()) {
    this.#life = seconds * 1000
    this.#now = now
  }

  around<Row extends Numbered>(
    find: (key: string) => Promise<Row | undefined>,
  ): (key: string) => Promise<Row | undefined> {
    return async (key) => {
      const now = this.#now()
      const kept = this.#kept.get(key)
      if (kept && kept.until > now) {
        this.#hits += 1
        return kept.row as Row
      }
      this.#misses += 1
      const changes = this.#changes
      const row = await find(key)
      if (row && this.#isTold && changes === this.#changes) this.#keep(key, row, now + this.#life)
      else this.#drop(key)
      return row
    }
  }

  /** Whether changes are told from now on. Where they are not, nothing is kept. */
  set isTold(isTold: boolean) {
    this.#isTold = isTold
    this.forgetAll()
  }

  stats(): CacheStats {
    return { hits: this.#hits, misses: this.#misses, isTold: this.#isTold }
  }

  forget(id: number): void {
    this.#changes += 1
    const key = this.#keys.get(id)
    if (key !== undefined) this.#drop(key)
  }

  forgetAll(): void {
    this.#changes += 1
    this.#kept.clear()
    this.#keys.clear()
  }

  #keep(key: string, row: Numbered, until: number): void {
    this.#drop(key)
    this.#kept.set(key, { row, until })
    this.#keys.set(row.id, key)
    if (this.#kept.size > most) this.#drop(this.#kept.keys().next().value ?? '')
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (!kept) return
    this.#kept.delete(key)
    this.#keys.delete(kept.row.id)
  }
}
