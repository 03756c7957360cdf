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

/** The log, metrics and traces of a running server. */
export interface Observers {
  readonly log: LogSink
  readonly telemetry: Telemetry
  readonly traces: Traces
  /** The measurements for `/metrics`; undefined if `/metrics` is disabled. */
  readonly prometheus: Prometheus | undefined
}

/** Creates the observers. @throws InvalidSettings if `/metrics` is enabled without the required packages */
export const createObservers = async (
  sink: LogSink | undefined,
  { logLevel, metricsToken }: Pick<Settings, 'logLevel' | 'metricsToken'>,
): Promise<Observers> => {
  const scraped = metricsToken === null ? undefined : await prometheus()
  const telemetry = createTelemetry(metersOf(scraped?.meter))
  const log = observedLog(safeSink(sink ?? logToStderr()), logLevel, telemetry)
  return { log, telemetry, traces: createTraces(), prometheus: scraped }
}

/**
 * Counts every entry except debug entries. Writes entries whose level is at least `minLevel`, with the IDs of the
 * request and the trace.
 */
const observedLog = (
  sink: LogSink,
  minLevel: LogLevel | 'silent',
  { event }: Pick<Telemetry, 'event'>,
): LogSink => {
  const written = levelsFrom(minLevel)
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
