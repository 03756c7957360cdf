import type { Transients } from '../contract/transients.ts'
import { type Expiring, ExpiryHeap } from './expiry-heap.ts'

interface Entry extends Expiring {
  readonly key: string
  readonly value: string | undefined
  readonly count: number
}

/** Stores short-lived values in the memory of this process. All values are lost when the process ends. */
export const memoryTransients = (): Transients => {
  const entries = new Map<string, Entry>()
  const byExpiry = new ExpiryHeap<Entry>()
  const live = (key: string, now: number): Entry | undefined => {
    const entry = entries.get(key)
    return entry && entry.expiresAt > now ? entry : undefined
  }
  const remove = (entry: Entry | undefined): void => {
    if (!entry) return
    entries.delete(entry.key)
    byExpiry.remove(entry)
  }
  const write = (key: string, value: string | undefined, count: number, expiresAt: number) => {
    remove(entries.get(key))
    const entry = { key, value, count, expiresAt, position: 0 }
    entries.set(key, entry)
    byExpiry.add(entry)
  }
  return {
    async put(key, value, expiresAt, now) {
      if (live(key, now)) return false
      write(key, value, 0, expiresAt)
      return true
    },
    async set(key, value, expiresAt) {
      write(key, value, 0, expiresAt)
    },
    async get(key, now) {
      return live(key, now)?.value
    },
    async getMany(keys, now) {
      return keys.map((key) => live(key, now)?.value)
    },
    async take(key, now) {
      const entry = live(key, now)
      remove(entry)
      return entry?.value
    },
    async increment(key, expiresAt, now) {
      const { value, count } = live(key, now) ?? { value: undefined, count: 0 }
      write(key, value, count + 1, expiresAt)
      return count + 1
    },
    async delete(key) {
      remove(entries.get(key))
    },
    async deleteExpired(now, limit) {
      let removed = 0
      for (; removed < limit; removed += 1) {
        const { first } = byExpiry
        if (!first || first.expiresAt > now) break
        remove(first)
      }
      return removed
    },
  }
}
