import { describe, expect, test } from 'vitest'
import { abuses } from '../../load/neighbours/abuses.ts'
import { measure } from '../../load/neighbours/measure.ts'
import { lacks } from '../../support/needs.ts'

/** Abuses whose work or locks in the database could affect other nodes. */
const shared = ['delete-client', 'delete-user', 'locked-row', 'reset-client-id']

/** The permitted delay in milliseconds, as in test/full/neighbours.test.ts. */
const bound = 1_000

describe.skipIf(await lacks('postgres'))(
  'a well-behaved caller of three nodes during an abuse',
  () => {
    test.each(abuses.filter(({ name }) => shared.includes(name)))(
      'gets every response without a long delay: $title',
      async (abuse) => {
        const options = { store: 'postgres', nodes: 3, seconds: 2, scale: 0.1, rate: 60 } as const
        const { during, undisturbed } = await measure(abuse, options)
        expect(during.requests).toBeGreaterThan(100)
        expect(during.failures).toEqual({})
        const control = Math.max(...undisturbed.map(({ max }) => max))
        expect(during.max).toBeLessThan(control + bound)
      },
    )
  },
)
