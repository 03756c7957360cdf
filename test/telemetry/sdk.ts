import { context, metrics, propagation, TraceFlags, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'

/** The OpenTelemetry SDK of an application, with exporters in memory. */
export interface Sdk {
  spans(): readonly ReadableSpan[]
  metrics(): Promise<readonly MetricData[]>
  /** The value of one counter, or the count of one histogram, with exactly these attributes. */
  value(name: string, attributes?: Readonly<Record<string, unknown>>): Promise<number | undefined>
  stop(): Promise<void>
}

/** Registers the SDK for this process, like an application before it creates its server. */
export const startSdk = (): Sdk => {
  const spans = new InMemorySpanExporter()
  const tracing = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: spans })],
  })
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const measuring = new MeterProvider({ readers: [reader] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(traceparent)
  trace.setGlobalTracerProvider(tracing)
  metrics.setGlobalMeterProvider(measuring)
  const read = async () => {
    exporter.reset()
    await reader.forceFlush()
    return exporter.getMetrics().flatMap(({ scopeMetrics }) => {
      return scopeMetrics.flatMap(({ metrics: found }) => found)
    })
  }
  return {
    spans: () => spans.getFinishedSpans(),
    metrics: read,
    async value(name, attributes = {}) {
      const points: readonly { readonly attributes: object; readonly value: unknown }[] =
        (await read()).find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
      const point = points.find((one) => isEqual(one.attributes, attributes))
      return point && countOf(point.value)
    },
    async stop() {
      await Promise.all([tracing.shutdown(), measuring.shutdown()])
      for (const api of [trace, metrics, context, propagation]) api.disable()
    },
  }
}

const isEqual = (a: object, b: object): boolean =>
  JSON.stringify(Object.entries(a).toSorted()) === JSON.stringify(Object.entries(b).toSorted())

const countOf = (value: unknown): number =>
  typeof value === 'object' && value !== null && 'count' in value
    ? Number(value.count)
    : Number(value)

/** The parts of the W3C trace context that these tests need. */
const traceparent: Parameters<typeof propagation.setGlobalPropagator>[0] = {
  inject: () => undefined,
  fields: () => ['traceparent'],
  extract(around, carrier, getter) {
    const [given] = [getter.get(carrier, 'traceparent')].flat()
    const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(given ?? '') ?? []
    if (traceId === undefined || spanId === undefined) return around
    return trace.setSpanContext(around, { traceId, spanId, traceFlags: TraceFlags.SAMPLED })
  },
}
