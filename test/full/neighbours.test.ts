import { describe, expect, test } from 'vitest'
import { abuses } from '../load/neighbours/abuses.ts'
import type { StoreName } from '../load/neighbours/database.ts'
import { measure } from '../load/neighbours/measure.ts'
import { lacks } from '../support/needs.ts'

// The measurement of docs/operations.md in a small form. It checks no ratio, because other work may run on the machine.

const withoutPostgres = await lacks('postgres')

/**
 * Milliseconds beyond the slowest answer without the abuse. A server that does all the work of an abuse in one turn of
 * its event loop, in one statement or behind one lock is several times slower than that.
 */
const bound = 1_000

const stores: readonly StoreName[] = withoutPostgres ? ['sqlite'] : ['sqlite', 'postgres']

describe.each(stores)('an innocent caller beside an abuse, on %s', (store) => {
  const possible = abuses.filter(({ stores: where = stores }) => where.includes(store))

  test.each(possible)('loses no request and waits for none: $title', async (abuse) => {
    const measured = await measure(abuse, { store, seconds: 2, scale: 0.1, rate: 60 })
    const { during, undisturbed, attacked } = measured
    expect(during.requests).toBeGreaterThan(100)
    // Otherwise the machine is too busy for a verdict.
    for (const { failures } of undisturbed) expect(failures).toEqual({})
    expect({ ...during.failures, ...attacked?.during.failures }).toEqual({})
    const control = Math.max(...undisturbed.map(({ max }) => max))
    expect(during.max).toBeLessThan(control + bound)
  })
})
