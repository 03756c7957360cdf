/**
 * Finds the regular expressions of `src` that backtrack: for an unfavourable text, their time grows faster than the
 * length of the text. `npm run check` runs this file.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import { parseSync, Visitor } from 'rolldown/utils'

const root = dirname(import.meta.dirname)

/** Reduces the numbers of bounded repetitions, because the checker unrolls each repetition. */
const shortened = (/** @type {string} */ pattern) =>
  pattern.replaceAll(/\{(\d+)(,?)(\d*)\}/g, (_, least, comma, most) => {
    const fewest = Math.min(Number(least), 3)
    const upper = most === '' ? '' : Math.min(Number(most), fewest + 3)
    return `{${fewest}${comma}${upper}}`
  })

/**
 * Returns the reason to refuse a regular expression; undefined if its time is at most proportional to the length of the
 * text. The checker does not support lookahead, lookbehind and back references, so these are refused too.
 * @param {string} pattern
 * @param {string} flags
 */
export const problemOf = async (pattern, flags) => {
  const found = await check(shortened(pattern), flags, { checker: 'automaton', timeout: 60_000 })
  if (found.status === 'safe') return undefined
  const reason =
    found.status === 'vulnerable' ? found.complexity.summary : `not decided (${found.error.kind})`
  return `/${pattern}/${flags} backtracks: ${reason}`
}

/**
 * Returns the regular expressions of a source file with their lines. `dynamic` contains the lines that create one with
 * `RegExp`.
 * @param {string} file
 * @param {string} text
 */
export const expressionsIn = (file, text) => {
  const literals = /** @type {{ pattern: string, flags: string, line: number }[]} */ ([])
  const dynamic = /** @type {number[]} */ ([])
  const lineAt = (/** @type {number} */ at) => text.slice(0, at).split('\n').length
  const note = (/** @type {{ start: number, callee: object }} */ { start, callee }) => {
    if ('name' in callee && callee.name === 'RegExp') dynamic.push(lineAt(start))
  }
  new Visitor({
    Literal(node) {
      if ('regex' in node) literals.push({ ...node.regex, line: lineAt(node.start) })
    },
    NewExpression: note,
    CallExpression: note,
  }).visit(parseSync(file, text).program)
  return { literals, dynamic }
}

/** Returns a sentence for each expression of `src` that the checker refuses. */
export const refusedExpressions = async () => {
  const problems = /** @type {string[]} */ ([])
  const known = /** @type {Map<string, Promise<string | undefined>>} */ (new Map())
  for (const file of globSync(`${root}/src/**/*.ts`)) {
    const name = relative(root, file)
    const { literals, dynamic } = expressionsIn(file, readFileSync(file, 'utf8'))
    for (const line of dynamic) problems.push(`${name}:${line}: write the expression as a literal`)
    for (const { pattern, flags, line } of literals) {
      const key = `${flags}/${pattern}`
      const found = known.get(key) ?? problemOf(pattern, flags)
      known.set(key, found)
      const problem = await found
      if (problem !== undefined) problems.push(`${name}:${line}: ${problem}`)
    }
  }
  return problems
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await refusedExpressions()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}
