import type { Transients } from './store.ts'

interface Entry {
  value: string | undefined
  count: number
  expiresAt: number
}

/** Short-lived values in this process alone: for tests, and where codes may end with the process. */
export const memoryTransients = (): Transients => {
  const entries = new Map<string, Entry>()
  const live = (key: string, now: number): Entry | undefined => {
    const entry = entries.get(key)
    return entry && entry.expiresAt > now ? entry : undefined
  }
  return {
    async put(key, value, expiresAt, now) {
      if (live(key, now)) return false
      entries.set(key, { value, count: 0, expiresAt })
      return true
    },
    async set(key, value, expiresAt) {
      entries.set(key, { value, count: 0, expiresAt })
    },
    async get(key, now) {
      return live(key, now)?.value
    },
    async getMany(keys, now) {
      return keys.map((key) => live(key, now)?.value)
    },
    async take(key, now) {
      const entry = live(key, now)
      if (entry) entries.delete(key)
      return entry?.value
    },
    async increment(key, expiresAt, now) {
      const { value, count } = live(key, now) ?? { value: undefined, count: 0 }
      entries.set(key, { value, count: count + 1, expiresAt })
      return count + 1
    },
    async delete(key) {
      entries.delete(key)
    },
    async deleteExpired(now, limit) {
      const expired = [...entries].filter(([, { expiresAt }]) => expiresAt <= now).slice(0, limit)
      for (const [key] of expired) entries.delete(key)
      return expired.length
    },
  }
}
