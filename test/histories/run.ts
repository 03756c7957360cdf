import { seededRandom } from '../support/seeded-random.ts'
import { runCell } from './cell.ts'
import type { Cluster, Troubles } from './cluster.ts'
import type { Checker, Verdict } from './history.ts'

export interface RunOptions {
  readonly cluster: Cluster
  readonly checker: Checker
  readonly seed: number
  /** Whether to kill, pause and cut off nodes, and to restart PostgreSQL. */
  readonly hasTroubles: boolean
  /** The number of cells that run concurrently. Default: 4. */
  readonly width?: number
  /** The number of operations of each of the four workers of a cell. Default: 25. */
  readonly length?: number
  /** See `CellOptions`. Default: 40. */
  readonly rests?: number
  /** See `Rules`. Default: false. */
  readonly strict?: boolean
  /** Returns whether the run ends. Called after each cell. */
  readonly isOver: (report: Report) => boolean
}

export interface Report {
  cells: number
  operations: number
  /** The number of operations by name and answer. */
  readonly answers: Record<string, number>
  readonly troubles: Troubles
  readonly violations: Verdict[]
  /** The number of cells whose check took too long. */
  undecided: number
  /** Responses that no request may get. */
  readonly unexpected: string[]
}

/** Runs cells with random operations until the run is over, and checks the history of each cell. */
export const runHistories = async ({
  cluster,
  checker,
  seed,
  hasTroubles,
  width = 4,
  length = 25,
  rests = 40,
  strict = false,
  isOver,
}: RunOptions): Promise<Report> => {
  const report: Report = {
    cells: 0,
    operations: 0,
    answers: {},
    troubles: {},
    violations: [],
    undecided: 0,
    unexpected: [],
  }
  const end = new AbortController()
  const troubles = hasTroubles && cluster.trouble(seededRandom(seed), end.signal, report.troubles)
  const started = Date.now().toString(36)
  let next = 1
  const lane = async () => {
    while (!end.signal.aborted) {
      const number = next
      next += 1
      const random = seededRandom(seed, number)
      const name = `${started}-${number}`
      const options = { name, length, rests, signal: end.signal }
      const { operations, unexpected } = await runCell(cluster, random, options)
      const verdict = await checker.check(operations, { ...cluster.rules, strict })
      report.cells += 1
      report.operations += operations.length
      report.unexpected.push(...unexpected)
      for (const { do: name, answer } of operations) {
        const kind = `${name}: ${answer}`
        report.answers[kind] = (report.answers[kind] ?? 0) + 1
      }
      if (verdict.result === 'violation') report.violations.push(verdict)
      if (verdict.result === 'undecided') report.undecided += 1
      if (isOver(report)) end.abort()
    }
  }
  try {
    await Promise.all(Array.from({ length: width }, lane))
  } finally {
    end.abort()
    await troubles
  }
  return report
}
