import { type Document, openapiSeeds } from '../fuzz/openapi-seeds.ts'
import { seeds } from '../fuzz/seeds.ts'
import { Sender } from '../fuzz/sender.ts'
import { type Shape, wireOf } from '../fuzz/shape.ts'
import { type ObservedServer, startObserved } from '../support/observed-server.ts'
import type { Session, TestData } from '../support/observed-test-data.ts'
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts'
import { declaredParameters, headerPlaces, type Place, placesOf } from './places.ts'
import { type Text, texts } from './texts.ts'

/** A request that costs the server more than `maxRatio` times the processor time of an ordinary request. */
export interface Excess {
  readonly endpoint: string
  readonly place: string
  readonly text: string
  readonly size: number
  readonly status: number | string
  /** Milliseconds of processor time of an ordinary request, and of this request. */
  readonly ordinary: number
  readonly took: number
}

export interface WorkOptions {
  /**
   * The percentage of the texts that are sent in a place whose name occurred in an earlier request.
   */
  readonly percent: number
  /** Whether a place with a new name receives all texts; otherwise every eighth text, which differs between places. */
  readonly isWhole: boolean
  /** The names of the headers that the server reads. */
  readonly headerNames: readonly string[]
  /** The names of the endpoints. Default: all endpoints. */
  readonly only?: RegExp
  readonly onProgress?: (sent: number, all: number) => void
}

export const maxRatio = 3
/**
 * A smaller difference in milliseconds does not count: the measurement is not exact, and a form of 60 KB is parsed more
 * than once.
 */
const noiseOf = (size: number): number => (size > sizes[0] ? 6 : 3)
/** The first size fits into a query and a header, and both sizes fit into a body. */
const sizes = [15_500, 60_000] as const

/** A request in the name of a caller. */
interface Called {
  readonly caller: string
  readonly shape: Shape
}

interface Case extends Called {
  readonly place: Place
  readonly text: Text
  readonly size: number
  readonly isBare: boolean
  readonly ordinary: number
}

/** Returns an ordinary request for each endpoint, format and credential, with as many parameters as possible. */
const ordinaryRequests = (document: Document, testData: TestData): readonly Shape[] => {
  const random = seededRandom(1)
  const fullest = new Map<string, Shape>()
  for (const { seed } of [...seeds, ...openapiSeeds(document)]) {
    for (let draw = 0; draw < 12; draw += 1) {
      const shape = seed(testData, random)
      const path = shape.path.replaceAll(/\d+|[A-Za-z0-9]{30,}/g, '…')
      const key = [shape.endpoint, path, shape.body.kind, credentialIn(shape)].join(' ')
      const known = fullest.get(key)
      if (!known || fieldsIn(shape) > fieldsIn(known)) fullest.set(key, shape)
    }
  }
  return [...fullest.values(), preflight]
}

const preflight: Shape = {
  endpoint: 'preflight',
  method: 'OPTIONS',
  path: '/oauth/token',
  query: [],
  headers: [
    ['Host', 'localhost'],
    ['Origin', 'https://client.example'],
    ['Access-Control-Request-Method', 'POST'],
  ],
  body: { kind: 'none' },
  isAlone: false,
}

const fieldsIn = ({ query, headers, body }: Shape): number =>
  query.length +
  headers.length +
  (body.kind === 'form' ? body.pairs.length : 0) +
  (body.kind === 'json' ? Object.keys(Object(body.value)).length : 0)

const credentialIn = ({ headers }: Shape): string =>
  headers
    .filter(([name]) => /^(?:cookie|authorization|dpop)$/i.test(name))
    .map(([name, value]) => `${name} ${value.slice(0, 6)}`)
    .join()

/** Replaces the session of a request; undefined for a visitor who is not logged in. */
const as = (shape: Shape, from: readonly Session[], to?: Session): Shape => {
  const replaced = (given: string): string => {
    let text = given
    for (const { cookie, csrf, jwt } of from)
      text = text
        .replaceAll(cookie, to?.cookie ?? 'other=1')
        .replaceAll(csrf, to?.csrf ?? 'none')
        .replaceAll(jwt, to?.jwt ?? 'none')
    return text
  }
  const { headers, body } = shape
  return {
    ...shape,
    headers: headers.map(([name, value]) => [name, replaced(value)]),
    body:
      body.kind === 'form'
        ? {
            kind: 'form',
            pairs: body.pairs.map(([name, value]) => [
              name,
              typeof value === 'string' ? replaced(value) : value,
            ]),
          }
        : body,
  }
}

/** Returns the request in the name of each caller: as user, as administrator and without a session. */
const byCallers = (shape: Shape, { session, admin }: TestData): readonly Called[] => {
  const known = [session, admin]
  if (!/cookie/i.test(credentialIn(shape))) return [{ caller: 'no session', shape }]
  return [
    { caller: 'user', shape: as(shape, known, session) },
    { caller: 'administrator', shape: as(shape, known, admin) },
    { caller: 'anonymous', shape: as(shape, known) },
  ]
}

interface Measured {
  /** Milliseconds of processor time. */
  readonly took: number
  readonly status: number | string
}

/** Sends requests one after the other, and measures each of them in the process of the server. */
const measure = async (
  server: ObservedServer,
  count: number,
  shapeAt: (number: number) => Shape,
): Promise<readonly Measured[]> => {
  const statuses = new Map<number, number | string>()
  const sender = new Sender({
    port: server.port,
    connections: 1,
    depth: 1,
    make(number) {
      const { endpoint, ...shape } = shapeAt(number)
      const headers: Shape['headers'] = [...shape.headers, ['X-Measured', `${number}`]]
      const bytes = wireOf({ ...shape, endpoint, headers })
      const isHead = shape.method === 'HEAD'
      return { number, endpoint, kind: 'valid', bytes, isHead, isAlone: false, leaves: false }
    },
    onEnd: ({ number }, { status }) => statuses.set(number, status),
  })
  await sender.send(0, count)
  const costs = await server.costs()
  return Array.from({ length: count }, (_, number) => ({
    took: (costs[number] ?? 0) / 1000,
    status: statuses.get(number) ?? 'none',
  }))
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** Returns the median processor time of each ordinary request, after requests that let the server compile its code. */
const ordinaryTimes = async (
  server: ObservedServer,
  called: readonly Called[],
): Promise<readonly number[]> => {
  const rounds: (readonly Measured[])[] = []
  for (let round = 0; round < 8; round += 1)
    rounds.push(await measure(server, called.length, (number) => (called[number] as Called).shape))
  return called.map((_, index) => median(rounds.slice(3).map((round) => round[index]?.took ?? 0)))
}

const casesOf = (
  called: readonly Called[],
  times: readonly number[],
  document: Document,
  { percent, isWhole, headerNames }: WorkOptions,
): readonly Case[] => {
  const random: SeededRandom = seededRandom(2)
  const known = new Set<string>()
  return called.flatMap(({ caller, shape }, index) => {
    const [method = '', pattern = ''] = shape.endpoint.split(' ')
    const declared = declaredParameters(document, pattern, method.toLowerCase())
    const places = [...placesOf(shape, declared), ...headerPlaces(shape, headerNames)]
    return places.flatMap((place) => {
      const isNew = !known.has(place.name)
      known.add(place.name)
      return texts.flatMap((text, turn) =>
        sizes.flatMap((size, part) => {
          if (!isUseful(place, size, turn)) return []
          if (!isWhole && place.in !== 'header' && (turn + known.size) % 8 !== 0) return []
          if (!isNew && random.below(10_000) >= percent * 100) return []
          const isBare = isNew ? (turn + part) % 2 === 0 : random.chance(50)
          return { caller, shape, place, text, size, isBare, ordinary: times[index] ?? 0 }
        }),
      )
    })
  })
}

/** Sends only some texts as a list, and only some that are longer than a header or a query may be. */
const isUseful = ({ in: where }: Place, size: number, turn: number): boolean =>
  where === 'body' || turn % 5 === 0 || (where !== 'list' && size === sizes[0])

const exceeds = ({ ordinary, size }: Case, took: number): boolean =>
  took > maxRatio * ordinary && took > ordinary + noiseOf(size)

const batch = 500
/** How often a request is repeated whose processor time is too high, because another thread may have caused it. */
const repetitions = 5

/** Sends long texts in every place of every request, and returns the requests that cost too much. */
export const findExcess = async (
  options: WorkOptions,
): Promise<{ readonly excess: readonly Excess[]; readonly sent: number }> => {
  const { only = /./, onProgress } = options
  const server = await startObserved({
    // The server itself must refuse a header that is too long.
    maxHeaderSize: 131_072,
    options: {
      accessTokenFormat: 'jwt',
      acceptUnsignedLeakReports: true,
      metricsToken: 'the-token-of-the-metrics',
      dangerouslyIgnoreLimits: true,
    },
  })
  try {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document
    const testData = await server.createTestData(0)
    const called = ordinaryRequests(document, testData)
      .filter(({ endpoint }) => only.test(endpoint) && !/logout/i.test(endpoint))
      .flatMap((shape) => byCallers(shape, testData))
    const cases = casesOf(called, await ordinaryTimes(server, called), document, options)
    const shapeOf = ({ place, text, size, isBare }: Case) => place.fill(text, size, isBare)
    const suspects: Case[] = []
    for (let from = 0; from < cases.length; from += batch) {
      const part = cases.slice(from, from + batch)
      const results = await measure(server, part.length, (number) => shapeOf(part[number] as Case))
      suspects.push(...part.filter((one, index) => exceeds(one, results[index]?.took ?? 0)))
      onProgress?.(from + part.length, cases.length)
    }
    let excess = suspects.map((one) => ({ one, took: 0, status: '' as number | string }))
    for (let round = 0; round < repetitions && excess.length > 0; round += 1) {
      const before = excess
      const count = before.length
      // Measure the ordinary requests again, because other load on the machine slows both.
      const results = await measure(server, 2 * count, (number) => {
        const { one } = before[number % count] as (typeof before)[number]
        return number < count ? shapeOf(one) : one.shape
      })
      excess = before.flatMap(({ one }, index) => {
        const { took = 0, status = '' } = results[index] ?? {}
        const again = Math.min(results[count + index]?.took ?? 0, 2 * one.ordinary)
        const ordinary = Math.max(one.ordinary, again)
        return exceeds({ ...one, ordinary }, took) ? [{ one, took, status }] : []
      })
    }
    return {
      sent: cases.length,
      excess: excess.map(({ one, took, status }) => ({
        endpoint: `${one.shape.endpoint} (${one.caller})`,
        place: one.place.name,
        text: one.isBare ? one.text.name : `${one.text.name} within a value`,
        size: one.size,
        status,
        ordinary: one.ordinary,
        took,
      })),
    }
  } finally {
    await server.stop()
  }
}
