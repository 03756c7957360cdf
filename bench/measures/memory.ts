import type { Databases } from '../support/databases.ts'
import { load } from '../support/load.ts'
import { describe } from '../support/machine.ts'
import type { MemoryResults, MemorySample, Run } from '../support/results.ts'
import { Target } from '../support/target.ts'
import { definitions, type StoreKind } from '../targets.ts'

const requests = 1_000_000
const seconds = 10
const connections = 32

/** Measures the memory of servers during a million resource requests, and then during a million token requests. */
export const measureMemory = async (
  stores: readonly StoreKind[],
  names: readonly string[],
  databases: Databases,
  run: Run,
): Promise<MemoryResults> => {
  const series: MemoryResults['series'][number][] = []
  for (const store of stores) {
    for (const definition of definitions) {
      const { name, file, environment } = definition
      if (!names.includes(name) || !definition.stores.includes(store)) continue
      const at = await databases.make(store)
      const variables = { BENCH_STORE: store, BENCH_DATABASE: at, ...environment }
      const target = await Target.start(name, file, variables)
      for (const work of ['resource', 'token'] as const) {
        const call = target.works[work]
        if (!call) continue
        const samples: MemorySample[] = [{ requests: 0, memory: (await target.usage()).memory }]
        for (let sent = 0; sent < requests; ) {
          const measured = await load(target, call, { connections, seconds })
          sent += measured.requests
          samples.push({ requests: sent, memory: measured.memory })
          process.stderr.write(`${store}: ${name} ${work} ${sent}: ${measured.memory} bytes\n`)
        }
        series.push({ ...describe(definition), store, work, samples })
      }
      await target.stop()
    }
  }
  return { ...run, series }
}
