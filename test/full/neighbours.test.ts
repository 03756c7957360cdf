import { describe, expect, test } from 'vitest'
import { abuses } from '../load/neighbours/abuses.ts'
import type { StoreName } from '../load/neighbours/database.ts'
import { measure } from '../load/neighbours/measure.ts'
import { lacks } from '../support/needs.ts'

// Runs the measurement in docs/operations.md for a shorter time. Other load on the machine could distort ratios, so
// this test limits only the absolute delay.

const withoutPostgres = await lacks('postgres')

/**
 * The permitted delay in milliseconds, compared with the slowest response without the abuse. A server that
 * processed all rows of an abuse in one statement, or without interruption, would exceed this limit several times.
 */
const bound = 1_000

const stores: readonly StoreName[] = withoutPostgres ? ['sqlite'] : ['sqlite', 'postgres']

describe.each(stores)('a well-behaved caller during an abuse, on %s', (store) => {
  const possible = abuses.filter(({ stores: where = stores }) => where.includes(store))

  test.each(possible)('gets every response without a long delay: $title', async (abuse) => {
    const measured = await measure(abuse, { store, seconds: 2, scale: 0.1, rate: 60 })
    const { during, undisturbed, attacked } = measured
    expect(during.requests).toBeGreaterThan(100)
    // Failures without the abuse show that the machine is too busy for a result.
    for (const { failures } of undisturbed) expect(failures).toEqual({})
    expect({ ...during.failures, ...attacked?.during.failures }).toEqual({})
    const control = Math.max(...undisturbed.map(({ max }) => max))
    expect(during.max).toBeLessThan(control + bound)
  })
})
