import { StoreUnavailable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Turns } from '../../src/records/turns.ts'
import type { OpenStore } from '../../src/store/store.ts'

describe('transactions that lock the same row', () => {
  let store: OpenStore
  let turns: Turns
  beforeEach(async () => {
    store = await sqlite(':memory:').open()
    turns = new Turns(store)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  })
  afterEach(async () => {
    vi.useRealTimers()
    await store.close()
  })

  test('run one after the other in the order of their calls, even after one transaction fails', async () => {
    const order: string[] = []
    const run = (name: string) =>
      turns.transaction(store, 'row', async () => {
        order.push(`${name} begins`)
        await Promise.resolve()
        order.push(`${name} ends`)
        if (name === 'one') throw new Error('It fails.')
      })
    const outcomes = await Promise.allSettled([run('one'), run('two'), run('three')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(order).toEqual(
      ['one', 'two', 'three'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    )
  })

  test('fail after waiting for five seconds, and the next transaction still runs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = turns.transaction(store, 'row', () => promise)
    const late = turns.transaction(store, 'row', async () => 'late')
    const refused = expect(late).rejects.toThrow(StoreUnavailable)
    await vi.advanceTimersByTimeAsync(2_500)
    const next = turns.transaction(store, 'row', async () => 'next')
    await vi.advanceTimersByTimeAsync(2_500)
    await refused
    resolve()
    await first
    expect(await next).toBe('next')
  })

  test('run immediately within another transaction, which already has a connection', async () => {
    const nested = turns.transaction(store, 'row', (tx) =>
      turns.transaction(tx, 'row', async () => 'nested'),
    )
    expect(await nested).toBe('nested')
  })
})
