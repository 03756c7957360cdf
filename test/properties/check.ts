import fc from 'fast-check'
import { vi } from 'vitest'

/** The minimum number of runs of each property; by default, each test sets the number of its runs. */
const asked = Number(process.env.FC_RUNS ?? 0)

// More runs need more time.
if (asked > 0) vi.setConfig({ testTimeout: 3_600_000 })

interface Tries {
  readonly runs?: number
  /**
   * The timeout of the search in milliseconds. Without it, shrinking a counterexample could exceed the timeout of the
   * test, which would hide the seed. A timeout without a counterexample is a failure too.
   */
  readonly limit?: number
  /** Replays a failure with the seed in its message. */
  readonly seed?: number
  readonly path?: string
}

/** Searches for a counterexample. A failure message contains the seed and the path that replay the counterexample. */
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

/** Returns the result of a function, or the error that it throws. */
export const outcome = <T>(act: () => T): { value: T } | { error: unknown } => {
  try {
    return { value: act() }
  } catch (error) {
    return { error }
  }
}
