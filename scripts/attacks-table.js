/**
 * Generates the table in docs/security.md: each case of test/attacks/catalogue.json with its tests, and their results
 * from test/attacks/results.json.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const begin = '<!-- attacks: written by `npm run reference` -->'
const end = '<!-- /attacks -->'

/** @param {string} path */
const read = (path) => readFileSync(resolve(root, path), 'utf8')

/** @typedef {Record<string, { passed: number, failed: number }>} Ran the results of a case, by vitest project */

/** @returns {readonly { group: string, name: string, cases: Record<string, string> }[]} */
export const catalogue = () => JSON.parse(read('test/attacks/catalogue.json'))

/** Reads the results of each case. @returns {Record<string, Ran>} */
export const results = () => JSON.parse(read('test/attacks/results.json'))

/**
 * Returns a function that finds the test files of a case. The titles of its tests begin with the name of the case.
 * @returns {(name: string) => readonly string[]}
 */
export const filesOfCases = () => {
  const files = globSync('test/{attacks,contracts,rfc}/*.test.ts', { cwd: root }).sort()
  const sources = files.map((path) => ({ path: path.replaceAll('\\', '/'), source: read(path) }))
  return (name) =>
    sources
      .filter(({ source }) => new RegExp(`['"\`]${name} `).test(source))
      .map(({ path }) => path)
}

/** @param {Ran} ran */
const outcome = (ran) => {
  const summarize = (/** @type {{ passed: number, failed: number }[]} */ all) => {
    const sum = (/** @type {'passed' | 'failed'} */ state) =>
      all.reduce((total, one) => total + one[state], 0)
    return `${sum('passed')} passed${sum('failed') > 0 ? `, **${sum('failed')} failed**` : ''}`
  }
  const { nodes, ...here } = ran
  const parts = Object.values(here).length > 0 ? [summarize(Object.values(here))] : []
  return [...parts, ...(nodes ? [`on three nodes ${summarize([nodes])}`] : [])].join('; ')
}

const table = () => {
  const files = filesOfCases()
  const ran = results()
  const rows = catalogue().flatMap(({ cases }) =>
    Object.entries(cases).map(([name, title]) => {
      const links = files(name).map((path) => `[${basename(path, '.test.ts')}](../${path})`)
      return `| ${name} | ${title.replaceAll('|', '\\|')} | ${links.join(', ')} | ${outcome(ran[name] ?? {})} |\n`
    }),
  )
  return `| Case | What | Tests | Result |\n| --- | --- | --- | --- |\n${rows.join('')}`
}

/** Returns the page with the current table. @param {string} page */
export const withAttacks = (page) => {
  const [before, rest = ''] = page.split(begin)
  const after = rest.split(end)[1]
  if (after === undefined) throw new Error(`docs/security.md has no ${begin} and ${end}.`)
  return `${before}${begin}\n\n${table()}\n${end}${after}`
}
