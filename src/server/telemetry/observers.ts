import {
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Connection, RequestSource } from '../../http/request.ts'
import { currentRequest, inRequest, requestIdOf, withRequestId } from '../../http/request-scope.ts'
import type { HttpResponse } from '../../http/response.ts'
import { readablePart } from '../../model/bounds.ts'
import { type LogLevel, type LogSink, levelsFrom } from '../../model/log.ts'
import type { Settings } from '../../settings/settings.ts'
import { logToStderr, safeSink } from './log-to.ts'
import { prometheus } from './prometheus.ts'
import { createTelemetry, scopeName, type Telemetry } from './telemetry.ts'

/** The log, metrics and traces of a running server. */
export type Observers = Awaited<ReturnType<typeof createObservers>>

/** Creates the observers. @throws InvalidSettings if `/metrics` is enabled without the required packages */
export const createObservers = async (
  sink: LogSink | undefined,
  { logLevel, metricsToken }: Pick<Settings, 'logLevel' | 'metricsToken'>,
) => {
  const scraped = metricsToken === null ? undefined : await prometheus()
  const telemetry = createTelemetry(scraped?.meter)
  const log = observedLog(safeSink(sink ?? logToStderr()), logLevel, telemetry)
  // `telemetry` is undefined if nothing receives measurements, and `prometheus` if `/metrics` is disabled.
  return { log, telemetry, prometheus: scraped }
}

/**
 * Counts every entry except debug entries. Writes entries whose level is at least `minLevel`, with the IDs of the
 * request and the trace.
 */
const observedLog = (
  sink: LogSink,
  minLevel: LogLevel | 'silent',
  telemetry: Telemetry | undefined,
): LogSink => {
  const written = levelsFrom(minLevel)
  return (entry) => {
    const { level } = entry
    if (level !== 'debug')
      telemetry?.event(1, { 'oauth2server.event': entry.event, 'oauth2server.level': level })
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

/** Returns a function that assigns an ID to each request, and measures, traces and logs the request. */
export const observeRequests =
  ({ telemetry, log }: Pick<Observers, 'telemetry' | 'log'>) =>
  <A extends HttpResponse | Response>(
    source: RequestSource,
    connection: Connection,
    answer: () => A | Promise<A>,
  ): Promise<A | Response> => {
    const startedAt = performance.now()
    const id = requestIdOf(source, connection)
    const method = methods.has(source.method) ? source.method : '_OTHER'
    return inRequest(id, () =>
      inSpan(source, async (span) => {
        const answered = withRequestId(await answer(), id)
        const { status } = answered
        const route = currentRequest()?.route
        const milliseconds = performance.now() - startedAt
        telemetry?.request(milliseconds / 1000, attributesOf(method, route, status))
        if (span.isRecording()) describe(span, method, route, status)
        log({
          level: 'debug',
          event: 'http.request',
          message: 'A request was processed.',
          method,
          route,
          status,
          milliseconds: Math.round(milliseconds * 10) / 10,
        })
        return answered
      }),
    )
  }

// Record methods outside this list as `_OTHER`: a client can send any word, and each value would create a time series.
const methods = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'],
])

const attributesOf = (method: string, route: string | undefined, status: number) => ({
  'http.request.method': method,
  ...(route !== undefined && { 'http.route': route }),
  'http.response.status_code': status,
})

/**
 * Runs `run` in a span for a request to an endpoint of the server, if the application uses tracing. The span omits the URL
 * and error messages, because these may contain secrets.
 */
const inSpan = async <T>(source: RequestSource, run: (span: Span) => Promise<T>): Promise<T> => {
  if (!isTraced()) return run(noSpan)
  const active = context.active()
  // If the application has not started a span, this span is the root of the request in this process.
  const isRoot = trace.getSpan(active) === undefined
  const parent = isRoot ? remoteContext(active, source) : active
  const kind = isRoot ? SpanKind.SERVER : SpanKind.INTERNAL
  const span = trace.getTracer(scopeName).startSpan('request', { kind }, parent)
  try {
    return await context.with(trace.setSpan(parent, span), () => run(span))
  } finally {
    span.end()
  }
}

const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)

// Check the provider for each request, because the application may start tracing at any time.
const isTraced = (): boolean => {
  const provider = trace.getTracerProvider()
  return (
    !(provider instanceof ProxyTracerProvider) ||
    provider.getDelegateTracer(scopeName) !== undefined
  )
}

const remoteContext = (active: Context, source: RequestSource): Context =>
  propagation.extract(active, source, {
    get: (carrier, name) =>
      readablePart(name.toLowerCase(), carrier.header(name.toLowerCase())) ?? undefined,
    keys: (carrier) => [...carrier.headers.keys()],
  })

const describe = (span: Span, method: string, route: string | undefined, status: number): void => {
  span.updateName(route === undefined ? method : `${method} ${route}`)
  span.setAttributes(attributesOf(method, route, status))
  if (status < 500) return
  span.setAttribute('error.type', String(status))
  span.setStatus({ code: SpanStatusCode.ERROR })
}
