import type { LogSink } from '../../model/log.ts'

/**
 * Wraps a log function of the application that may throw or reject. A failure loses only the entry: the request or the
 * background work that logged it continues. The first failure emits a warning of the process.
 */
export const safeSink = (sink: LogSink): LogSink => {
  let hasWarned = false
  const warn = (): void => {
    if (hasWarned) return
    hasWarned = true
    // Without the error: it may contain the entry that could not be written.
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
