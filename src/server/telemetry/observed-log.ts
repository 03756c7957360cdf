import { trace } from '@opentelemetry/api'
import { currentRequest } from '../../http/request-scope.ts'
import { type LogLevel, type LogSink, levelsFrom } from '../../model/log.ts'
import type { Telemetry } from './telemetry.ts'

/** Counts every entry, and writes those that matter enough, with the request and the trace that they belong to. */
export const observedLog = (
  sink: LogSink,
  least: LogLevel | 'silent',
  { event }: Pick<Telemetry, 'event'>,
): LogSink => {
  const written = levelsFrom(least)
  return (entry) => {
    const { level } = entry
    if (level !== 'debug')
      event(1, { 'oauth2server.event': entry.event, 'oauth2server.level': level })
    if (!written.has(level)) return
    const requestId = currentRequest()?.id
    const traceId = trace.getActiveSpan()?.spanContext().traceId
    sink({
      ...entry,
      ...(requestId !== undefined && { requestId }),
      ...(traceId !== undefined && { traceId }),
    })
  }
}
