import { describe, expect, test } from 'vitest'
import { validWebsite } from '../../src/model/field-rules.ts'
import { newKey, proofBy } from '../support/dpop.ts'
import { startServer } from '../support/server.ts'
import { tokenRequest } from '../support/user-agent.ts'

// The time to convert a host to Punycode grows with the square of the number of its letters.

/** Distinct letters, which cost the most. */
const letters = (count: number): string =>
  Array.from({ length: count }, (_, index) =>
    String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000)),
  ).join('')

/** Returns the least processor time of several runs, in microseconds. */
const leastTime = async (run: () => Promise<unknown>): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 30; round += 1) {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

describe('a host of many letters', () => {
  test('in the claim htu of a DPoP proof does not cost more than a host in ASCII [T4400]', async () => {
    await using app = await startServer()
    const basic = await app.client()
    const key = await newKey()
    const askWith = async (host: string) => {
      const dpop = await proofBy(key, { app }, { claims: { htu: `https://${host}/` } })
      return async () => {
        const { status } = await tokenRequest(
          app.issuer,
          { grant_type: 'client_credentials' },
          { basic, headers: { dpop } },
        )
        expect(status).toBe(400)
      }
    }
    const ordinary = await leastTime(await askWith('a'.repeat(5_400)))
    expect(await leastTime(await askWith(letters(1_800)))).toBeLessThan(3 * ordinary)
  })

  test.each([
    ['https://', letters(256), ''],
    ['https://', letters(1_900), '/'],
    ['https://', letters(1_900), '?a'],
    ['https:///', letters(1_900), '/'],
    ['https:////', letters(1_900), '/'],
    ['https://x@', letters(1_900), '/'],
  ])('is refused as website, form %# [T4405]', (before, host, after) => {
    expect(() => validWebsite(`${before}${host}${after}`)).toThrow('website')
  })

  test.each([
    'https://bücher.example/ä?ö',
    `https://${letters(60)}.example`,
    `https://a.example/${letters(1_900)}`,
  ])('and a website whose host has an ordinary length is accepted, form %# [T4406]', (website) => {
    expect(validWebsite(website)).toBe(website)
  })
})
