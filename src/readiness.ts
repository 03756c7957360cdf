import type { LogSink } from './log.ts'

/** Whether requests should be sent to this process. */
export interface Readiness {
  /** Asks what the server depends on. Callers at the same time share one answer. */
  isReady(): Promise<boolean>
  /** It is not ready from now on: it is going to stop. */
  drain(): void
}

/** Milliseconds within which everything has to answer. */
const limit = 1_000

/** Asks by `pings`, and says in the log when the answer changes. */
export const readiness = (pings: readonly (() => Promise<void>)[], log: LogSink): Readiness => {
  let isDraining = false
  let wasReady = true
  let asking: Promise<boolean> | undefined

  const ask = async (): Promise<boolean> => {
    const error = await answers(Promise.all(pings.map(async (ping) => ping())))
    const isReady = error === undefined
    if (isReady !== wasReady && !isDraining) {
      const message = isReady
        ? 'The server can serve requests again.'
        : 'The server cannot serve requests: something it depends on does not answer.'
      if (isReady) log({ level: 'info', event: 'health.ready', message })
      else log({ level: 'warn', event: 'health.unready', message, error })
    }
    wasReady = isReady
    return isReady
  }

  return {
    async isReady() {
      if (isDraining) return false
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return (await asking) && !isDraining
    },
    drain() {
      isDraining = true
    },
  }
}

/** @returns why there is no answer */
const answers = async (asked: Promise<unknown>): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise((resolve) => {
    timer = setTimeout(resolve, limit, new Error(`There was no answer within ${limit} ms.`))
  })
  try {
    return await Promise.race([asked.then(() => undefined), silence])
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
  }
}
