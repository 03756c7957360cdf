import fc from 'fast-check'
import { vi } from 'vitest'

/** How many times each property is tried at least; without it, as often as the test says. */
const asked = Number(process.env.FC_RUNS ?? 0)

// Whoever asks for more has the time.
if (asked > 0) vi.setConfig({ testTimeout: 3_600_000 })

interface Tries {
  readonly runs?: number
  /**
   * Milliseconds after which the search ends: for what could look for a smaller counterexample until the test runs out
   * of time, and nobody would see the seed. To end without one is a failure too.
   */
  readonly limit?: number
  /** To see a failure again, as its message says. */
  readonly seed?: number
  readonly path?: string
}

/** Looks for a counterexample; a failure names the seed and the path that lead to it again. */
export const check = async <T>(
  property: fc.IProperty<T> | fc.IAsyncProperty<T>,
  { runs = 300, limit, ...replay }: Tries = {},
): Promise<void> => {
  const isBound = limit !== undefined && asked === 0
  await fc.assert(property as fc.IAsyncProperty<T>, {
    numRuns: Math.max(runs, asked),
    ...(isBound && { interruptAfterTimeLimit: limit, markInterruptAsFailure: true }),
    ...replay,
  })
}

/** What a function returns, or the error that it throws. */
export const outcome = <T>(act: () => T): { value: T } | { error: unknown } => {
  try {
    return { value: act() }
  } catch (error) {
    return { error }
  }
}
