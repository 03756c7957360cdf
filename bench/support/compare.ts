import { type Definition, definitions, type StoreKind } from '../targets.ts'
import { check } from './check.ts'
import type { Databases } from './databases.ts'
import { load } from './load.ts'
import { describe } from './machine.ts'
import type { Round, TargetResults } from './results.ts'
import { Target } from './target.ts'
import { type WorkName, workNames } from './works.ts'

export interface Comparison {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly connections: number
  readonly works: readonly WorkName[]
  /** The names of the servers to measure; empty to measure all servers. */
  readonly only: readonly string[]
}

interface Running {
  readonly definition: Definition
  readonly target: Target
  readonly works: Partial<Record<WorkName, Round[]>>
}

const log = (line: string): void => void process.stderr.write(`${line}\n`)

/** The servers that are measured together on one kind of database. */
export class Compared {
  readonly #running: Running[] = []
  readonly #leftOut: string[] = []
  readonly #comparison: Comparison

  constructor(comparison: Comparison) {
    this.#comparison = comparison
  }

  get leftOut(): readonly string[] {
    return this.#leftOut
  }

  get results(): readonly TargetResults[] {
    return this.#running.map(({ definition, works }) => ({ ...describe(definition), works }))
  }

  async run(store: StoreKind, databases: Databases): Promise<void> {
    const { rounds, seconds, warmUpSeconds, only } = this.#comparison
    const chosen = definitions.filter(
      ({ name, stores }) => stores.includes(store) && (only.length === 0 || only.includes(name)),
    )
    for (const definition of chosen) await this.#start(definition, store, databases)
    log(`${store}: warming up`)
    await this.#round(0, warmUpSeconds)
    for (let round = 1; round <= rounds; round += 1) {
      log(`${store}: round ${round} of ${rounds}`)
      await this.#round(round, seconds)
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map(({ target }) => target.stop()))
  }

  async #start(definition: Definition, store: StoreKind, databases: Databases): Promise<void> {
    const { name, title, file, role, environment } = definition
    log(`${store}: starting ${title}`)
    let target: Target | undefined
    try {
      const at = await databases.make(store)
      const variables = {
        BENCH_STORE: store,
        BENCH_DATABASE: at,
        // Create only a few refresh tokens if refresh requests are not measured. Then only the check needs refresh
        // tokens.
        ...(!this.#comparison.works.includes('refresh') && { BENCH_REFRESH_TOKENS: '2' }),
        ...environment,
      }
      target = await Target.start(name, file, variables)
      if (role !== 'floor') await check(target)
      this.#running.push({ definition, target, works: {} })
    } catch (error) {
      this.#leave(`${title} on ${store}`, error)
      await target?.stop()
    }
  }

  /**
   * Measures each kind of request on one server after the other, so that other load on the machine affects all servers.
   * Round 0 is a warm-up.
   */
  async #round(round: number, seconds: number): Promise<void> {
    const { connections } = this.#comparison
    // Start each round with a different server, so that no server is always measured first.
    const first = round % Math.max(1, this.#running.length)
    const inRotation = [...this.#running.slice(first), ...this.#running.slice(0, first)]
    for (const work of workNames.filter((name) => this.#comparison.works.includes(name))) {
      for (const running of inRotation) {
        const call = running.target.works[work]
        if (!call) continue
        try {
          const { requestsPerSecond, cpu, p99 } = await load(running.target, call, {
            connections,
            seconds,
          })
          if (round === 0) continue
          running.works[work] ??= []
          running.works[work].push({ requestsPerSecond, cpu, p99 })
        } catch (error) {
          this.#leave(`${running.definition.title}, ${work}`, error)
          delete running.works[work]
          delete running.target.works[work]
        }
      }
    }
  }

  #leave(what: string, error: unknown): void {
    const reason = `${what}: ${error instanceof Error ? error.message : error}`
    const [first = reason] = reason.split('\n', 1)
    this.#leftOut.push(first)
    log(`LEFT OUT: ${reason}`)
  }
}
