/**
 * Compares this server with other libraries (peers), and all of them with a minimal server (the floor): `npm run
 * bench`. docs/performance.md explains the figures.
 *
 *     npm run bench                          three rounds of four seconds for each kind of request, then --footprint
 *     npm run bench -- --quick               one round of one second for two kinds of requests; writes nothing
 *     npm run bench -- --footprint           start-up time, disk and installation size of each server
 *     npm run bench -- --memory              the memory of this server and the floor during two million requests
 *     npm run bench -- --growth [--rows N]   the cost with more tokens, connections and processes
 *     npm run bench -- --exchanges           authorization requests, and code exchanges with and without ID tokens
 *     npm run bench -- --waits               how often each kind of request waits for PostgreSQL; writes nothing
 *     npm run bench -- --pressure            the cost beside a busy process, and with slow flushes of the disk
 *
 * Every run except `--quick` writes to bench/results, and then updates the tables of docs/performance.md and the
 * charts. PostgreSQL runs at TEST_POSTGRES_URL, or in a cluster that scripts/with-services.ts starts.
 *
 * `--store`, `--target` and `--work` select a part of the measurements. The comparison, `--exchanges` and `--pressure`
 * then print incomplete results instead of writing them.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeDocuments } from './chart.ts'
import { measureExchanges } from './measures/exchanges.ts'
import { measureFootprints } from './measures/footprint.ts'
import { measureMemory } from './measures/memory.ts'
import { measurePressure } from './measures/pressure.ts'
import { Compared, type Comparison } from './support/compare.ts'
import { Databases, postgresVersion } from './support/databases.ts'
import { describeMachine } from './support/machine.ts'
import { meetRequirements } from './support/requirements.ts'
import type { Run, StoreResults } from './support/results.ts'
import { type WorkName, workNames } from './support/works.ts'
import { comparisonTables, exchangeTable, pressureTable } from './tables.ts'
import type { StoreKind } from './targets.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    footprint: { type: 'boolean', default: false },
    memory: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    exchanges: { type: 'boolean', default: false },
    pressure: { type: 'boolean', default: false },
    waits: { type: 'boolean', default: false },
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    store: { type: 'string', multiple: true },
    target: { type: 'string', multiple: true, default: [] },
    work: { type: 'string', multiple: true },
  },
})
const { quick, target: only, store: chosen, work } = values
const isWork = (name: string): name is WorkName => workNames.includes(name as WorkName)
const comparison: Comparison = {
  rounds: Number(values.rounds ?? (quick ? 1 : 3)),
  seconds: Number(values.seconds ?? (quick ? 1 : 4)),
  warmUpSeconds: 1,
  connections: 32,
  works: (work ?? (quick ? ['token', 'resource'] : workNames)).filter(isWork),
  only,
}

const databases = new Databases()
let compared: Compared | undefined
const cleanUp = async (): Promise<void> => {
  await compared?.stop()
  await databases.remove()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanUp().finally(() => process.exit(130)))

const write = async (name: string, results: object): Promise<void> => {
  const path = fileURLToPath(new URL(`results/${name}.json`, import.meta.url))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, JSON.stringify(results, null, 2))
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'))
  execFileSync(process.execPath, [biome, 'format', '--write', path], { stdio: 'ignore' })
  await writeDocuments()
}

const compare = async (store: StoreKind, run: Run): Promise<StoreResults> => {
  compared = new Compared(comparison)
  try {
    await compared.run(store, databases)
    const { connections, seconds } = comparison
    const { results: targets, leftOut } = compared
    return { ...run, store, connections, seconds, targets, leftOut }
  } finally {
    await cleanUp()
  }
}

const footprint = async (stores: readonly StoreKind[], run: Run): Promise<void> => {
  const results = await measureFootprints(stores, databases, run)
  for (const reason of results.leftOut) process.stderr.write(`LEFT OUT: ${reason}\n`)
  if (results.leftOut.length > 0) process.exitCode = 1
  await write('footprint', results)
}

const compareAll = async (stores: readonly StoreKind[], run: Run): Promise<void> => {
  const isPart = quick || only.length > 0 || work !== undefined
  for (const store of stores) {
    const results = await compare(store, run)
    console.log(comparisonTables(results))
    if (results.leftOut.length > 0) process.exitCode = 1
    if (!isPart) await write(store, results)
  }
  if (!isPart) await footprint(stores, run)
}

try {
  meetRequirements()
  const hasPostgres = (await postgresVersion()) !== undefined
  if (!hasPostgres)
    process.stderr.write('No PostgreSQL is available, so only SQLite is measured.\n')
  const all: readonly StoreKind[] = hasPostgres ? ['sqlite', 'postgres'] : ['sqlite']
  const stores = all.filter((store) => !chosen || chosen.includes(store))
  const run: Run = {
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--'] : [])]
      .concat(process.argv.slice(2))
      .join(' '),
    machine: await describeMachine(),
  }
  if (values.footprint) {
    await footprint(stores, run)
  } else if (values.memory) {
    const names = only.length > 0 ? only : ['floor', 'ours']
    await write('memory', await measureMemory(stores, names, databases, run))
  } else if (values.exchanges) {
    const rounds = Number(values.rounds ?? 5)
    const results = await measureExchanges(stores, { rounds, only, databases, run })
    console.log(exchangeTable(results))
    if (!chosen && only.length === 0) await write('exchanges', results)
  } else if (values.waits) {
    const { measureSerialWaits } = await import('../test/support/serial-waits.ts')
    console.table(Object.fromEntries(await measureSerialWaits(await databases.make('postgres'))))
  } else if (values.pressure) {
    const names = only.length > 0 ? only : ['floor', 'ours', 'node-oauth']
    const results = await measurePressure(names, stores, comparison, databases, run)
    console.log(pressureTable(results))
    if (only.length === 0 && !chosen) await write('pressure', results)
  } else if (values.growth) {
    const { measureGrowth } = await import('./measures/growth.ts')
    const rows = [10_000, ...(Number(values.rows) > 1e6 ? [1e6] : []), Number(values.rows)]
    for (const store of stores) {
      await write(`growth-${store}`, await measureGrowth(store, rows, databases, run))
      await cleanUp()
    }
  } else {
    await compareAll(stores, run)
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
} finally {
  await cleanUp()
}
