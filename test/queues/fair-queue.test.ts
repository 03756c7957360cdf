import { describe, expect, test } from 'vitest'
import { FairQueue, type Requester } from '../../src/queues/fair-queue.ts'

const full = () => new Error('full')
const stranger = (lane: string): Requester => ({ lane, isKnown: false })
const known = (lane: string): Requester => ({ lane, isKnown: true })

/** Creates a queue whose first job runs until `go` is called, and records the order of the other jobs. */
const held = (maxWaiting: number) => {
  const queue = new FairQueue({ maxRunning: 1, maxWaiting, full })
  const order: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = queue.run(known('first'), () => promise)
  const add = (requester: Requester, name: string): Promise<void> =>
    queue.run(requester, async () => void order.push(name))
  return {
    queue,
    order,
    add,
    async go() {
      resolve()
      await first
    },
  }
}

describe('FairQueue', () => {
  test('a job that throws before it returns a promise is rejected, and its lane continues [T4790]', async () => {
    const queue = new FairQueue({ maxRunningOfLane: 1 })
    const broken = () => {
      throw new Error('broken')
    }
    await expect(queue.run(stranger('a'), broken)).rejects.toThrow('broken')
    expect(await queue.run(stranger('a'), async () => 'next')).toBe('next')
  })

  test('a lane with slow jobs takes at most its share, and the other lanes continue [T3513]', async () => {
    const queue = new FairQueue({ maxRunning: 4, maxRunningOfLane: 2, maxWaiting: 100, full })
    const started: string[] = []
    const ends = new Map<string, () => void>()
    const add = (lane: string, name: string, isKnown = true) =>
      queue.run({ lane, isKnown }, () => {
        started.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      })
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => add('a', name))
    expect(started).toEqual(['a1', 'a2'])
    all.push(add('b', 'b1', false), add('b', 'b2'), add('c', 'c1', false), add('c', 'c2'))
    expect(started).toEqual(['a1', 'a2', 'b1', 'b2'])
    ends.get('b1')?.()
    await all[4]
    await Promise.resolve()
    // The lane `a` waits first, but already has its share.
    expect(started).toEqual(['a1', 'a2', 'b1', 'b2', 'c2'])
    ends.get('a1')?.()
    await all[0]
    await Promise.resolve()
    expect(started.at(-1)).toBe('c1')
    ends.get('a2')?.()
    await all[1]
    await Promise.resolve()
    expect(started.at(-1)).toBe('a3')
  })

  test('runs one job of each lane in rotation, independent of the number of jobs', async () => {
    const { add, order, go } = held(100)
    const all = [
      ...['a1', 'a2', 'a3'].map((name) => add(stranger('a'), name)),
      add(stranger('b'), 'b1'),
      ...['c1', 'c2'].map((name) => add(stranger('c'), name)),
    ]
    await go()
    await Promise.all(all)
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  })

  test('alternates between known and unknown requesters', async () => {
    const { add, order, go } = held(100)
    const all = [
      ...Array.from({ length: 20 }, (_, index) => add(stranger(`s${index}`), 'stranger')),
      ...['one', 'two', 'three'].map((name) => add(known(name), name)),
    ]
    await go()
    await Promise.all(all)
    const ordered = order.slice(0, 6).filter((name) => name !== 'stranger')
    expect(ordered).toEqual(['one', 'two', 'three'])
    expect(order).toHaveLength(23)
  })

  test('refuses only the latest job of the longest lane', async () => {
    const { add, order, go, queue } = held(4)
    const flood = ['a1', 'a2', 'a3', 'a4'].map((name) => add(stranger('a'), name))
    const outcomes = Promise.allSettled(flood)
    expect(queue.hasRoom(stranger('a'))).toBe(false)
    await expect(add(stranger('a'), 'a5')).rejects.toThrow('full')
    expect(queue.hasRoom(stranger('b'))).toBe(true)
    const others = [add(stranger('b'), 'b1'), add(known('c'), 'c1')]
    await go()
    await Promise.all(others)
    expect((await outcomes).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ])
    expect(order.sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1'])
  })

  test('starts the next job after a job fails', async () => {
    const queue = new FairQueue({ maxRunning: 1, maxWaiting: 1, full })
    const failing = queue.run(stranger('a'), () => Promise.reject(new Error('broken')))
    const next = queue.run(stranger('a'), async () => 'done')
    await expect(failing).rejects.toThrow('broken')
    expect(await next).toBe('done')
    expect(await queue.run(stranger('a'), async () => 'again')).toBe('again')
  })

  test('runs at most the maximum number of concurrent jobs', async () => {
    const queue = new FairQueue({ maxRunning: 2, maxWaiting: 100, full })
    let [running, most] = [0, 0]
    const job = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
    }
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => queue.run(stranger(`${index}`), job)),
    )
    expect(most).toBe(2)
  })
})
