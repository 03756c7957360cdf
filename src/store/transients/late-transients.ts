import { StoreUnavailable } from '../contract/errors.ts'
import type { OpenTransients, TransientsOpener } from '../contract/transients.ts'

/** Milliseconds between two attempts to open the store. */
const pause = 1_000

/**
 * Opens the store of short-lived values. During an outage, retries in the background. Until the store is open, all
 * operations fail with StoreUnavailable.
 * @param issuer the issuer of the server
 * @param onAway called with the first error, and with each error whose message differs from the previous message
 * @throws StoreUnusable if the store refuses access
 */
export const openWithRetry = async (
  opener: TransientsOpener,
  issuer: string,
  onAway: (error: Error) => void,
): Promise<OpenTransients> => {
  const open = () => opener.open(issuer)
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    onAway(error)
    return openInBackground(open, onAway, error)
  }
}

const openInBackground = (
  open: () => Promise<OpenTransients>,
  onAway: (error: Error) => void,
  first: Error,
): OpenTransients => {
  let reason = first.message
  let opened: OpenTransients | undefined
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let attempting: Promise<void> | undefined

  const attempt = async () => {
    try {
      opened = await open()
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      if (failure.message !== reason) onAway(failure)
      reason = failure.message
      if (!isClosed) wait()
    }
  }
  const wait = () => {
    timer = setTimeout(() => {
      attempting = attempt()
    }, pause).unref()
  }
  wait()

  const current = (): OpenTransients => {
    if (opened) return opened
    throw new StoreUnavailable(reason)
  }
  return {
    put: async (...values) => current().put(...values),
    set: async (...values) => current().set(...values),
    get: async (...values) => current().get(...values),
    take: async (...values) => current().take(...values),
    increment: async (...values) => current().increment(...values),
    delete: async (...values) => current().delete(...values),
    deleteExpired: async (...values) => current().deleteExpired(...values),
    ping: async () => current().ping(),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await attempting
      await opened?.close()
    },
  }
}
