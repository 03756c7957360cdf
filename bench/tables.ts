import { exchangeNames } from './support/exchanges.ts'
import {
  type Described,
  type ExchangeResults,
  type ExchangeRound,
  type FootprintResults,
  type GrowthName,
  type GrowthPoint,
  type GrowthResults,
  type MemoryResults,
  type PressureName,
  type PressureResults,
  type Round,
  type Run,
  ratio,
  type StoreResults,
  spread,
  type TargetResults,
  targetOf,
} from './support/results.ts'
import { type WorkName, workNames } from './support/works.ts'

type Rows = readonly (readonly string[])[]

/**
 * Formats a Markdown table with aligned columns. The first `words` columns contain text, and the other columns contain
 * figures.
 */
export const table = (rows: Rows, { words = 1 } = {}): string => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`
  const rule = widths.map((width, column) =>
    column < words ? '-'.repeat(width) : `${'-'.repeat(Math.max(1, width - 1))}:`,
  )
  const [head = [], ...body] = rows
  return [line(head), `| ${rule.join(' | ')} |`, ...body.map(line)].join('\n')
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en')
export const twoDigits = (value: number): string => value.toFixed(2)
const oneDigit = (value: number): string => value.toFixed(1)

export const medianOf = (rounds: readonly Round[] | undefined, figure: keyof Round): number =>
  spread((rounds ?? []).map((round) => round[figure])).median

export const titleOf = ({ title, version, role }: Described): string =>
  version && role === 'peer' ? title.replace(/(,|$)/, ` ${version}$1`) : title

/** Returns the kinds of requests with results of at least one server. */
const worksOf = ({ targets }: StoreResults): readonly WorkName[] =>
  workNames.filter((work) => targets.some(({ works }) => works[work]?.length))

const perWork = (
  results: StoreResults,
  cell: (target: TargetResults, work: WorkName) => string | undefined,
  names: readonly TargetResults[] = results.targets,
): string => {
  const works = worksOf(results)
  return table([
    ['', ...works],
    ...names.map((target) => [
      titleOf(target),
      ...works.map((work) => (target.works[work]?.length ? (cell(target, work) ?? '') : '')),
    ]),
  ])
}

/** The table of requests per second · ratio to the plain floor · microseconds of processor time per request. */
export const mainTable = (results: StoreResults): string => {
  const floor = targetOf(results, 'floor')
  return perWork(results, (target, work) => {
    const against = ratio(target.works[work], floor?.works[work])
    const figures = [
      whole(medianOf(target.works[work], 'requestsPerSecond')),
      against ? twoDigits(against.median) : '–',
      whole(medianOf(target.works[work], 'cpu')),
    ]
    return figures.join(' · ')
  })
}

/** The table of p99 in milliseconds · lowest and highest ratio of a round. */
export const spreadTable = (results: StoreResults): string => {
  const floor = targetOf(results, 'floor')
  return perWork(results, (target, work) => {
    const against = ratio(target.works[work], floor?.works[work])
    const p99 = oneDigit(medianOf(target.works[work], 'p99'))
    return against ? `${p99} · ${twoDigits(against.lowest)}–${twoDigits(against.highest)}` : p99
  })
}

type Goals = Readonly<Partial<Record<WorkName, number>>>

/** The goals for the requests per second, relative to the floor. */
const floorGoals: Readonly<Record<StoreResults['store'], Goals>> = {
  postgres: { token: 1.2, refresh: 1, introspect: 1.2, resource: 1.5, key: 1.3 },
  sqlite: { token: 1.1, refresh: 0.8, introspect: 0.9, resource: 1.2, key: 0.9 },
}

/** The goals for the requests per second, relative to the best peer on the same store. */
const peerGoals: Goals = { token: 1.5, refresh: 1.5, introspect: 2, resource: 2, key: 10 }

/** The table of the requests per second of svc-oauth2server relative to the other servers, with the goals. */
export const aimsTable = (results: StoreResults): string => {
  const [ours, alone, floor, same] = ['ours', 'ours-alone', 'floor', 'floor-same'].map((name) =>
    targetOf(results, name),
  )
  const works = worksOf(results)
  // Exclude servers that store their data in memory, because they do not use the same store.
  const peers = results.targets.filter(
    ({ name, role }) => role === 'peer' && name !== 'oidc-provider-memory',
  )
  const against = (of: TargetResults | undefined, to: TargetResults | undefined) =>
    works.map((work) => {
      const found = ratio(of?.works[work], to?.works[work])
      return found ? twoDigits(found.median) : ''
    })
  const toBestPeer = works.map((work) => {
    const found = peers
      .map((peer) => ({ peer, times: ratio(ours?.works[work], peer.works[work])?.median }))
      .filter(({ times }) => times !== undefined)
      .toSorted((a, b) => (a.times ?? 0) - (b.times ?? 0))[0]
    return found?.times === undefined ? '' : `${twoDigits(found.times)} (${found.peer.title})`
  })
  const goals = (of: Goals) =>
    works.map((work) => (of[work] === undefined ? '' : twoDigits(of[work])))
  const times = works.map((work) => {
    const goal = floorGoals[results.store][work]
    if (goal === undefined) return ''
    const needed = 1e6 / (goal * medianOf(floor?.works[work], 'requestsPerSecond'))
    return `${whole(medianOf(ours?.works[work], 'cpu'))} · ${whole(needed)}`
  })
  return table([
    ['svc-oauth2server ÷ …', ...works],
    ['floor of our statements (batches off)', ...against(alone, same)],
    ['floor', ...against(ours, floor)],
    ['goal', ...goals(floorGoals[results.store])],
    ['µs for each request · for the goal', ...times],
    ['best peer on the same store', ...toBestPeer],
    ['goal', ...goals(peerGoals)],
  ])
}

export const comparisonTables = (results: StoreResults): string =>
  [
    `\n${results.store}: requests a second · ratio to the floor · µs of processor time for each\n`,
    mainTable(results),
    '\np99 in ms · lowest–highest ratio of a round\n',
    spreadTable(results),
    '\nratios of svc-oauth2server\n',
    aimsTable(results),
    ...results.leftOut.map((line) => `\nLEFT OUT: ${line}`),
  ].join('\n')

const storeTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const
const megabyte = 1e6

/** The table of start-up time, growth of the database, and installation size. */
export const footprintTable = ({ footprints }: FootprintResults): string =>
  table([
    ['', 'start', 'bytes for a token', 'installed', 'packages'],
    ...footprints.map(({ store, startUp, disk, installed, ...target }) => [
      `${titleOf(target)}${disk ? `, ${storeTitles[store]}` : ''}`,
      `${whole(spread(startUp).median)} ms`,
      disk ? whole(disk.bytes / disk.tokens) : '–',
      installed ? `${oneDigit(installed.bytes / megabyte)} MB` : '–',
      installed ? String(installed.packages) : '–',
    ]),
  ])

const exchangeTitles = {
  authorize: 'authorization request',
  code: 'code exchange',
  ES256: 'with an ID token',
} as const

const totalOf = ({ cpu, postgres }: ExchangeRound): number => cpu + postgres

/**
 * The table of requests a second · microseconds of the server's and of PostgreSQL's processor time per request · median
 * ratio of their sum to oidc-provider with the same store.
 */
export const exchangeTable = ({ series }: ExchangeResults): string => {
  const kinds = ['authorize', ...exchangeNames] as const
  return table([
    ['', ...kinds.map((kind) => exchangeTitles[kind])],
    ...series.map((each) => {
      const { store, exchanges, name } = each
      const peer = series.find((other) => other.name === 'oidc-provider' && other.store === store)
      return [
        name.endsWith('-memory') ? titleOf(each) : `${titleOf(each)}, ${storeTitles[store]}`,
        ...kinds.map((kind) => {
          const own = exchanges[kind]
          if (!own?.length) return ''
          const medianOf = (figure: keyof ExchangeRound) =>
            whole(spread(own.map((round) => round[figure])).median)
          const ratios = own.flatMap((round, at) => {
            const other = peer?.exchanges[kind]?.[at]
            return other ? [totalOf(round) / totalOf(other)] : []
          })
          const cpu = [medianOf('cpu'), ...(store === 'postgres' ? [medianOf('postgres')] : [])]
          return [
            medianOf('requestsPerSecond'),
            cpu.join(' + '),
            ratios.length > 0 ? twoDigits(spread(ratios).median) : '–',
          ].join(' · ')
        }),
      ]
    }),
  ])
}

export const memoryTable = ({ series }: MemoryResults): string =>
  table([
    ['', 'requests', 'before', 'highest', 'after'],
    ...series.map(({ store, work, samples, ...target }) => {
      const inMegabytes = (memory: number | undefined) =>
        memory === undefined ? '' : `${whole(memory / megabyte)} MB`
      return [
        `${titleOf(target)}, ${storeTitles[store]}, ${work}`,
        whole(samples.at(-1)?.requests ?? 0),
        inMegabytes(samples[0]?.memory),
        inMegabytes(Math.max(...samples.map(({ memory }) => memory))),
        inMegabytes(samples.at(-1)?.memory),
      ]
    }),
  ])

const pressureTitles: Readonly<Record<PressureName, string>> = {
  none: 'without pressure',
  neighbour: 'busy neighbour',
  disk: 'slow flushes',
}

/**
 * The table of requests per second · p99 in milliseconds · ratio of the p99 to the p99 of the same server without
 * pressure.
 */
export const pressureTable = ({ series }: PressureResults): string => {
  const works = ['token', 'refresh', 'resource'] as const
  return table([
    ['', ...works],
    ...series.map((each) => {
      const calm = series.find(
        ({ name, store, pressure }) =>
          name === each.name && store === each.store && pressure === 'none',
      )
      return [
        `${titleOf(each)}, ${storeTitles[each.store]}, ${pressureTitles[each.pressure]}`,
        ...works.map((work) => {
          const rounds = each.works[work]
          if (!rounds?.length) return ''
          const p99 = medianOf(rounds, 'p99')
          const figures = [whole(medianOf(rounds, 'requestsPerSecond')), oneDigit(p99)]
          if (each.pressure !== 'none')
            figures.push(`× ${oneDigit(p99 / medianOf(calm?.works[work], 'p99'))}`)
          return figures.join(' · ')
        }),
      ]
    }),
  ])
}

const growthWorks = ['token', 'resources', 'refresh'] as const

/**
 * The table of microseconds of processor time · requests per second, for each number of tokens, connections or
 * processes.
 */
export const growthTable = (all: readonly GrowthResults[], of: GrowthName): string =>
  table([
    [
      '',
      ...all.flatMap(({ store }) => growthWorks.map((work) => `${storeTitles[store]}, ${work}`)),
    ],
    ...countsOf(all, of).map((count) => [
      whole(count),
      ...all.flatMap((results) =>
        growthWorks.map((work) => {
          const rounds = pointOf(results, of, count)?.works[work]
          return rounds?.length
            ? `${whole(medianOf(rounds, 'cpu'))} · ${whole(medianOf(rounds, 'requestsPerSecond'))}`
            : ''
        }),
      ),
    ]),
  ])

export const countsOf = (all: readonly GrowthResults[], of: GrowthName): readonly number[] => {
  const counts = all.flatMap(({ points }) => points.filter((point) => point.of === of))
  return [...new Set(counts.map(({ count }) => count))].toSorted((a, b) => a - b)
}

export const pointOf = (
  { points }: GrowthResults,
  of: GrowthName,
  count: number,
): GrowthPoint | undefined => points.find((point) => point.of === of && point.count === count)

/** The assumed mix of a hundred requests, as in docs/operations.md. Redemptions of codes are counted as refreshes. */
const mix = { resource: 90, refresh: 9, token: 1 } as const
const loads = [1_000, 10_000, 100_000]
/** The share of a core's time that the server may use on average. */
const utilization = 0.6

/** The table of processor cores that the server needs for a number of requests per second. */
export const capacityTable = (all: readonly StoreResults[]): string =>
  table([
    ['requests a second', ...all.map(({ store }) => `cores, ${storeTitles[store]}`)],
    ...loads.map((load) => [
      whole(load),
      ...all.map((results) => {
        const ours = targetOf(results, 'ours')
        const cost = (['resource', 'refresh', 'token'] as const).reduce(
          (sum, work) => sum + (medianOf(ours?.works[work], 'cpu') * mix[work]) / 100,
          0,
        )
        return oneDigit((load * cost) / 1e6 / utilization)
      }),
    ]),
  ])

/** The table of the date, the command and the machine of the measurements. */
export const machineTable = (runs: Readonly<Record<string, Run>>): string =>
  table(
    [
      ['Measurement', 'Date', 'Command', 'Machine'],
      ...Object.entries(runs).map(([name, { date, command, machine }]) => [
        name,
        date,
        `\`${command}\``,
        [
          `${machine.cores} cores of ${machine.processor}`,
          `${machine.memoryInGiB} GiB`,
          machine.system,
          `Node ${machine.node}`,
          `SQLite ${machine.sqlite}`,
          ...(machine.postgres ? [`PostgreSQL ${machine.postgres}`] : []),
        ].join(', '),
      ]),
    ],
    { words: 4 },
  )
