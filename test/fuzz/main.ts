/**
 * Sends malformed requests to a server, and reports the responses:
 *
 *     npm run test:fuzz -- [--requests N] [--seconds S] [--seed X] [--store sqlite|postgres] [--set '{"…": …}'] [--only NUMBER]
 *
 * The report lists violations: for instance an unexpected 5xx response, a request without a response, an error in the
 * log, or memory that still grows in the second half. Exits with status 1 if there is a violation.
 * `--seed X --only NUMBER` repeats a failing request. Ctrl-C stops the run early and prints its report.
 */
import { parseArgs } from 'node:util'
import { print } from './report.ts'
import { fuzz } from './run.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'sqlite' },
    // Settings of the server as JSON.
    set: { type: 'string', default: '{}' },
    only: { type: 'string' },
  },
})
const { requests, seconds, seed, store, set, only } = values

const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
let shown = 0
const report = await fuzz({
  requests: Number(requests),
  seed: Number(seed),
  store: store === 'postgres' ? 'postgres' : 'sqlite',
  settings: JSON.parse(set),
  overloads: only === undefined,
  signal: interrupted.signal,
  ...(seconds !== undefined && { seconds: Number(seconds) }),
  ...(only !== undefined && { only: Number(only) }),
  onProgress(answered, elapsed) {
    if (elapsed - shown < 10) return
    shown = elapsed
    console.log(`${answered} requests in ${Math.round(elapsed)} s`)
  },
})
print(report)
process.exitCode = report.violations.length === 0 ? 0 : 1
