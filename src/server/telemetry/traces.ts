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
import type { RequestSource } from '../../http/request.ts'
import { readablePart } from '../../model/bounds.ts'
import { scopeName } from './telemetry.ts'

/** Creates the spans of the server. The spans omit URLs and error messages, because these may contain secrets. */
export type Traces = ReturnType<typeof createTraces>

export const createTraces = () => {
  const tracer = trace.getTracer(scopeName)
  return {
    /** Runs `run` in a span for a request to an endpoint of the server, if the application uses tracing. */
    async request<T>(source: RequestSource, run: (span: Span) => Promise<T>): Promise<T> {
      if (!isTraced()) return run(noSpan)
      const active = context.active()
      // If the application has not started a span, this span is the root of the request in this process.
      const isRoot = trace.getSpan(active) === undefined
      const parent = isRoot ? remoteContext(active, source) : active
      const kind = isRoot ? SpanKind.SERVER : SpanKind.INTERNAL
      const span = tracer.startSpan('request', { kind }, parent)
      try {
        return await context.with(trace.setSpan(parent, span), () => run(span))
      } finally {
        span.end()
      }
    },
    /** Runs `run` in a span for a step of a request, if the request is traced. */
    step<T>(name: string, run: () => Promise<T>): Promise<T> {
      if (trace.getActiveSpan() === undefined) return run()
      return tracer.startActiveSpan(name, async (span) => {
        try {
          return await run()
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR })
          throw error
        } finally {
          span.end()
        }
      })
    },
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
