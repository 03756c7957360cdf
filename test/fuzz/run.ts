import { type ObservedServer, type Probe, startObserved } from '../support/observed-server.ts'
import type { TestData } from '../support/observed-test-data.ts'
import type { Document } from './openapi-seeds.ts'
import { overload } from './overload.ts'
import { unavailabilityOf } from './put-off.ts'
import { type FuzzRequest, requestMaker } from './requests.ts'
import { Sender } from './sender.ts'
import { Tally } from './tally.ts'

export interface FuzzOptions {
  readonly requests: number
  /** Stops the run after this time, even if requests are left. */
  readonly seconds?: number
  readonly seed: number
  readonly store: 'sqlite' | 'postgres'
  /** Settings of the server, for instance high limits. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** The number of the only request to send. The run first creates the test data that the request needs. */
  readonly only?: number
  /**
   * Whether to send too many passwords at the end of the run, which fills the queue of password hashes. Default: false.
   */
  readonly overloads?: boolean
  /** Stops the run after the requests in flight. The report contains the requests that were sent. */
  readonly signal?: AbortSignal
  /** Called after every 10,000 requests with the number of responses and the elapsed time. */
  readonly onProgress?: (answered: number, seconds: number) => void
}

export interface FuzzReport {
  readonly tally: Tally
  readonly seconds: number
  readonly probes: readonly (readonly [when: string, probe: Probe])[]
  readonly rows: Readonly<Record<string, number>>
  readonly overload: Readonly<Record<string, number>>
  /** The number of 503 responses, by the reason in the log. */
  readonly unavailable: Readonly<Record<string, number>>
  /** The reasons why the run failed; empty if it succeeded. */
  readonly violations: readonly string[]
}

/** The number of requests that use the same test data. After them, the run creates new users, clients and tokens. */
const setSize = 10_000
/**
 * The permitted growth of memory from the middle to the end of the run. Garbage collection alone causes less growth.
 */
const growth = 1.1
const permittedGrowth = 16 * 1024 * 1024

/** Starts a server, sends malformed requests to it, and reports the results. */
export const fuzz = async (options: FuzzOptions): Promise<FuzzReport> => {
  const { store, settings = {} } = options
  const server = await startObserved({
    store,
    options: {
      // With JWT access tokens, the server also parses tokens and verifies signatures.
      accessTokenFormat: 'jwt',
      sweepInterval: 5,
      metricsToken: 'the-token-of-the-metrics',
      ...settings,
    },
  })
  try {
    return await against(server, options)
  } finally {
    await server.stop()
  }
}

const newTestData = async (
  server: ObservedServer,
  seed: number,
  set: number,
): Promise<TestData> => {
  await server.random(seed + set)
  const testData = await server.createTestData(set)
  await server.random(null)
  return testData
}

const against = async (
  server: ObservedServer,
  {
    requests,
    seconds = Number.POSITIVE_INFINITY,
    seed,
    only,
    overloads = false,
    signal,
    onProgress,
  }: FuzzOptions,
): Promise<FuzzReport> => {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document
  const make = requestMaker(seed, document)
  const tally = new Tally()
  let testData = await newTestData(server, seed, 0)
  const numbered = (number: number): FuzzRequest => make(number, testData)
  const sender = new Sender({
    port: server.port,
    make: numbered,
    onEnd: (request, ending) => tally.note(request, ending),
  })
  const probes: [string, Probe][] = [['begin', await server.probe()]]
  const begun = performance.now()
  const elapsed = (): number => (performance.now() - begun) / 1000

  if (only !== undefined) {
    for (let set = 1; set <= Math.floor(only / setSize); set += 1)
      testData = await newTestData(server, seed, set)
    console.log(numbered(only).bytes.toString('latin1'))
    await sender.send(only, only + 1)
  } else {
    // Compare the end with the middle of the run. In the middle, all code has run and bounded caches are full.
    const marks = [0.1, 0.5].map((share) => Math.ceil((requests * share) / setSize) * setSize)
    for (let from = 0; from < requests && elapsed() < seconds; from += setSize) {
      if (from > 0) testData = await newTestData(server, seed, from / setSize)
      await sender.send(from, Math.min(requests, from + setSize))
      if (server.ended !== undefined || signal?.aborted) break
      onProgress?.(tally.total, elapsed())
      if (marks.includes(from + setSize))
        probes.push([`after ${from + setSize}`, await server.probe()])
    }
  }
  const took = elapsed()
  if (server.ended !== undefined) return reportOf(server, { tally, took, probes, statuses: {} })
  const { statuses, withoutRetryAfter } = overloads
    ? await overload(server.port, await newTestData(server, seed, -1))
    : { statuses: {}, withoutRetryAfter: 0 }
  // Wait until the server has closed all connections.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  probes.push(['end', await server.probe()])
  return reportOf(server, { tally, took, probes, statuses, withoutRetryAfter })
}

interface Outcome {
  readonly tally: Tally
  readonly took: number
  readonly probes: readonly [string, Probe][]
  readonly statuses: Readonly<Record<string, number>>
  readonly withoutRetryAfter?: number
}

const reportOf = async (
  server: ObservedServer,
  { tally, took, probes, statuses, withoutRetryAfter = 0 }: Outcome,
): Promise<FuzzReport> => {
  const violations: string[] = []
  if (server.ended !== undefined) violations.push(`The server has ended: ${server.ended}.`)
  if (tally.failureCount > 0)
    violations.push(`${tally.failureCount} requests got a 5xx response or no response.`)
  const { counts, others } = unavailabilityOf(server.complaints)
  for (const { kind, text } of others.slice(0, 20)) violations.push(`${kind}: ${text}`)
  if (others.length > 20) violations.push(`… and ${others.length - 20} more log entries.`)
  // The server logs the reason of each 503.
  const logged = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const received = tally.unavailable + (statuses['503'] ?? 0)
  if (received > logged)
    violations.push(
      `${received} requests got 503, but the log has only ${logged} entries with a known reason.`,
    )
  if (counts['the queue of password hashes is full'] !== (statuses['503'] ?? 0))
    violations.push('The queue of password hashes was also full outside of the overload.')
  if (withoutRetryAfter > 0)
    violations.push(`${withoutRetryAfter} responses with 503 have no Retry-After.`)
  const unexpected = Object.keys(statuses).filter((status) => !/^(?:4\d\d|503)$/.test(status))
  if (unexpected.length > 0)
    violations.push(`The overload caused responses with the status ${unexpected.join(', ')}.`)

  // A short run has no measurement from its middle. Memory at the start is lower, because not all code has run yet.
  const [, warm] = probes.length > 2 ? (probes.at(-2) ?? []) : []
  const [, end] = probes.at(-1) ?? []
  if (warm && end) {
    for (const figure of ['rss', 'heapUsed'] as const) {
      if (end[figure] > warm[figure] * growth + permittedGrowth)
        violations.push(`${figure} has grown from ${warm[figure]} to ${end[figure]} bytes.`)
    }
  }
  if (end && end.connections > 10)
    violations.push(
      `${end.connections} connections are open, although all clients have disconnected.`,
    )
  const rows = server.ended === undefined ? await server.rows() : {}
  return { tally, seconds: took, probes, rows, overload: statuses, unavailable: counts, violations }
}
