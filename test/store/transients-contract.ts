import { describe, expect, test } from 'vitest'
import type { Transients } from '../../src/store/contract/transients.ts'
import { runConcurrently, successes, text } from './rows.ts'

const valuesIn = async (transients: Transients, keys: readonly string[], now: number) =>
  (await transients.get(keys, now)).map((found) => found?.value)

/**
 * The tests that every store of transient values must pass. `other` is the store of another node with the same values.
 */
export const transientsContract = (
  name: string,
  open: () => { readonly one: Transients; readonly other: Transients },
  /** Whether expired values remain stored until `deleteExpired` deletes them. */
  { isSwept = true }: { readonly isSwept?: boolean } = {},
): void => {
  describe(`transients ${name}`, () => {
    const both = () => {
      const { one, other } = open()
      return { one, other, either: (index: number) => (index % 2 === 0 ? one : other), key: text() }
    }

    test('a value is stored until its expiry, according to the time that the caller passes [T731]', async () => {
      const { one, other, key } = both()
      expect(await one.put(key, 'value', 10, 0)).toBe(true)
      expect(await valuesIn(other, [key], 9)).toEqual(['value'])
      expect(await valuesIn(other, [key], 10)).toEqual([undefined])
      expect(await other.take(key, 10)).toBeUndefined()
      // If the clock is set back, the value is found again, because take() did not delete the expired value.
      expect(await valuesIn(other, [key], 0)).toEqual(['value'])
      expect(await valuesIn(one, [text()], 0)).toEqual([undefined])
    })

    test('putting an existing key returns false and keeps the existing value, or replaces an expired value', async () => {
      const { one, other, key } = both()
      await one.put(key, 'first', 10, 0)
      expect(await other.put(key, 'second', 100, 9)).toBe(false)
      expect(await valuesIn(one, [key], 9)).toEqual(['first'])
      expect(await other.put(key, 'second', 100, 10)).toBe(true)
      expect(await valuesIn(one, [key], 99)).toEqual(['second'])
    })

    test('get() returns the values in the order of the keys, and undefined for missing and expired values', async () => {
      const { one, other } = both()
      const [ended, first, last] = [text(), text(), text()]
      await one.put(ended, 'ended', 9, 0)
      await one.put(first, 'first', 10, 0)
      await one.put(last, 'last', 10, 0)
      expect(await valuesIn(other, [last, text(), ended, first], 9)).toEqual([
        'last',
        undefined,
        undefined,
        'first',
      ])
    })

    test('put() succeeds for exactly one of 50 concurrent callers with the same key', async () => {
      const { one, either, key } = both()
      const put = await runConcurrently(50, (index) => either(index).put(key, `v${index}`, 10, 0))
      expect(successes(put)).toHaveLength(1)
      expect(await valuesIn(one, [key], 0)).toEqual([`v${put.indexOf(true)}`])
    })

    test('a key that no database can store disturbs no look-up beside it [T4803]', async () => {
      const { one, key } = both()
      await one.put(key, 'value', 10, 0)
      const keys = ['a\0', key, '\ud800', key]
      const found = (await Promise.all(keys.map((each) => valuesIn(one, [each], 0)))).flat()
      expect(found).toEqual([undefined, 'value', undefined, 'value'])
    })

    test('take() returns the value to exactly one of 50 concurrent callers, and to no later caller', async () => {
      const { one, other, either, key } = both()
      await one.put(key, 'value', 10, 0)
      const taken = await runConcurrently(50, (index) => either(index).take(key, 0))
      expect(successes(taken)).toEqual(['value'])
      expect(await valuesIn(other, [key], 0)).toEqual([undefined])
      expect(await other.put(key, 'again', 10, 0)).toBe(true)
    })

    test('with room for three values, an owner keeps the three that expire last, and other owners keep theirs [T3500]', async () => {
      const { one, either } = both()
      const [mine, theirs] = [
        { owner: text(), most: 3 },
        { owner: text(), most: 3 },
      ]
      const [first, second] = [text(), text()]
      await one.put(second, 'theirs', 1_000, 0, theirs)
      await one.set(first, 'theirs', 1_001, 0, theirs)
      const keys = Array.from({ length: 10 }, () => text())
      for (const [index, key] of keys.entries()) {
        // Both operations count, and a value may be put or set at any node.
        if (index % 3 === 0) await either(index).set(key, 'mine', 1_000 + index, 0, mine)
        else expect(await either(index).put(key, 'mine', 1_000 + index, 0, mine)).toBe(true)
      }
      expect(await valuesIn(one, keys, 0)).toEqual([
        ...Array.from({ length: 7 }, () => undefined),
        'mine',
        'mine',
        'mine',
      ])
      expect(await valuesIn(one, [first, second], 0)).toEqual(['theirs', 'theirs'])
    })

    test('a value that expires before the others of its owner is stored, in place of the other that expires first [T4663]', async () => {
      const { one, other } = both()
      const room = { owner: text(), most: 3 }
      const keys = Array.from({ length: 6 }, () => text())
      for (const [index, key] of keys.entries()) {
        const expiresAt = 1_000 - 100 * index
        if (index % 2 === 0) expect(await one.put(key, 'v', expiresAt, 0, room)).toBe(true)
        else await other.set(key, 'v', expiresAt, 0, room)
        const kept = await valuesIn(one, keys.slice(0, index + 1), 0)
        const expected = keys.slice(0, index + 1).map((_, at) => at < 2 || at === index)
        expect(kept.map((value) => value !== undefined)).toEqual(expected)
      }
    })

    test('a replaced value of an owner needs no room, and a value without an owner is not counted [T3501]', async () => {
      const { one, other } = both()
      const room = { owner: text(), most: 2 }
      const [a, b, plain] = [text(), text(), text()]
      await one.put(plain, 'plain', 10, 0)
      await one.put(a, 'a', 100, 0, room)
      await one.put(b, 'b', 101, 0, room)
      for (let again = 0; again < 5; again += 1) await other.set(b, `b${again}`, 102, 0, room)
      expect(await one.put(b, 'b', 103, 0, room)).toBe(false)
      expect(await valuesIn(one, [a, b, plain], 0)).toEqual(['a', 'b4', 'plain'])
    })

    test('50 concurrent values of one owner leave at most the bound after the next value [T3502]', async () => {
      const { one, either } = both()
      const room = { owner: text(), most: 5 }
      const keys = Array.from({ length: 50 }, () => text())
      await runConcurrently(50, (index) => either(index).put(keys[index] ?? '', 'v', 100, 0, room))
      const last = text()
      expect(await one.put(last, 'last', 101, 0, room)).toBe(true)
      const kept = (await valuesIn(one, [...keys, last], 0)).filter((value) => value !== undefined)
      expect(kept).toHaveLength(5)
      expect(kept).toContain('last')
    })

    test('increment() returns a different number to each of 50 concurrent callers', async () => {
      const { one, other, either, key } = both()
      const numbers = await runConcurrently(50, (index) => either(index).increment(key, 10, 0))
      expect([...numbers].sort((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, index) => index + 1),
      )
      expect(await other.increment(key, 10, 9)).toBe(51)
      expect(await one.get([key], 0)).toEqual([{ value: null, count: 51, expiresAt: 10 }])
    })

    test('increment() starts again from 1 after the counter expired', async () => {
      const { one, other, key } = both()
      await one.increment(key, 10, 0)
      await other.increment(key, 10, 0)
      expect(await one.increment(key, 20, 10)).toBe(1)
      expect(await other.increment(key, 20, 19)).toBe(2)
    })

    test('increment() adds another number, and get() returns the sums and expiries in the order of the keys [T3410]', async () => {
      const { one, other, key } = both()
      const [ended, last] = [text(), text()]
      await one.increment(key, 10, 0)
      await other.increment(key, 10, 0)
      expect(await one.increment(key, 12, 0, -1)).toBe(1)
      await one.increment(last, 20, 0)
      await one.increment(ended, 9, 0)
      expect(await other.get([last, text(), ended, key], 9)).toEqual([
        { value: null, count: 1, expiresAt: 20 },
        undefined,
        undefined,
        { value: null, count: 1, expiresAt: 12 },
      ])
      expect(await other.increment(ended, 20, 10, -1)).toBe(-1)
    })

    test('increment() does not remove the value of the same key', async () => {
      const { one, other, key } = both()
      await one.put(key, 'value', 10, 0)
      expect(await other.increment(key, 10, 0)).toBe(1)
      expect(await valuesIn(one, [key], 0)).toEqual(['value'])
    })

    test('delete() does not fail for a missing value', async () => {
      const { one, other, key } = both()
      await one.put(key, 'value', 10, 0)
      await other.delete(key)
      await other.delete(key)
      expect(await valuesIn(one, [key], 0)).toEqual([undefined])
    })

    test('deleteExpired() deletes expired values up to the limit, and no other values', async () => {
      const { one, other } = both()
      const deleted = (rows: number) => (isSwept ? rows : 0)
      while ((await one.deleteExpired(1_000, 100)) > 0);
      const [ended, also, live] = [text(), text(), text()]
      await one.put(ended, 'x', 10, 0)
      await one.increment(also, 9, 0)
      await one.put(live, 'x', 11, 0)
      expect(await one.deleteExpired(10, 1)).toBe(deleted(1))
      expect(await other.deleteExpired(10, 100)).toBe(deleted(1))
      expect(await other.deleteExpired(10, 100)).toBe(0)
      expect(await valuesIn(one, [live], 10)).toEqual(['x'])
    })

    test('set() replaces the existing value, even if it has expired', async () => {
      const { one, other } = both()
      const key = text()
      await one.set(key, 'first', 10, 0)
      expect(await one.put(key, 'put', 10, 0)).toBe(false)
      await other.set(key, 'second', 20, 5)
      expect(await valuesIn(one, [key], 15)).toEqual(['second'])
      await one.set(key, 'third', 40, 25)
      expect(await other.take(key, 30)).toBe('third')
    })

    // The text contains no NUL, which PostgreSQL rejects in texts. Sealed values never contain NUL.
    test('any text is stored unchanged', async () => {
      const { one, other } = both()
      for (const value of ['', 'ä😀\n\t"', 'x'.repeat(100_000)]) {
        const key = text()
        await one.put(key, value, 10, 0)
        expect(await other.take(key, 0)).toBe(value)
      }
    })
  })
}
