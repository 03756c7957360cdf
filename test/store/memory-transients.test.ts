import { describe, expect, test } from 'vitest'
import { ExpiryHeap } from '../../src/store/transients/expiry-heap.ts'
import { memoryTransients } from '../../src/store/transients/memory-transients.ts'
import { seededRandom } from '../support/seeded-random.ts'

describe('transients in memory', () => {
  test('removing expired values reads only a few entries, regardless of the number of entries', () => {
    let reads = 0
    class Counted {
      position = 0
      readonly #end: number
      constructor(end: number) {
        this.#end = end
      }
      get expiresAt() {
        reads += 1
        return this.#end
      }
    }
    const heap = new ExpiryHeap<Counted>()
    for (let n = 0; n < 100_000; n += 1) heap.add(new Counted((n * 7919) % 100_003))
    reads = 0
    for (let n = 0; n < 20; n += 1) if (heap.first) heap.remove(heap.first)
    // The heap has at most 17 levels, with a few comparisons on each level.
    expect(reads).toBeLessThan(20 * 17 * 8)
  })

  test('random operations have the same result as on a plain map', async () => {
    const { below } = seededRandom(7)
    const transients = memoryTransients()
    const model = new Map<string, { value: string; expiresAt: number }>()
    for (let now = 0; now < 20_000; now += 1) {
      const key = `k${below(300)}`
      const expiresAt = now + below(500)
      const value = `v${now}`
      const kept = model.get(key)
      const isLive = kept !== undefined && kept.expiresAt > now
      const action = below(10)
      if (action < 4) {
        expect(await transients.put(key, value, expiresAt, now)).toBe(!isLive)
        if (!isLive) model.set(key, { value, expiresAt })
      } else if (action < 6) {
        await transients.set(key, value, expiresAt, now)
        model.set(key, { value, expiresAt })
      } else if (action < 8) {
        expect(await transients.take(key, now)).toBe(isLive ? kept.value : undefined)
        if (isLive) model.delete(key)
      } else if (action < 9) {
        await transients.delete(key)
        model.delete(key)
      } else {
        const expired = [...model].filter(([, entry]) => entry.expiresAt <= now)
        expect(await transients.deleteExpired(now, 1_000)).toBe(expired.length)
        for (const [gone] of expired) model.delete(gone)
      }
    }
    expect(await transients.deleteExpired(100_000, 1_000)).toBe(model.size)
  })
})
