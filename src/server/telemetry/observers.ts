import { trace } from '@opentelemetry/api'
import { currentRequest } from '../../http/request-scope.ts'
import { type LogLevel, type LogSink, levelsFrom } from '../../model/log.ts'
import type { Settings } from '../../settings/settings.ts'
import { logToStderr } from './log-to.ts'
import { metersOf } from './meters.ts'
import { type Prometheus, prometheus } from './prometheus.ts'
import { safeSink } from './safe-sink.ts'
import { createTelemetry, type Telemetry } from './telemetry.ts'
import { createTraces, type Traces } from './traces.ts'

/** All by which a running server is seen from outside. */
export interface Observers {
  readonly log: LogSink
  readonly telemetry: Telemetry
  readonly traces: Traces
  /** What `/metrics` shows; undefined where it is off. */
  readonly prometheus: Prometheus | undefined
}

/** @throws InvalidSettings where `/metrics` is on without the packages that it needs */
export const createObservers = async (
  sink: LogSink | undefined,
  { logLevel, metricsToken }: Pick<Settings, 'logLevel' | 'metricsToken'>,
): Promise<Observers> => {
  const shown = metricsToken === null ? undefined : await prometheus()
  const telemetry = createTelemetry(metersOf(shown?.meter))
  const log = observedLog(safeSink(sink ?? logToStderr()), logLevel, telemetry)
  return { log, telemetry, traces: createTraces(), prometheus: shown }
}

/** Counts every entry, and writes those that matter enough, with the request and the trace that they belong to. */
const observedLog = (
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
