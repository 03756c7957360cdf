import { pino } from 'pino'
import type { LogLevel, LogSink } from '../../model/log.ts'

/** What a pino logger has, and Fastify's `app.log`, for which it stands. */
export type Logger = {
  readonly [Level in LogLevel]: (details: object, message: string) => void
}

/** Writes entries to the application's own logger. */
export const logTo =
  (logger: Logger): LogSink =>
  ({ level, message, ...details }) => {
    const plain = Object.entries(details).map(([name, value]) => [name, withoutFields(value)])
    logger[level](Object.fromEntries(plain), message)
  }

/** JSON lines on stderr. Each is written before the next step, so the last one before a crash is there too. */
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

const longestChain = 5

// An error of a driver has the values of a statement among its fields; its stack never has.
const withoutFields = (value: unknown, depth = 0): unknown => {
  if (!(value instanceof Error)) return value
  const { name, stack, cause } = value
  // What is no error may be anything: jose puts the claims of a JWT there.
  if (!(cause instanceof Error) || depth === longestChain) return { name, stack }
  return { name, stack, cause: withoutFields(cause, depth + 1) }
}
