/**
 * Runs a load measurement: `npm run test:load -- NAME [ARGUMENT…]`. Each measurement prints figures, and exits with
 * status 1 if a request failed, data was lost, or a figure exceeds its limit.
 */
import { readdirSync } from 'node:fs'

const [name = '', ...args] = process.argv.slice(2)
// Each measurement is a file in this directory that exports `run`. The other files are helpers.
const helpers = ['main', 'client', 'growth-databases', 'meter', 'servers']
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((file) => !helpers.includes(file))

if (known.includes(name)) {
  const { run } = (await import(`./${name}.ts`)) as {
    run(args: readonly string[]): Promise<boolean>
  }
  process.exitCode = (await run(args)) ? 0 : 1
} else {
  process.stderr.write(`usage: npm run test:load -- ${known.join(' | ')}\n`)
  process.exitCode = 2
}
