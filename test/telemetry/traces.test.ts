import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { type Sdk, startSdk } from './sdk.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

let sdk: Sdk
let app: TestServer
let isBroken = false
beforeAll(async () => {
  sdk = startSdk()
  app = await startServer({
    aroundStore: (_operation, run) => {
      if (isBroken) throw new Error('broken')
      return run()
    },
  })
})
afterAll(async () => {
  await app.close()
  await sdk.stop()
})

/** Returns the spans of a step. */
const spansOf = async (step: () => Promise<unknown>): Promise<readonly ReadableSpan[]> => {
  const before = sdk.spans().length
  await step()
  return sdk.spans().slice(before)
}

const pinging = async (headers: Record<string, string> = {}) => {
  const authorization = `Bearer ${await app.personalToken()}`
  return () =>
    fetch(`${app.issuer}/oauth/ping?x=secret`, { headers: { authorization, ...headers } })
}

describe('spans', () => {
  test('have the path pattern of a request as name, and its token look-up as a child', async () => {
    const spans = await spansOf(await pinging())
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['oauth2server.token_lookup', SpanKind.INTERNAL],
      ['GET /oauth/ping', SpanKind.SERVER],
    ])
    const [lookup, request] = spans
    expect(request?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/oauth/ping',
      'http.response.status_code': 200,
    })
    expect(request?.status.code).toBe(SpanStatusCode.UNSET)
    expect(lookup?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId)
    expect(lookup?.attributes).toEqual({})
  })

  test('continue the trace in the traceparent header', async () => {
    const [, request] = await spansOf(await pinging({ traceparent }))
    expect(request?.spanContext().traceId).toBe(traceId)
    expect(request?.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
  })

  test("are children of the application's active span, despite a traceparent header", async () => {
    const outer = trace.getTracer('application').startSpan('GET /')
    const headers = { authorization: `Bearer ${await app.personalToken()}`, traceparent }
    const ask = () => app.server.fetch(new Request(`${app.issuer}/oauth/ping`, { headers }))
    const [, request] = await spansOf(() =>
      context.with(trace.setSpan(context.active(), outer), ask),
    )
    expect(request?.kind).toBe(SpanKind.INTERNAL)
    expect(request?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId)
  })

  test('are created for a guard outside the server only within a trace', async () => {
    const token = await app.personalToken()
    const credentials = {
      authorization: `Bearer ${token}`,
      cookie: null,
      method: 'GET',
      path: '/',
      query: '',
      address: '127.0.0.1',
      userAgent: '',
      headers: () => new Headers(),
    }
    const resolve = () => app.server.resourceServer.resolve(credentials)
    expect(await spansOf(resolve)).toEqual([])
    const outer = trace.getTracer('application').startSpan('GET /api')
    const spans = await spansOf(() => context.with(trace.setSpan(context.active(), outer), resolve))
    expect(spans.map(({ name }) => name)).toEqual(['oauth2server.token_lookup'])
  })

  test('record an error without its details', async () => {
    const ping = await pinging()
    isBroken = true
    const spans = await spansOf(ping)
    isBroken = false
    expect(spans.map(({ status }) => status)).toEqual([
      { code: SpanStatusCode.ERROR },
      { code: SpanStatusCode.ERROR },
    ])
    expect(spans.flatMap(({ events }) => events)).toEqual([])
    expect(spans[1]?.attributes['error.type']).toBe('500')
  })

  test('have a trace ID that is also in the log entries', async () => {
    const ping = await pinging({ traceparent })
    isBroken = true
    await ping()
    isBroken = false
    expect(app.log.at(-1)).toMatchObject({ event: 'request.failed', traceId })
  })
})
