import { pino } from 'pino'
import type { LogLevel, LogSink } from '../../model/log.ts'

/** A logger with a method for each level, such as a pino logger or Fastify's `app.log`. */
export type Logger = {
  readonly [Level in LogLevel]: (details: object, message: string) => void
}

/** Returns a log sink that writes entries to a logger of the application. */
export const logTo =
  (logger: Logger): LogSink =>
  ({ level, message, ...details }) => {
    const plain = Object.entries(details).map(([name, value]) => [name, withoutFields(value)])
    logger[level](Object.fromEntries(plain), message)
  }

/**
 * Returns a log sink that writes JSON lines to stderr. The sink writes synchronously, so that a crash does not lose
 * entries.
 */
export const logToStderr = (): LogSink =>
  logTo(
    pino(
      {
        level: 'debug',
        messageKey: 'message',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      },
      pino.destination({ dest: 2, sync: true }),
    ),
  )

const maxCauses = 5

// Omit all fields except name, stack and cause: errors of a database driver may contain the parameters of a statement.
const withoutFields = (value: unknown, depth = 0): unknown => {
  if (!(value instanceof Error)) return value
  const { name, stack, cause } = value
  // A cause that is not an error may contain secrets, such as the claims of a JWT in the errors of jose.
  if (!(cause instanceof Error) || depth === maxCauses) return { name, stack }
  return { name, stack, cause: withoutFields(cause, depth + 1) }
}

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
