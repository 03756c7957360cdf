/** An operation did not finish before its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** Milliseconds by which a timer may be late on a busy machine. */
const usualDelay = 100
/** Milliseconds that are left to read what has arrived after the event loop stood still. */
const grace = 500

/** Whether a timer that was set for `due` fires so late that the event loop must have stood still. */
const isLate = (due: number): boolean => performance.now() - due > usualDelay

/**
 * Waits for an answer for so many milliseconds in which this process runs: answers that arrived while its event
 * loop stood still are read before the limit counts.
 * @throws TimeoutError
 */
export const withTimeout = async <T>(limit: number, answer: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    // Timers run before sockets are read, so the answer may be there unread.
    const end = () =>
      setImmediate(reject, new TimeoutError(`there was no answer within ${limit} ms`))
    const due = performance.now() + limit
    timer = setTimeout(() => {
      if (isLate(due)) timer = setTimeout(end, grace)
      else end()
    }, limit)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** Tries again once where the attempt failed after far more than its own limit: the event loop stood still meanwhile. */
export const unlessStoodStill = async <T>(limit: number, attempt: () => Promise<T>): Promise<T> => {
  const due = performance.now() + limit
  try {
    return await attempt()
  } catch (error) {
    if (isLate(due)) return attempt()
    throw error
  }
}
