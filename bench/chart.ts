/**
 * Updates the tables of docs/performance.md and the charts from the results in bench/results: `node bench/chart.ts`.
 * All measured figures of the page are between markers, and this script replaces them.
 */
import { readFile, writeFile } from 'node:fs/promises'
import {
  type ExchangeResults,
  type FootprintResults,
  type GrowthResults,
  growthNames,
  type MemoryResults,
  type PressureResults,
  type Run,
  type StoreResults,
} from './support/results.ts'
import { comparisonChart, growthChart } from './svg.ts'
import {
  aimsTable,
  capacityTable,
  exchangeTable,
  footprintTable,
  growthTable,
  machineTable,
  mainTable,
  memoryTable,
  pressureTable,
  spreadTable,
} from './tables.ts'

const root = new URL('../', import.meta.url)

const read = async <Results>(name: string): Promise<Results | undefined> => {
  try {
    return JSON.parse(await readFile(new URL(`bench/results/${name}.json`, root), 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

const isDefined = <Value>(value: Value | undefined): value is Value => value !== undefined

const leftOut = (results: { readonly leftOut: readonly string[] }): string =>
  results.leftOut.map((line) => `\n\nLeft out: ${line}`).join('')

/** Inserts each text between its markers. */
const fillMarkers = (page: string, texts: Readonly<Record<string, string>>): string =>
  page.replaceAll(
    /(<!-- bench:(\S+) -->\n)[\s\S]*?(<!-- \/bench -->)/g,
    (whole, begin: string, name: string, end: string) => {
      const text = texts[name]
      return text === undefined ? whole : `${begin}\n${text}\n\n${end}`
    },
  )

interface Documents {
  /** The text of docs/performance.md with the tables of the results. */
  readonly page: string
  /** The charts by file name. A chart without results is omitted. */
  readonly charts: Readonly<Record<string, string>>
}

const pagePath = new URL('docs/performance.md', root)

/** Renders the documents from the results. */
export const renderDocuments = async (): Promise<Documents> => {
  const postgres = await read<StoreResults>('postgres')
  const sqlite = await read<StoreResults>('sqlite')
  const footprint = await read<FootprintResults>('footprint')
  const exchanges = await read<ExchangeResults>('exchanges')
  const memory = await read<MemoryResults>('memory')
  const pressure = await read<PressureResults>('pressure')
  const growthPostgres = await read<GrowthResults>('growth-postgres')
  const growthSqlite = await read<GrowthResults>('growth-sqlite')
  const compared = [postgres, sqlite].filter(isDefined)
  const growth = [growthPostgres, growthSqlite].filter(isDefined)

  const texts: Record<string, string> = {}
  for (const results of compared) {
    texts[results.store] = mainTable(results) + leftOut(results)
    texts[`${results.store}-spread`] = spreadTable(results)
    texts[`${results.store}-ratios`] = aimsTable(results)
  }
  if (compared.length > 0) {
    texts.chart = '![Requests a second of each server, against the floor](images/bench.svg)'
    texts.capacity = capacityTable(compared)
  }
  if (footprint) texts.footprint = footprintTable(footprint) + leftOut(footprint)
  if (exchanges) texts.exchanges = exchangeTable(exchanges)
  if (memory) texts.memory = memoryTable(memory)
  if (pressure) texts.pressure = pressureTable(pressure)
  if (growth.length > 0) {
    texts['growth-chart'] =
      '![Cost with more tokens, connections and processes](images/bench-growth.svg)'
    for (const name of growthNames) texts[`growth-${name}`] = growthTable(growth, name)
  }
  const runs: Readonly<Record<string, Run | undefined>> = {
    PostgreSQL: postgres,
    SQLite: sqlite,
    'Start, disk, installation': footprint,
    'Code exchanges': exchanges,
    Memory: memory,
    Pressure: pressure,
    'Growth, PostgreSQL': growthPostgres,
    'Growth, SQLite': growthSqlite,
  }
  const completed = Object.entries(runs).filter((entry): entry is [string, Run] =>
    isDefined(entry[1]),
  )
  if (completed.length > 0) texts.machine = machineTable(Object.fromEntries(completed))

  return {
    page: fillMarkers(await readFile(pagePath, 'utf8'), texts),
    charts: {
      ...(compared.length > 0 && { 'bench.svg': comparisonChart(compared) }),
      ...(growth.length > 0 && { 'bench-growth.svg': growthChart(growth) }),
    },
  }
}

export const writeDocuments = async (): Promise<void> => {
  const { page, charts } = await renderDocuments()
  await writeFile(pagePath, page)
  for (const [name, chart] of Object.entries(charts))
    await writeFile(new URL(`docs/images/${name}`, root), chart)
}

if (import.meta.main) await writeDocuments()
