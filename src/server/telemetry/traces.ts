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
import { scopeName } from './meters.ts'

/** Spans of the server. They have neither addresses nor errors in them: both may hold what is secret. */
export interface Traces {
  /** A span for a request to one of the server's addresses. */
  request<T>(source: RequestSource, run: (span: Span) => Promise<T>): Promise<T>
  /** A span for a step of a request, where that is traced. */
  step<T>(name: string, run: () => Promise<T>): Promise<T>
}

export const createTraces = (): Traces => {
  const tracer = trace.getTracer(scopeName)
  return {
    async request(source, run) {
      if (!isTraced()) return run(nobodys)
      const around = context.active()
      // Without a span of the application's own instrumentation around it, the request begins here.
      const isFirst = trace.getSpan(around) === undefined
      const parent = isFirst ? sentContext(around, source) : around
      const kind = isFirst ? SpanKind.SERVER : SpanKind.INTERNAL
      const span = tracer.startSpan('request', { kind }, parent)
      try {
        return await context.with(trace.setSpan(parent, span), () => run(span))
      } finally {
        span.end()
      }
    },
    step(name, run) {
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

const nobodys = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)

// The application may begin to trace at any time.
const isTraced = (): boolean => {
  const provider = trace.getTracerProvider()
  return (
    !(provider instanceof ProxyTracerProvider) ||
    provider.getDelegateTracer(scopeName) !== undefined
  )
}

const sentContext = (around: Context, source: RequestSource): Context =>
  propagation.extract(around, source, {
    get: (carrier, name) => carrier.header(name.toLowerCase()) ?? undefined,
    keys: (carrier) => [...carrier.headers.keys()],
  })
