import type { Definition, StoreKind } from '../targets.ts'
import type { ExchangeName } from './exchanges.ts'
import type { WorkName } from './works.ts'

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryInGiB: number
  readonly system: string
  readonly node: string
  readonly sqlite: string
  readonly postgres?: string
}

export interface Round {
  readonly requestsPerSecond: number
  /** Microseconds of the server's processor time per request. */
  readonly cpu: number
  /** The 99th percentile of the response times, in milliseconds. */
  readonly p99: number
}

export interface Described extends Pick<Definition, 'name' | 'title' | 'role'> {
  readonly version?: string
}

export interface TargetResults extends Described {
  readonly works: Partial<Record<WorkName, readonly Round[]>>
}

/** The time, command and machine of the measurement. */
export interface Run {
  readonly date: string
  readonly command: string
  readonly machine: Machine
}

/** The contents of a file in `bench/results`: all rounds, from which the tables and charts are generated. */
export interface StoreResults extends Run {
  readonly store: StoreKind
  readonly connections: number
  readonly seconds: number
  readonly targets: readonly TargetResults[]
  /** Servers that were not measured because they failed the check, with the reason. */
  readonly leftOut: readonly string[]
}

export interface ExchangeRound {
  readonly requestsPerSecond: number
  /** Microseconds of the server's processor time per request. */
  readonly cpu: number
  /** Microseconds of PostgreSQL's processor time per request. */
  readonly postgres: number
}

export interface ExchangeResults extends Run {
  readonly connections: number
  /** The number of users who log in. */
  readonly accounts: number
  /** The number of codes of a round. */
  readonly codes: number
  readonly series: readonly (Described & {
    readonly store: StoreKind
    readonly exchanges: Partial<Record<'authorize' | ExchangeName, ExchangeRound[]>>
  })[]
}

/** The footprint of each server with each kind of database: start-up time, disk usage and installation size. */
export interface FootprintResults extends Run {
  readonly footprints: readonly Footprint[]
  readonly leftOut: readonly string[]
}

export interface Footprint extends Described {
  readonly store: StoreKind
  /** For each start, the milliseconds from the start of the process until it listens. */
  readonly startUp: readonly number[]
  /** The number of issued `client_credentials` tokens, and the bytes by which the database has grown. */
  readonly disk?: { readonly tokens: number; readonly bytes: number }
  /** The size of the package with all its dependencies. */
  readonly installed?: { readonly packages: number; readonly bytes: number }
}

/** The bytes of memory in use after a number of requests. */
export interface MemorySample {
  readonly requests: number
  readonly memory: number
}

export interface MemoryResults extends Run {
  readonly series: readonly (Described & {
    readonly store: StoreKind
    readonly work: WorkName
    readonly samples: readonly MemorySample[]
  })[]
}

/** The dimensions of growth: tokens in the database, connections, or processes. */
export const growthNames = ['rows', 'connections', 'processes'] as const
export type GrowthName = (typeof growthNames)[number]

export interface GrowthPoint {
  readonly of: GrowthName
  readonly count: number
  readonly works: Partial<Record<WorkName, readonly Round[]>>
}

export interface GrowthResults extends Run {
  readonly store: StoreKind
  readonly points: readonly GrowthPoint[]
}

/** The conditions of a measurement under pressure. */
export const pressureNames = ['none', 'neighbour', 'disk'] as const
export type PressureName = (typeof pressureNames)[number]

export interface PressureResults extends Run {
  readonly connections: number
  readonly seconds: number
  readonly series: readonly (TargetResults & {
    readonly store: StoreKind
    readonly pressure: PressureName
  })[]
}

export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export const spread = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [below = Number.NaN, above = below] = [
    sorted[Math.ceil(middle) - 1],
    sorted[Math.floor(middle)],
  ]
  return {
    median: (below + above) / 2,
    lowest: sorted[0] ?? Number.NaN,
    highest: sorted.at(-1) ?? Number.NaN,
  }
}

/**
 * Returns the spread over all rounds of one server's requests per second relative to another server. Each round
 * measures both servers, so other load on the machine affects both servers. Returns undefined if a server has no rounds.
 */
export const ratio = (
  of: readonly Round[] | undefined,
  to: readonly Round[] | undefined,
): Spread | undefined => {
  if (!of?.length || !to?.length) return undefined
  const pairs = of.slice(0, to.length).map(({ requestsPerSecond }, index) => {
    return requestsPerSecond / (to[index]?.requestsPerSecond ?? Number.NaN)
  })
  return spread(pairs)
}

export const targetOf = (results: StoreResults, name: string): TargetResults | undefined =>
  results.targets.find((target) => target.name === name)
