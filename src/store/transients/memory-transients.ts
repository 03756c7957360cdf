import type { Room, Transient, Transients } from '../contract/transients.ts'
import { type Expiring, ExpiryHeap } from './expiry-heap.ts'

interface Entry extends Expiring, Transient {
  readonly key: string
  readonly owner: string | undefined
}

/** Stores short-lived values in the memory of this process. All values are lost when the process ends. */
export const memoryTransients = (): Transients => {
  const entries = new Map<string, Entry>()
  const byExpiry = new ExpiryHeap<Entry>()
  const byOwner = new Map<string, Set<Entry>>()
  const live = (key: string, now: number): Entry | undefined => {
    const entry = entries.get(key)
    return entry && entry.expiresAt > now ? entry : undefined
  }
  const remove = (entry: Entry | undefined): void => {
    if (!entry) return
    entries.delete(entry.key)
    byExpiry.remove(entry)
    const own = entry.owner === undefined ? undefined : byOwner.get(entry.owner)
    own?.delete(entry)
    if (own?.size === 0) byOwner.delete(entry.owner ?? '')
  }
  const makeRoom = ({ owner, most }: Room): void => {
    const own = byOwner.get(owner)
    while (own && own.size >= most)
      remove([...own].reduce((first, entry) => (entry.expiresAt < first.expiresAt ? entry : first)))
  }
  const write = (
    { key, value, count, expiresAt }: Pick<Entry, 'key' | 'value' | 'count' | 'expiresAt'>,
    room?: Room,
  ) => {
    remove(entries.get(key))
    if (room) makeRoom(room)
    const entry = { key, value, count, expiresAt, owner: room?.owner, position: 0 }
    entries.set(key, entry)
    byExpiry.add(entry)
    if (!room) return
    const own = byOwner.get(room.owner) ?? new Set()
    byOwner.set(room.owner, own.add(entry))
  }
  return {
    async put(key, value, expiresAt, now, room) {
      if (live(key, now)) return false
      write({ key, value, count: 0, expiresAt }, room)
      return true
    },
    async set(key, value, expiresAt, _now, room) {
      write({ key, value, count: 0, expiresAt }, room)
    },
    async get(keys, now) {
      return keys.map((key) => {
        const entry = live(key, now)
        return entry && { value: entry.value, count: entry.count, expiresAt: entry.expiresAt }
      })
    },
    async take(key, now) {
      const entry = live(key, now)
      remove(entry)
      return entry?.value ?? undefined
    },
    async increment(key, expiresAt, now, by = 1) {
      const { value, count } = live(key, now) ?? { value: null, count: 0 }
      write({ key, value, count: count + by, expiresAt })
      return count + by
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
