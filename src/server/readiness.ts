import type { Health } from '../model/health.ts'
import type { LogSink } from '../model/log.ts'
import { withTimeout } from '../store/timeout.ts'

/** Reports whether this process should receive requests. */
export type Readiness = ReturnType<typeof readiness>

/** The timeout of a ping of the store, in milliseconds. */
const storeTimeout = 1_000

/** The timeout of a ping of Redis, in milliseconds: short, because a typical probe gives up after a second. */
const transientsTimeout = 500

/** Checks the dependencies with `pings`, and logs each change of a result. */
export const readiness = (
  pings: {
    readonly store: () => Promise<void>
    readonly transients: (() => Promise<void>) | undefined
    /** Returns whether the clock is wrong. Logs each change of this result. */
    readonly isClockWrong: () => Promise<boolean>
  },
  log: LogSink,
) => {
  let isDraining = false
  let checking: Promise<Health> | undefined
  const reportStore = reportChanges((error) => {
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
          'The server cannot serve requests: the database does not respond, or rejects writes.',
        error,
      })
  })
  const reportTransients = reportChanges((error) => {
    if (error === undefined)
      log({
        level: 'info',
        event: 'transients.back',
        message: 'Redis responds again.',
      })
    else
      log({
        level: 'warn',
        event: 'transients.away',
        message:
          'Redis does not respond: requests that need Redis, such as authorization requests and the redemption of codes, fail.',
        error,
      })
  })

  const check = async (): Promise<Health> => {
    const [isStoreUp, areTransientsUp, isClockWrong] = await Promise.all([
      reportStore(errorOf(pings.store, storeTimeout)),
      pings.transients ? reportTransients(errorOf(pings.transients, transientsTimeout)) : true,
      withTimeout(storeTimeout, pings.isClockWrong()).catch(() => false),
    ])
    const isReady = isStoreUp && !isClockWrong
    return { isReady, areTransientsAway: !areTransientsUp, isClockWrong }
  }

  return {
    /** Pings the dependencies of the server. Concurrent callers share one result. */
    async health(): Promise<Health> {
      if (isDraining) return { isReady: false, areTransientsAway: false, isClockWrong: false }
      checking ??= check().finally(() => {
        checking = undefined
      })
      const result = await checking
      return { ...result, isReady: result.isReady && !isDraining }
    },
    /** Makes `health` report that the process is not ready, because a shutdown has begun. */
    drain(): void {
      isDraining = true
    },
  }
}

/**
 * Calls `report` when a dependency stops or starts to respond.
 * @returns a function that takes the promise of `errorOf`, and returns whether the dependency responds
 */
const reportChanges = (report: (error: unknown) => void) => {
  let wasUp = true
  return async (ping: Promise<unknown>): Promise<boolean> => {
    const error = await ping
    const isUp = error === undefined
    if (isUp !== wasUp) report(error)
    wasUp = isUp
    return isUp
  }
}

/** Returns the error of a ping that failed or timed out; undefined for a successful ping. */
const errorOf = async (ping: () => Promise<void>, timeout: number): Promise<unknown> => {
  try {
    return await withTimeout(timeout, ping())
  } catch (error) {
    return error
  }
}
