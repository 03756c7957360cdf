import { StoreUnavailable } from '../contract/errors.ts'
import type { OpenTransients, TransientsOpener } from '../contract/transients.ts'

/** Milliseconds between two tries. */
const pause = 1_000

/**
 * Opens them. Where they are away for now, they are opened later, and refuse what they are asked until then.
 * @param onAway called with why, once for each reason
 * @throws StoreUnusable where they are there and do not let us in
 */
export const openedSoonerOrLater = async (
  opener: TransientsOpener,
  onAway: (error: Error) => void,
): Promise<OpenTransients> => {
  try {
    return await opener.open()
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    onAway(error)
    return openedLater(opener, onAway, error)
  }
}

const openedLater = (
  opener: TransientsOpener,
  onAway: (error: Error) => void,
  first: Error,
): OpenTransients => {
  let why = first.message
  let opened: OpenTransients | undefined
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let trying: Promise<void> | undefined

  const attempt = async () => {
    try {
      opened = await opener.open()
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      if (reason.message !== why) onAway(reason)
      why = reason.message
      if (!isClosed) wait()
    }
  }
  const wait = () => {
    timer = setTimeout(() => {
      trying = attempt()
    }, pause).unref()
  }
  wait()

  const known = (): OpenTransients => {
    if (opened) return opened
    throw new StoreUnavailable(why)
  }
  return {
    put: async (...values) => known().put(...values),
    set: async (...values) => known().set(...values),
    get: async (...values) => known().get(...values),
    getMany: async (...values) => known().getMany(...values),
    take: async (...values) => known().take(...values),
    increment: async (...values) => known().increment(...values),
    delete: async (...values) => known().delete(...values),
    deleteExpired: async (...values) => known().deleteExpired(...values),
    ping: async () => known().ping(),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await trying
      await opened?.close()
    },
  }
}
