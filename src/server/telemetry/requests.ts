import { type Span, SpanStatusCode } from '@opentelemetry/api'
import type { Connection, RequestSource } from '../../http/request.ts'
import { requestIdOf, withRequestId } from '../../http/request-id.ts'
import { inRequest } from '../../http/request-scope.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { LogSink } from '../../model/log.ts'
import type { Telemetry } from './telemetry.ts'
import type { Traces } from './traces.ts'

/** The receivers of the measurement, the trace and the log entry of each request. */
export interface Observers {
  readonly telemetry: Telemetry
  readonly traces: Traces
  readonly log: LogSink
}

/** Handles a request, and calls `matched` with the route pattern. */
type Answering<A> = (matched: (route: string) => void) => A | Promise<A>

/** Returns a function that assigns an ID to each request, and measures, traces and logs the request. */
export const observeRequests =
  ({ telemetry, traces, log }: Observers) =>
  <A extends HttpResponse | Response>(
    source: RequestSource,
    connection: Connection,
    response: Answering<A>,
  ): Promise<A | Response> => {
    const startedAt = performance.now()
    const id = requestIdOf(source, connection)
    const method = methods.has(source.method) ? source.method : '_OTHER'
    let route: string | undefined
    const matched = (pattern: string) => {
      route = pattern
    }
    return inRequest(id, () =>
      traces.request(source, async (span) => {
        const answered = withRequestId(await response(matched), id)
        const { status } = answered
        const milliseconds = performance.now() - startedAt
        telemetry.request(milliseconds / 1000, attributesOf(method, route, status))
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

const describe = (span: Span, method: string, route: string | undefined, status: number): void => {
  span.updateName(route === undefined ? method : `${method} ${route}`)
  span.setAttributes(attributesOf(method, route, status))
  if (status < 500) return
  span.setAttribute('error.type', String(status))
  span.setStatus({ code: SpanStatusCode.ERROR })
}
