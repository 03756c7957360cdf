import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/contract/errors.ts'
import { batched, batchedLookup, leftOut } from '../../src/store/sql/batches.ts'

/** A batch function whose calls the test settles. */
const recorded = ({
  maxItems = 100,
  maxConcurrent = 1,
  fails = (_: readonly number[]): Error | undefined => undefined,
  leavesOut = (_: number): boolean => false,
} = {}) => {
  const runs: (readonly number[])[] = []
  const ends: (() => void)[] = []
  const run = async (items: readonly number[]) => {
    runs.push(items)
    await new Promise<void>((resolve) => ends.push(resolve))
    const error = fails(items)
    if (error) throw error
    return items.map((item) => item * 10)
  }
  const add = batched<number, number>({
    run: async (items) =>
      (await run(items)).map((result, index) => (leavesOut(items[index] ?? 0) ? leftOut : result)),
    runAlone: async (item) => (await run([item]))[0] ?? 0,
    isUndone: (error) => !(error instanceof StoreUnavailable),
    maxItems,
    maxConcurrent,
  })
  const end = async () => {
    ends.shift()?.()
    await turn()
  }
  return { add, runs, end }
}

/** Waits until a scheduled batch has begun. */
const turn = async (): Promise<void> => {
  for (let turns = 0; turns < 3; turns += 1) await setImmediate()
}

describe('batches', () => {
  test('runs the items of a turn of the event loop in one batch, and returns the result of each item to the caller of the item', async () => {
    const { add, runs, end } = recorded()
    const responses = [add(1), add(2), add(3)]
    expect(runs).toEqual([])
    await turn()
    expect(runs).toEqual([[1, 2, 3]])
    await end()
    expect(await Promise.all(responses)).toEqual([10, 20, 30])
  })

  test('runs a single item within two turns of the event loop, without waiting for further items', async () => {
    const { add, runs, end } = recorded()
    const response = add(1)
    await turn()
    expect(runs).toEqual([[1]])
    await end()
    expect(await response).toBe(10)
  })

  test('combines the items of consecutive turns of the event loop until a turn adds none or the batch is full [T4810]', async () => {
    const { add, runs, end } = recorded({ maxItems: 6 })
    const responses: Promise<number>[] = []
    const addInTurns = async (items: readonly number[]) => {
      for (const item of items) {
        responses.push(add(item))
        await setImmediate()
      }
    }
    await addInTurns([1, 2, 3, 4, 5])
    expect(runs).toEqual([])
    await turn()
    expect(runs).toEqual([[1, 2, 3, 4, 5]])
    await end()
    await addInTurns([6, 7, 8, 9, 10, 11, 12])
    expect(runs[1]).toEqual([6, 7, 8, 9, 10, 11])
    await end()
    await end()
    expect(await Promise.all(responses)).toHaveLength(12)
  })

  test('collects later items for the next batch, which starts when a slot is free', async () => {
    const { add, runs, end } = recorded()
    const responses = [add(1)]
    await turn()
    responses.push(add(2))
    await turn()
    responses.push(add(3))
    await turn()
    expect(runs).toEqual([[1]])
    await end()
    expect(runs).toEqual([[1], [2, 3]])
    await end()
    expect(await Promise.all(responses)).toEqual([10, 20, 30])
  })

  test('limits the concurrent batches and their size', async () => {
    const { add, runs, end } = recorded({ maxItems: 2, maxConcurrent: 2 })
    const responses = [1, 2, 3, 4, 5].map(add)
    await turn()
    expect(runs).toEqual([
      [1, 2],
      [3, 4],
    ])
    await end()
    expect(runs).toHaveLength(3)
    await end()
    await end()
    expect(await Promise.all(responses)).toEqual([10, 20, 30, 40, 50])
  })

  test('runs each item alone after one item made the batch fail, and rejects only that item', async () => {
    const fails = (items: readonly number[]) => (items.includes(2) ? new Error('two') : undefined)
    const { add, runs, end } = recorded({ fails })
    const responses = Promise.allSettled([add(1), add(2), add(3)])
    await turn()
    for (let count = 0; count < 4; count += 1) await end()
    expect(runs).toEqual([[1, 2, 3], [1], [2], [3]])
    expect(await responses).toMatchObject([
      { value: 10 },
      { reason: { message: 'two' } },
      { value: 30 },
    ])
  })

  test('runs an omitted item alone, without delaying the next batch', async () => {
    const { add, runs, end } = recorded({ leavesOut: (item) => item === 2 })
    const [one, two] = [add(1), add(2)]
    await turn()
    await end()
    expect(await one).toBe(10)
    expect(runs).toEqual([[1, 2], [2]])
    const three = add(3)
    await turn()
    expect(runs).toEqual([[1, 2], [2], [3]])
    await end()
    await end()
    expect(await Promise.all([two, three])).toEqual([20, 30])
  })

  test('rejects all items without retrying if the outcome of the batch is unknown', async () => {
    const { add, runs, end } = recorded({ fails: () => new StoreUnavailable('gone') })
    const responses = Promise.allSettled([add(1), add(2)])
    await turn()
    await end()
    expect(runs).toEqual([[1, 2]])
    expect(await responses).toMatchObject([
      { reason: { message: 'gone' } },
      { reason: { message: 'gone' } },
    ])
  })

  test('continues with the next batches after a failure', async () => {
    let isBroken = true
    const { add, end } = recorded({
      fails: () => (isBroken ? new StoreUnavailable('gone') : undefined),
    })
    const lost = add(1).catch(() => 'lost')
    await turn()
    await end()
    expect(await lost).toBe('lost')
    isBroken = false
    const response = add(2)
    await turn()
    await end()
    expect(await response).toBe(20)
  })

  test('looks up the same key once per event loop iteration, and never returns a result from before the call', async () => {
    const runs: (readonly string[])[] = []
    let version = 0
    const find = batchedLookup(
      async (keys) => {
        runs.push(keys)
        version += 1
        return new Map(keys.filter((key) => key !== 'none').map((key) => [key, { key, version }]))
      },
      { isUndone: () => true, maxItems: 100, maxConcurrent: 1 },
    )
    const [one, same, none] = await Promise.all([find('a'), find('a'), find('none')])
    expect(runs).toEqual([['a', 'none']])
    expect(one).toBe(same)
    expect(none).toBeUndefined()
    expect(await find('a')).toEqual({ key: 'a', version: 2 })
  })
})
