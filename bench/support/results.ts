import type { Definition, StoreKind } from '../targets.ts'
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
  /** Microseconds of the server's processor time for each request. */
  readonly cpu: number
  /** Milliseconds. */
  readonly p99: number
}

export interface Described extends Pick<Definition, 'name' | 'title' | 'role'> {
  readonly version?: string
}

export interface TargetResults extends Described {
  readonly works: Partial<Record<WorkName, readonly Round[]>>
}

/** How the figures of a file came to be. */
export interface Run {
  readonly date: string
  readonly command: string
  readonly machine: Machine
}

/** What stands in `bench/results`: each round, from which every table and chart is made. */
export interface StoreResults extends Run {
  readonly store: StoreKind
  readonly connections: number
  readonly seconds: number
  readonly targets: readonly TargetResults[]
  /** What did not do what it is measured for, and so is not measured. */
  readonly leftOut: readonly string[]
}

/** What a server takes up, on each kind of database that it was measured on. */
export interface FootprintResults extends Run {
  readonly footprints: readonly Footprint[]
  readonly leftOut: readonly string[]
}

export interface Footprint extends Described {
  readonly store: StoreKind
  /** Milliseconds from the start of the process until it listens, each time. */
  readonly startUp: readonly number[]
  /** What the database grew by for tokens of `client_credentials`. */
  readonly disk?: { readonly tokens: number; readonly bytes: number }
  /** With all that it depends on. */
  readonly installed?: { readonly packages: number; readonly bytes: number }
}

/** Bytes of memory in use after so many requests. */
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

/** What grows: tokens in the database, connections, or processes. */
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

/** Requests a second against those of another server, round by round: what else the machine did then hit both. */
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
