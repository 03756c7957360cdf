/** One line of the log: a stable event name, a sentence for people, and details without secrets. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  readonly message: string
  readonly [detail: string]: unknown
}

/** Where log entries go: an argument of the server. */
export type LogSink = (entry: LogEntry) => void

/** JSON lines on stderr; an error is reduced to its stack, which never holds a parameter's value. */
export const logToStderr: LogSink = (entry) => {
  const text = JSON.stringify(entry, (_key, value: unknown) =>
    value instanceof Error ? { name: value.name, stack: value.stack, cause: value.cause } : value,
  )
  process.stderr.write(`${text}\n`)
}
