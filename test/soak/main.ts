/**
 * Loads a server at half of its capacity, with mixed grants and short lifetimes. Checks that memory, connections,
 * timers and rows do not accumulate.
 *
 *     npm run test:soak -- [--seconds 600] [--store sqlite|postgres] [--set '{"…": …}']
 *
 * Exits with status 1 if the memory at the end exceeds 1.2 times the memory after the first minute. Also exits with
 * status 1 if a resource leaks, a table grows, a step fails, or the server logs an error.
 */
import { parseArgs } from 'node:util'
import { soak } from './run.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    store: { type: 'string', default: 'sqlite' },
    // The settings of the server as JSON.
    set: { type: 'string', default: '{}' },
  },
})
const wrong = await soak({
  seconds: Number(values.seconds),
  store: values.store === 'postgres' ? 'postgres' : 'sqlite',
  settings: JSON.parse(values.set),
  say: (line) => console.log(line),
})
for (const line of wrong) console.log(`VIOLATION: ${line}`)
console.log(wrong.length === 0 ? 'Nothing is wrong.' : `${wrong.length} violations.`)
process.exitCode = wrong.length === 0 ? 0 : 1
