import { expect, test } from 'vitest'
import { fuzz } from '../fuzz/run.ts'

// Runs `npm run test:fuzz` for a short time with a fixed seed. The timeout allows for a busy machine.
const timeout = 300_000

test(
  'malformed requests to every endpoint cause no 5xx response, and the server stores nothing',
  async () => {
    const { tally, violations } = await fuzz({ requests: 3_000, seed: 20_261_122, store: 'sqlite' })
    expect(violations).toEqual([])
    expect(tally.total).toBe(3_000)
    // Valid requests among the malformed requests must succeed. Otherwise the server may reject every request early.
    const served = [...tally.kinds.values()].map((counts) => counts[200] ?? 0)
    expect(Math.max(...served)).toBeGreaterThan(50)
    expect([...tally.endpoints.keys()].length).toBeGreaterThan(50)
  },
  timeout,
)
