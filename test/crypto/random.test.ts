import { describe, expect, test } from 'vitest'
import { randomString, systemRandom } from '../../src/crypto/random.ts'

describe('random strings', () => {
  test.each([1, 22, 40, 43, 60, 255])('have %i characters of [A-Za-z0-9]', (length) => {
    for (let round = 0; round < 20; round += 1)
      expect(randomString(length, systemRandom)).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`))
  })

  test('contain every character equally often', () => {
    const text = randomString(62 * 2_000, systemRandom)
    const counts = new Map<string, number>()
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // The expected count is 2000, with a standard deviation of 44. A modulo bias would cause about 2500 for eight
    // characters.
    for (const [character, times] of counts) {
      expect(times, character).toBeGreaterThan(1_700)
      expect(times, character).toBeLessThan(2_300)
    }
  })

  test('discard bytes above the largest multiple of 62', () => {
    const draws = [
      new Uint8Array(26).fill(248),
      new Uint8Array(26).fill(255),
      new Uint8Array(26).fill(247),
    ]
    expect(randomString(10, () => draws.shift() ?? new Uint8Array())).toBe('9'.repeat(10))
    expect(draws).toHaveLength(0)
  })

  test('contain every character of a custom alphabet equally often', () => {
    const text = randomString(20 * 2_000, systemRandom, 'BCDFGHJKLMNPQRSTVWXZ')
    expect(text).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]+$/)
    for (const character of new Set(text)) {
      const times = text.split(character).length - 1
      expect(times, character).toBeGreaterThan(1_700)
      expect(times, character).toBeLessThan(2_300)
    }
  })

  test('differ in each call', () => {
    const values = Array.from({ length: 1_000 }, () => randomString(22, systemRandom))
    expect(new Set(values).size).toBe(1_000)
  })
})
