/** How much an entry of the log matters, from the least. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

export type LogLevel = (typeof logLevels)[number]

/** One line of the log: a stable event name, a sentence for people, and details without secrets. */
export interface LogEntry {
  readonly level: LogLevel
  readonly event: string
  readonly message: string
  readonly [detail: string]: unknown
}

/** Where log entries go: an argument of the server. */
export type LogSink = (entry: LogEntry) => void

/** The levels that matter at least so much. */
export const levelsFrom = (least: LogLevel | 'silent'): ReadonlySet<LogLevel> =>
  new Set(least === 'silent' ? [] : logLevels.slice(logLevels.indexOf(least)))
