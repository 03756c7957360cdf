import { expect, test } from 'vitest'
import { fuzz } from '../fuzz/run.ts'

// A short run of `npm run test:fuzz`, the same each time. On a busy machine it takes its time.
const longest = 300_000

test(
  'malformed requests of every endpoint are answered without 5xx, and leave nothing behind',
  async () => {
    const { tally, violations } = await fuzz({ requests: 3_000, seed: 20_261_122, store: 'sqlite' })
    expect(violations).toEqual([])
    expect(tally.total).toBe(3_000)
    // It got past the front door: what is valid among it was served.
    const served = [...tally.kinds.values()].map((counts) => counts[200] ?? 0)
    expect(Math.max(...served)).toBeGreaterThan(50)
    expect([...tally.endpoints.keys()].length).toBeGreaterThan(50)
  },
  longest,
)
