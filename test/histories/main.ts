/**
 * Runs random operations on several nodes with random faults, and checks that the histories are linearizable:
 *
 *     npm run histories -- [--minutes 60] [--store sqlite|postgres] [--seed 1] [--calm] [--strict]
 *
 * Prints each violation. Exits with status 1 after a violation, an undecided history or an unexpected response. `--calm`
 * causes no faults. `--strict`: see `strict` in `checker/model.go`.
 */
import { parseArgs } from 'node:util'
import { startCluster } from './cluster.ts'
import { describe, startChecker } from './history.ts'
import { type Report, runHistories } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: '1' },
    strict: { type: 'boolean', default: false },
    calm: { type: 'boolean', default: false },
  },
})
const store = values.store === 'postgres' ? 'postgres' : 'sqlite'
await using checker = await startChecker()
await using cluster = await startCluster(store)
const end = performance.now() + Number(values.minutes) * 60_000
let shown = 0
const show = ({ violations }: Report) => {
  for (const violation of violations.slice(shown)) console.log(`VIOLATION: ${describe(violation)}`)
  shown = violations.length
}
const report = await runHistories({
  cluster,
  checker,
  seed: Number(values.seed),
  hasTroubles: !values.calm,
  strict: values.strict,
  isOver: (soFar) => {
    show(soFar)
    return performance.now() > end
  },
})
show(report)
const { violations, unexpected, undecided, ...counts } = report
for (const line of unexpected) console.log(`UNEXPECTED: ${line}`)
console.log(JSON.stringify(counts, undefined, 2))
console.log(
  `${violations.length} violations, ${undecided} undecided histories, seed ${values.seed}.`,
)
process.exitCode = violations.length + undecided + unexpected.length > 0 ? 1 : 0
