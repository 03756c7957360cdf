/**
 * Generates the table in docs/operations.md of response times while other clients overload the server. The figures come
 * from test/load/neighbours/results.json, which `npm run test:load -- neighbours --record` writes.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const begin = '<!-- neighbours: written by `npm run reference` -->'
const end = '<!-- /neighbours -->'

/** @typedef {{ requests: number, p50: number, p99: number, max: number, failed: number }} Figures */
/**
 * @typedef {object} Result
 * @property {string} title
 * @property {'sqlite' | 'postgres'} store
 * @property {Figures} undisturbed
 * @property {Figures} during
 * @property {number} ratio
 * @property {{ p99: number, ratio: number }} [control]
 * @property {{ kind: string, undisturbed: Figures, during: Figures }} [attacked]
 */

/** @returns {{ machine?: string, date?: string, command?: string, results: readonly Result[] }} */
const recorded = () =>
  JSON.parse(readFileSync(resolve(root, 'test/load/neighbours/results.json'), 'utf8'))

const stores = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
/** The names of the kinds of attacked requests in the table. */
const kinds = /** @type {Record<string, string>} */ ({
  login: 'logins from known browsers',
  registration: 'registrations of other networks',
  document: 'client documents of other networks',
})

/** @param {Figures} figures */
const failed = ({ failed, requests }) => (failed === 0 ? 'none' : `${failed} of ${requests}`)

/** @param {Result} result */
const row = ({ title, store, undisturbed, during, ratio, control, attacked }) => {
  const other = attacked ? `; ${kinds[attacked.kind]}: ${failed(attacked.during)}` : ''
  const cells = [
    title,
    stores[store],
    `${undisturbed.p99} ms`,
    `${during.p99} ms`,
    ratio,
    control ? `${control.ratio} (${control.p99} ms)` : '–',
    `${during.max} ms`,
    `${failed(during)}${other}`,
  ]
  return `| ${cells.join(' | ')} |\n`
}

const table = () => {
  const { machine, date, command, results } = recorded()
  if (results.length === 0) return 'Not measured yet.\n'
  const titles = [
    'Abuse',
    'Store',
    'p99 without',
    'p99 with',
    'Ratio',
    'Control',
    'Slowest',
    'Failed',
  ]
  const head = [titles, titles.map(() => '---')]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
  return `Measured on ${date} with ${machine}, by \`${command}\`:\n\n${head}${results.map(row).join('')}`
}

/** Returns the page with the table of the recorded figures. @param {string} page */
export const withNeighbours = (page) => {
  const [before, rest = ''] = page.split(begin)
  const after = rest.split(end)[1]
  if (after === undefined) throw new Error(`docs/operations.md has no ${begin} and ${end}.`)
  return `${before}${begin}\n\n${table()}\n${end}${after}`
}
