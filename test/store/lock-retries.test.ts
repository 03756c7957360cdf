import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/contract/errors.ts'
import { LockRetries } from '../../src/store/sql/lock-retries.ts'

const lockTimeout = () =>
  new StoreUnavailable('locked', { cause: Object.assign(new Error('lock'), { code: '55P03' }) })

const options = { poolSize: 4, limit: 60_000, connectTimeout: 60_000 }

/** Creates work whose attempts the test resolves or rejects. */
const recorded = () => {
  const attempts: { readonly name: string; readonly end: (error?: unknown) => Promise<void> }[] = []
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      attempts.push({
        name,
        async end(error) {
          if (error) reject(error)
          else resolve(name)
          await turn()
        },
      })
    })
  return { attempts, work }
}

describe('retries after a lock timeout', () => {
  test('runs the work again, and returns its result', async () => {
    const retries = new LockRetries(options)
    let attempts = 0
    const work = async () => {
      attempts += 1
      if (attempts < 4) throw lockTimeout()
      return 'done'
    }
    expect(await retries.run(work)).toBe('done')
    expect(attempts).toBe(4)
  })

  test('rejects with any other error immediately', async () => {
    const retries = new LockRetries(options)
    let attempts = 0
    const work = async () => {
      attempts += 1
      throw new StoreUnavailable('gone')
    }
    await expect(retries.run(work)).rejects.toThrow('gone')
    expect(attempts).toBe(1)
  })

  test('rejects with the error of the lock timeout after the limit', async () => {
    const retries = new LockRetries({ ...options, limit: 50 })
    const work = async () => {
      await turn()
      throw lockTimeout()
    }
    await expect(retries.run(work)).rejects.toMatchObject({ cause: { code: '55P03' } })
  })

  test('retries with at most half of the connections, and prefers work with the fewest attempts', async () => {
    const retries = new LockRetries(options)
    const { attempts, work } = recorded()
    const responses = ['a', 'b', 'c'].map((name) => retries.again(work(name)))
    await turn()
    expect(attempts.map(({ name }) => name)).toEqual(['a', 'b'])
    await attempts[0]?.end(lockTimeout())
    expect(attempts.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    // New work is retried before work with two attempts.
    responses.push(retries.again(work('d')))
    await turn()
    await attempts[1]?.end()
    expect(attempts.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])
    await attempts[2]?.end()
    await attempts[3]?.end()
    expect(attempts.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'a'])
    await attempts[4]?.end()
    expect(await Promise.all(responses)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('rejects work if no slot becomes free within the limit', async () => {
    const retries = new LockRetries({ ...options, poolSize: 1, limit: 30 })
    const { attempts, work } = recorded()
    const first = retries.again(work('a'))
    await turn()
    await expect(retries.again(work('b'))).rejects.toThrow(StoreUnavailable)
    expect(attempts.map(({ name }) => name)).toEqual(['a'])
    await attempts[0]?.end()
    expect(await first).toBe('a')
  })

  test('leaves a quarter of the connections to statements outside of transactions', async () => {
    const retries = new LockRetries(options)
    const { attempts, work } = recorded()
    const responses = ['a', 'b', 'c', 'd'].map((name) => retries.transaction(work(name)))
    await turn()
    expect(attempts.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    for (const index of [0, 1, 2, 3]) await attempts[index]?.end()
    expect(await Promise.all(responses)).toEqual(['a', 'b', 'c', 'd'])
  })
})
