import { type AroundStore, OAuthError } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { memoryTransients } from '../../src/store/transients/memory-transients.ts'
import { guesser, here, start } from './support.ts'

const limit = (points: number) => ({ name: 'test', points, seconds: 600 })

const inMemory = () => {
  let now = 1_000_000
  const limits = new Limits(memoryTransients(), () => now)
  return { limits, advance: (seconds: number) => (now += seconds * 1000) }
}

const isRefused = (error: unknown): boolean => error instanceof OAuthError && error.status === 429

describe('a limit of any size', () => {
  test.each([1, 2, 19, 20, 21, 50, 999])(
    'of %i points allows exactly as many failed attempts, and as many again after its seconds [T3411]',
    async (points) => {
      const { limits, advance } = inMemory()
      const attempt = () => limits.attempt(limit(points), '', 'user')
      for (const _ of [1, 2]) {
        for (let count = 0; count < points; count += 1) await attempt()
        await expect(attempt()).rejects.toSatisfy(isRefused)
        advance(600)
      }
    },
  )

  test.each([1, 20, 50])(
    'of %i points does not count successful attempts, also concurrent ones [T3412]',
    async (points) => {
      const { limits } = inMemory()
      const attempt = () => limits.attempt(limit(points), '', 'user')
      for (let round = 0; round < 3; round += 1) {
        const releases = await Promise.all(Array.from({ length: points }, attempt))
        await Promise.all(releases.map((release) => release()))
      }
      for (let count = 0; count < points; count += 1) await attempt()
      await expect(attempt()).rejects.toSatisfy(isRefused)
    },
  )

  test.each<[string, (attempt: number) => number]>([
    ['every five seconds', () => 5],
    // The first attempts of a burst share a place with an attempt that is nearly as old as the limit.
    ['in bursts', (attempt) => (attempt % 60 === 0 ? 595 : 1)],
  ])(
    'never allows more failures within its seconds than its points: %s [T3413]',
    async (_, pauseAfter) => {
      const { limits, advance } = inMemory()
      const accepted: number[] = []
      let second = 0
      for (let attempt = 0; attempt < 600; attempt += 1) {
        await limits.attempt(limit(50), '', 'user').then(() => accepted.push(second), isRefused)
        const pause = pauseAfter(attempt)
        advance(pause)
        second += pause
      }
      const within = (from: number) => accepted.filter((at) => at >= from && at < from + 600).length
      expect(Math.max(...accepted.map(within))).toBe(50)
      expect(accepted.length).toBeGreaterThan(4 * 40)
    },
  )

  test('needs as many store operations and keys for 1,000,000,000 points as for 20 [T3414]', async () => {
    const operations = async (points: number): Promise<readonly string[]> => {
      const seen: string[] = []
      const aroundStore: AroundStore = (operation, run) => {
        if (operation.name.startsWith('transients.')) seen.push(operation.name)
        return run()
      }
      const numbers = { points, seconds: 600 }
      await using app = await start({
        aroundStore,
        limits: { guessesOfAccount: numbers, wrongPasswordsOfAccount: numbers },
      })
      const guess = guesser(app, here)
      expect((await guess('wrong')).status).toBe(403)
      expect((await guess(app.password)).status).toBe(303)
      return seen
    }
    expect(await operations(1_000_000_000)).toEqual(await operations(20))
  })
})
