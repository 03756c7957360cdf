import { describe, expect, test } from 'vitest'
import { LookupCache } from '../../src/store/sql/lookup-cache.ts'

/** A cache over rows that the test changes, and how often they were looked up. */
const kept = ({ seconds = 10, isTold = true } = {}) => {
  const rows = new Map<string, { readonly id: number; readonly value: string }>()
  let now = 0
  let asked = 0
  const cache = new LookupCache(seconds, () => now)
  cache.isTold = isTold
  const find = cache.around(async (key: string) => {
    asked += 1
    return rows.get(key)
  })
  return {
    rows,
    cache,
    find,
    asked: () => asked,
    wait: (milliseconds: number) => {
      now += milliseconds
    },
  }
}

describe('a cache of look-ups', () => {
  test('gives the very same row again, until its time is over', async () => {
    const { rows, find, asked, wait } = kept()
    rows.set('a', { id: 1, value: 'first' })
    const first = await find('a')
    rows.set('a', { id: 1, value: 'second' })
    wait(9_999)
    expect(await find('a')).toBe(first)
    expect(asked()).toBe(1)
    wait(1)
    expect(await find('a')).toEqual({ id: 1, value: 'second' })
    expect(asked()).toBe(2)
  })

  test('counts its time from before it asked, not from the answer', async () => {
    let now = 0
    const cache = new LookupCache(10, () => now)
    cache.isTold = true
    let value = 'first'
    const find = cache.around(async (_key: string) => {
      const row = { id: 1, value }
      now += 4_000
      return row
    })
    await find('a')
    value = 'second'
    now += 6_000
    expect(await find('a')).toMatchObject({ value: 'second' })
  })

  test('keeps nothing that was not found', async () => {
    const { rows, find } = kept()
    expect(await find('a')).toBeUndefined()
    rows.set('a', { id: 1, value: 'first' })
    expect(await find('a')).toMatchObject({ id: 1 })
  })

  test('keeps nothing while nobody tells what changes, and forgets all that it had', async () => {
    const { rows, cache, find } = kept()
    rows.set('a', { id: 1, value: 'first' })
    await find('a')
    cache.isTold = false
    rows.delete('a')
    expect(await find('a')).toBeUndefined()
    rows.set('a', { id: 1, value: 'second' })
    await find('a')
    rows.delete('a')
    expect(await find('a')).toBeUndefined()
  })

  test('forgets one row, and all', async () => {
    const { rows, cache, find, asked } = kept()
    rows.set('a', { id: 1, value: '' }).set('b', { id: 2, value: '' })
    await Promise.all([find('a'), find('b')])
    cache.forget(1)
    await Promise.all([find('a'), find('b')])
    expect(asked()).toBe(3)
    cache.forgetAll()
    await Promise.all([find('a'), find('b')])
    expect(asked()).toBe(5)
  })

  test.each([
    ['that row', (cache: LookupCache) => cache.forget(1)],
    [
      'another row, since which one it was is not known yet',
      (cache: LookupCache) => cache.forget(2),
    ],
    ['everything', (cache: LookupCache) => cache.forgetAll()],
  ])('keeps nothing of a look-up during which somebody changes %s', async (_what, change) => {
    const cache = new LookupCache(10, () => 0)
    cache.isTold = true
    let asked = 0
    let answer = () => {}
    const find = cache.around(async (_key: string) => {
      asked += 1
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return { id: 1 }
    })
    const underWay = find('a')
    change(cache)
    answer()
    await underWay
    const again = find('a')
    answer()
    await again
    expect(asked).toBe(2)
  })

  test('counts what it had and what it had not, and says whether it is told', async () => {
    const { rows, cache, find } = kept()
    rows.set('a', { id: 1, value: '' })
    await find('a')
    await find('a')
    await find('a')
    await find('b')
    expect(cache.stats()).toEqual({ hits: 2, misses: 2, isTold: true })
    cache.isTold = false
    await find('a')
    expect(cache.stats()).toEqual({ hits: 2, misses: 3, isTold: false })
  })

  test('is bounded: the oldest goes', async () => {
    const { rows, find, asked } = kept()
    for (let id = 0; id <= 10_000; id += 1) {
      rows.set(`${id}`, { id, value: '' })
      await find(`${id}`)
    }
    await find('1')
    expect(asked()).toBe(10_001)
    await find('0')
    expect(asked()).toBe(10_002)
  })
})
