import type { LogSink } from '../../model/log.ts'

/**
 * Wraps a log function of the application, so that errors of this function do not affect requests. If the function
 * throws or returns a promise that rejects, the log entry is lost. The first failure emits a process warning.
 */
export const safeSink = (sink: LogSink): LogSink => {
  let hasWarned = false
  const warn = (): void => {
    if (hasWarned) return
    hasWarned = true
    // Omit the error, because it may contain the entry that could not be written.
    process.emitWarning(
      'The log function failed: log entries are lost. Further failures are not reported.',
      'OAuth2ServerLogWarning',
    )
  }
  return (entry) => {
    try {
      const result: unknown = sink(entry)
      if (result instanceof Promise) result.catch(warn)
    } catch {
      warn()
    }
  }
}
