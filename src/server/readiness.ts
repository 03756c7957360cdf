import type { Health } from '../model/health.ts'
import { withTimeout } from '../store/timeout.ts'
import type { Opened } from './open-store.ts'

/** Reports whether this process should receive requests. */
export type Readiness = ReturnType<typeof readiness>

/** The timeout of a ping of the store, in milliseconds. */
const storeTimeout = 1_000

/** The timeout of a ping of Redis, in milliseconds: short, because a typical probe gives up after a second. */
const transientsTimeout = 500

/** Checks the database, Redis and the clock, and logs when one of them stops or starts to respond. */
export const readiness = ({ aroundStore, log, database, external, serverClock }: Opened) => {
  let isDraining = false
  let checking: Promise<Health> | undefined
  const isStoreUp = watched(
    storeTimeout,
    async () => aroundStore({ name: 'ping' }, () => database.ping()),
    (error) => {
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
    },
  )
  const areTransientsUp = watched(
    transientsTimeout,
    async () => external && aroundStore({ name: 'transients.ping' }, () => external.ping()),
    (error) => {
      if (error === undefined)
        log({ level: 'info', event: 'transients.back', message: 'Redis responds again.' })
      else
        log({
          level: 'warn',
          event: 'transients.away',
          message:
            'Redis does not respond: requests that need Redis, such as authorization requests and the redemption of codes, fail.',
          error,
        })
    },
  )

  const check = async (): Promise<Health> => {
    const [isUp, areUp, isClockWrong] = await Promise.all([
      isStoreUp(),
      areTransientsUp(),
      // The clock logs each change of this result itself.
      withTimeout(storeTimeout, serverClock.isWrong()).catch(() => false),
    ])
    return { isReady: isUp && !isClockWrong, areTransientsAway: !areUp, isClockWrong }
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
 * Returns a function that pings a dependency, and returns whether it responds in time.
 * @param report called after each change of the result, with the error; undefined if the dependency responds again
 */
const watched = (
  timeout: number,
  ping: () => Promise<void>,
  report: (error: unknown) => void,
): (() => Promise<boolean>) => {
  let wasUp = true
  return async () => {
    const error: unknown = await withTimeout(timeout, ping()).catch((reason: unknown) => reason)
    const isUp = error === undefined
    if (isUp !== wasUp) report(error)
    wasUp = isUp
    return isUp
  }
}
