/** An operation did not finish before its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** Milliseconds that a timer may be late on a busy machine. */
const usualDelay = 100
/** Additional milliseconds to wait for a response after the event loop was blocked. */
const grace = 500

/** Returns whether `due` passed so long ago that the event loop must have been blocked. */
const isLate = (due: number): boolean => performance.now() - due > usualDelay

/**
 * Waits for a response at most `limit` milliseconds. If the event loop was blocked, waits longer, because a response
 * may have arrived in the meantime.
 * @throws TimeoutError if no response arrives in time
 */
export const withTimeout = async <T>(limit: number, response: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    // Node.js runs timers before it reads sockets, so the response may have arrived but not been read.
    const end = () =>
      setImmediate(reject, new TimeoutError(`there was no response within ${limit} ms`))
    const due = performance.now() + limit
    timer = setTimeout(() => {
      if (isLate(due)) timer = setTimeout(end, grace)
      else end()
    }, limit)
  })
  try {
    return await Promise.race([response, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs an attempt. If the attempt fails long after `limit`, the event loop was blocked. The function then runs a second
 * attempt.
 */
export const retryAfterStall = async <T>(limit: number, attempt: () => Promise<T>): Promise<T> => {
  const due = performance.now() + limit
  try {
    return await attempt()
  } catch (error) {
    if (isLate(due)) return attempt()
    throw error
  }
}
