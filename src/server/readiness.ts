import type { Health } from '../model/health.ts'
import type { LogSink } from '../model/log.ts'
import { withTimeout } from '../store/timeout.ts'

/** Whether requests should be sent to this process. */
export interface Readiness {
  /** Asks what the server depends on. Callers at the same time share one answer. */
  health(): Promise<Health>
  /** It is not ready from now on: it is going to stop. */
  drain(): void
}

/** Milliseconds within which the store has to answer. */
const limit = 1_000

/** Shorter than the limit of the store, since a probe may wait for one second only, and Redis is optional. */
const transientsLimit = 500

/** Asks by `pings`, and says in the log when an answer changes. */
export const readiness = (
  pings: {
    readonly store: () => Promise<void>
    readonly transients: (() => Promise<void>) | undefined
    /** Says in the log by itself when that changes. */
    readonly isClockWrong: () => Promise<boolean>
  },
  log: LogSink,
): Readiness => {
  let isDraining = false
  let asking: Promise<Health> | undefined
  const storeChanged = changes((error) => {
    if (isDraining) return
    if (error === undefined)
      log({
        level: 'info',
        event: 'health.ready',
        message: 'The server can serve requests again.',
      })
    else
      log({
        level: 'warn',
        event: 'health.unready',
        message:
          'The server cannot serve requests: the database does not answer, or takes no writes.',
        error,
      })
  })
  const transientsChanged = changes((error) => {
    if (error === undefined)
      log({
        level: 'info',
        event: 'transients.back',
        message: 'Short-lived values can be kept again.',
      })
    else
      log({
        level: 'warn',
        event: 'transients.away',
        message: 'What keeps short-lived values does not answer: new logins to applications fail.',
        error,
      })
  })

  const ask = async (): Promise<Health> => {
    const [isStoreThere, areTransientsThere, isClockWrong] = await Promise.all([
      storeChanged(answers(pings.store, limit)),
      pings.transients ? transientsChanged(answers(pings.transients, transientsLimit)) : true,
      withTimeout(limit, pings.isClockWrong()).catch(() => false),
    ])
    const isReady = isStoreThere && !isClockWrong
    return { isReady, areTransientsAway: !areTransientsThere, isClockWrong }
  }

  return {
    async health() {
      if (isDraining) return { isReady: false, areTransientsAway: false, isClockWrong: false }
      asking ??= ask().finally(() => {
        asking = undefined
      })
      const found = await asking
      return { ...found, isReady: found.isReady && !isDraining }
    },
    drain() {
      isDraining = true
    },
  }
}

/** Tells of what has become different. @returns whether there was an answer */
const changes = (report: (error: unknown) => void) => {
  let wasThere = true
  return async (answered: Promise<unknown>): Promise<boolean> => {
    const error = await answered
    const isThere = error === undefined
    if (isThere !== wasThere) report(error)
    wasThere = isThere
    return isThere
  }
}

/** @returns why there is no answer */
const answers = async (ask: () => Promise<void>, limit: number): Promise<unknown> => {
  try {
    return await withTimeout(limit, ask())
  } catch (error) {
    return error
  }
}
