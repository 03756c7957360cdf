import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/contract/errors.ts'
import { batched, batchedLookup, leftOut } from '../../src/store/sql/batches.ts'

/** Batches as they are run, each of which ends when it is told to. */
const recorded = ({
  most = 100,
  atOnce = 1,
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
    most,
    atOnce,
  })
  const end = async () => {
    ends.shift()?.()
    await turn()
  }
  return { add, runs, end }
}

describe('batches', () => {
  test('what is asked for within one turn goes together, and each gets its own result', async () => {
    const { add, runs, end } = recorded()
    const answers = [add(1), add(2), add(3)]
    expect(runs).toEqual([])
    await turn()
    expect(runs).toEqual([[1, 2, 3]])
    await end()
    expect(await Promise.all(answers)).toEqual([10, 20, 30])
  })

  test('nobody waits for company: one alone goes at the end of its turn', async () => {
    const { add, runs, end } = recorded()
    const answer = add(1)
    await turn()
    expect(runs).toEqual([[1]])
    await end()
    expect(await answer).toBe(10)
  })

  test('what comes meanwhile is gathered for the next, and goes as soon as there is room', async () => {
    const { add, runs, end } = recorded()
    const answers = [add(1)]
    await turn()
    answers.push(add(2))
    await turn()
    answers.push(add(3))
    await turn()
    expect(runs).toEqual([[1]])
    await end()
    expect(runs).toEqual([[1], [2, 3]])
    await end()
    expect(await Promise.all(answers)).toEqual([10, 20, 30])
  })

  test('as many are under way as may be, and none is larger than it may be', async () => {
    const { add, runs, end } = recorded({ most: 2, atOnce: 2 })
    const answers = [1, 2, 3, 4, 5].map(add)
    await turn()
    expect(runs).toEqual([
      [1, 2],
      [3, 4],
    ])
    await end()
    expect(runs).toHaveLength(3)
    await end()
    await end()
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50])
  })

  test('where one spoils it, each goes alone, and that one alone fails', async () => {
    const fails = (items: readonly number[]) => (items.includes(2) ? new Error('two') : undefined)
    const { add, runs, end } = recorded({ fails })
    const answers = Promise.allSettled([add(1), add(2), add(3)])
    await turn()
    for (let count = 0; count < 4; count += 1) await end()
    expect(runs).toEqual([[1, 2, 3], [1], [2], [3]])
    expect(await answers).toMatchObject([
      { value: 10 },
      { reason: { message: 'two' } },
      { value: 30 },
    ])
  })

  test('runs an item that its batch left out alone, and the next batch does not wait for it', async () => {
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

  test('where nobody knows whether it was done, nothing is done twice: all are told', async () => {
    const { add, runs, end } = recorded({ fails: () => new StoreUnavailable('gone') })
    const answers = Promise.allSettled([add(1), add(2)])
    await turn()
    await end()
    expect(runs).toEqual([[1, 2]])
    expect(await answers).toMatchObject([
      { reason: { message: 'gone' } },
      { reason: { message: 'gone' } },
    ])
  })

  test('after a failure the next ones go on', async () => {
    let isBroken = true
    const { add, end } = recorded({
      fails: () => (isBroken ? new StoreUnavailable('gone') : undefined),
    })
    const lost = add(1).catch(() => 'lost')
    await turn()
    await end()
    expect(await lost).toBe('lost')
    isBroken = false
    const answer = add(2)
    await turn()
    await end()
    expect(await answer).toBe(20)
  })

  test('the same is looked up once in a turn, and never answered from before it was asked', async () => {
    const runs: (readonly string[])[] = []
    let version = 0
    const find = batchedLookup(
      async (keys) => {
        runs.push(keys)
        version += 1
        return new Map(keys.filter((key) => key !== 'none').map((key) => [key, { key, version }]))
      },
      { isUndone: () => true, most: 100, atOnce: 1 },
    )
    const [one, same, none] = await Promise.all([find('a'), find('a'), find('none')])
    expect(runs).toEqual([['a', 'none']])
    expect(one).toBe(same)
    expect(none).toBeUndefined()
    expect(await find('a')).toEqual({ key: 'a', version: 2 })
  })
})
