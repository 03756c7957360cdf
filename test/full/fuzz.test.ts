import { expect, test } from 'vitest'
import { fuzz } from '../fuzz/run.ts'

// A short run of `npm run test:fuzz` with a fixed seed, which takes longer on a busy machine.
const timeout = 300_000

test(
  'malformed requests to every endpoint cause no 5xx response, and store nothing',
  async () => {
    const { tally, violations } = await fuzz({ requests: 3_000, seed: 20_261_122, store: 'sqlite' })
    expect(violations).toEqual([])
    expect(tally.total).toBe(3_000)
    // The valid requests in between must succeed. Otherwise the server may have rejected every request early.
    const served = [...tally.kinds.values()].map((counts) => counts[200] ?? 0)
    expect(Math.max(...served)).toBeGreaterThan(50)
    expect([...tally.endpoints.keys()].length).toBeGreaterThan(50)
  },
  timeout,
)
