import { type ChildProcess, spawn } from 'node:child_process'
import { type Databases, query } from '../support/databases.ts'
import { load } from '../support/load.ts'
import { describe } from '../support/machine.ts'
import type { PressureName, PressureResults, Round, Run } from '../support/results.ts'
import { Target } from '../support/target.ts'
import type { WorkName } from '../support/works.ts'
import { type Definition, definitions, type StoreKind } from '../targets.ts'

const works = ['token', 'refresh', 'resource'] as const
const connections = 32

/** Microseconds that PostgreSQL waits before each flush, to simulate a disk whose flushes take ten milliseconds. */
const flushDelay = 10_000

/** Keeps the core of the measured servers busy until the returned function is called. */
const busyNeighbour = (): (() => void) => {
  const child: ChildProcess = spawn('taskset', ['-c', '0', process.execPath, '-e', 'for(;;){}'], {
    stdio: 'ignore',
  })
  return () => void child.kill('SIGKILL')
}

/** Delays each flush of the database. The setting applies to new connections. */
const slowFlushes = async (at: string): Promise<void> => {
  const name = new URL(at).pathname.slice(1)
  await query(`alter database ${name} set commit_delay = ${flushDelay}`, at)
  // PostgreSQL delays a flush only if at least this number of other transactions is active.
  await query(`alter database ${name} set commit_siblings = 0`, at)
}

interface Point {
  readonly definition: Definition
  readonly pressure: PressureName
  readonly target: Target
  readonly works: Partial<Record<WorkName, Round[]>>
}

/** Measures the servers without pressure, beside a process that uses the same core, and with slow flushes. */
export const measurePressure = async (
  names: readonly string[],
  stores: readonly StoreKind[],
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  databases: Databases,
  run: Run,
): Promise<PressureResults> => {
  const targets: Target[] = []
  let relieve: (() => void) | undefined
  databases.onRemove(async () => {
    relieve?.()
    for (const target of targets.splice(0)) await target.stop()
  })
  const series: PressureResults['series'][number][] = []
  for (const store of stores) {
    const points: Point[] = []
    for (const definition of definitions) {
      const { name, file, environment } = definition
      if (!names.includes(name) || !definition.stores.includes(store)) continue
      const start = async (prepare?: (at: string) => Promise<void>) => {
        const at = await databases.make(store)
        await prepare?.(at)
        const variables = { BENCH_STORE: store, BENCH_DATABASE: at, ...environment }
        const target = await Target.start(name, file, variables)
        targets.push(target)
        return target
      }
      const target = await start()
      points.push({ definition, pressure: 'none', target, works: {} })
      points.push({ definition, pressure: 'neighbour', target, works: {} })
      // SQLite flushes only at checkpoints, so its commits do not wait for the disk.
      if (store === 'postgres')
        points.push({
          definition,
          pressure: 'disk',
          target: await start(slowFlushes),
          works: {},
        })
    }
    for (let round = 0; round <= rounds; round += 1) {
      process.stderr.write(`${store}, pressure: round ${round} of ${rounds}\n`)
      for (const pressure of ['none', 'neighbour', 'disk'] as const) {
        if (pressure === 'neighbour') relieve = busyNeighbour()
        for (const work of works)
          for (const point of points.filter((each) => each.pressure === pressure)) {
            const call = point.target.works[work]
            if (!call) continue
            const measured = await load(point.target, call, {
              connections,
              // Round 0 is a warm-up.
              seconds: round === 0 ? 1 : seconds,
            })
            if (round === 0) continue
            const { requestsPerSecond, cpu, p99 } = measured
            point.works[work] ??= []
            point.works[work].push({ requestsPerSecond, cpu, p99 })
          }
        relieve?.()
        relieve = undefined
      }
    }
    for (const { definition, pressure, works } of points)
      series.push({ ...describe(definition), store, pressure, works })
    for (const target of targets.splice(0)) await target.stop()
  }
  return { ...run, connections, seconds, series }
}
