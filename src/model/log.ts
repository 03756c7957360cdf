/** The levels of log entries, in ascending order. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** The level of a log entry. */
export type LogLevel = (typeof logLevels)[number]

/** One line of the log: a stable event name, a readable sentence, and details without secrets. */
export interface LogEntry {
  readonly level: LogLevel
  readonly event: string
  readonly message: string
  readonly [detail: string]: unknown
}

/** Receives log entries. */
export type LogSink = (entry: LogEntry) => void

/** Returns the minimum level and all higher levels. */
export const levelsFrom = (minimum: LogLevel | 'silent'): ReadonlySet<LogLevel> =>
  new Set(minimum === 'silent' ? [] : logLevels.slice(logLevels.indexOf(minimum)))
