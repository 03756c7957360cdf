import type { LogSink } from '../../model/log.ts'
import type { Settings } from '../../settings/settings.ts'
import { logToStderr } from './log-to.ts'
import { metersOf } from './meters.ts'
import { observedLog } from './observed-log.ts'
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
