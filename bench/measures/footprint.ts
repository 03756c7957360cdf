import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { installed } from '../support/closure.ts'
import { type Databases, query } from '../support/databases.ts'
import { load } from '../support/load.ts'
import { describe } from '../support/machine.ts'
import type { Footprint, FootprintResults, Run } from '../support/results.ts'
import { Target } from '../support/target.ts'
import { type Definition, definitions, type StoreKind } from '../targets.ts'

const starts = 5
/** The server issues tokens in steps until it reaches this number or `maxSeconds`. */
const wanted = 100_000
const maxSeconds = 60
const step = 5
const connections = 32

const bytesOf = async (store: StoreKind, at: string): Promise<number> => {
  if (store === 'postgres') {
    const [row] = await query('select pg_database_size(current_database()) as bytes', at)
    return Number(row?.bytes)
  }
  using database = new DatabaseSync(at, { timeout: 5000 })
  database.exec('pragma wal_checkpoint(truncate)')
  const row = database
    .prepare('select page_count * page_size as bytes from pragma_page_count, pragma_page_size')
    .get()
  return Number(row?.bytes)
}

const measureDisk = async (target: Target, store: StoreKind, at: string) => {
  const { token } = target.works
  if (!token) throw new Error('The server cannot issue tokens.')
  const before = await bytesOf(store, at)
  let tokens = 0
  for (let seconds = 0; tokens < wanted && seconds < maxSeconds; seconds += step)
    tokens += (await load(target, token, { connections, seconds: step })).requests
  return { tokens, bytes: (await bytesOf(store, at)) - before }
}

/** Measures start-up times with an existing database, so that the times do not include the creation of the tables. */
const measureStarts = async (
  { name, file }: Definition,
  environment: Readonly<Record<string, string>>,
): Promise<readonly number[]> => {
  const times: number[] = []
  for (let count = 0; count < starts; count += 1) {
    const begun = performance.now()
    const target = await Target.start(name, file, { ...environment, BENCH_SEED: 'off' })
    times.push(performance.now() - begun)
    await target.stop()
  }
  return times
}

const here = fileURLToPath(new URL('..', import.meta.url))

const measure = async (
  definition: Definition,
  store: StoreKind,
  databases: Databases,
): Promise<Footprint> => {
  const { name, file, environment, packages } = definition
  const at = await databases.make(store)
  const variables = { BENCH_STORE: store, BENCH_DATABASE: at, ...environment }
  const target = await Target.start(name, file, variables)
  try {
    const isStored = environment?.BENCH_STORE !== 'memory'
    const disk = isStored && (await measureDisk(target, store, at))
    await target.stop()
    return {
      ...describe(definition),
      store,
      startUp: await measureStarts(definition, variables),
      ...(disk && { disk }),
      ...(packages && { installed: installed(packages, here) }),
    }
  } finally {
    await target.stop()
  }
}

/** Measures start-up time, disk usage and installation size of each server. */
export const measureFootprints = async (
  stores: readonly StoreKind[],
  databases: Databases,
  run: Run,
): Promise<FootprintResults> => {
  const footprints: Footprint[] = []
  const leftOut: string[] = []
  for (const store of stores) {
    for (const definition of definitions) {
      // Skip variants that differ only in their statements or batches, because they have the same footprint.
      if (!definition.stores.includes(store) || /same|alone/.test(definition.name)) continue
      process.stderr.write(`${store}: start, disk and installation of ${definition.title}\n`)
      try {
        footprints.push(await measure(definition, store, databases))
      } catch (error) {
        leftOut.push(`${definition.title} on ${store}: ${error}`)
      }
    }
  }
  return { ...run, footprints, leftOut }
}
