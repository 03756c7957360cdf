/**
 * Load measurements, run by hand: `npm run test:load -- NAME [ARGUMENT…]`. Each prints its figures, and ends with
 * status 1 if anything was lost or failed.
 */
import { readdirSync } from 'node:fs'

const [name = '', ...args] = process.argv.slice(2)
// A measurement is a file in this directory that exports `run`; the others are helpers.
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
