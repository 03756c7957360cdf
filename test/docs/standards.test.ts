import { globSync, readFileSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'

/** The rows of the table: standard, part, sources, tests. */
const rows = [...readPage('docs/standards.md').matchAll(/^\| (.*) \|$/gm)]
  .map(([, cells = '']) => cells.split(' | '))
  .filter(([first = '']) => /^\[(?:RFC|OpenID|OAuth 2\.0) /.test(first))

const filesIn = (cell = ''): readonly string[] =>
  [...cell.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => posix.join('docs', target))

const numbersIn = (text = ''): readonly string[] =>
  [...text.matchAll(/RFC (\d{4})/g)].map(([, number = '']) => number)

test.each(rows.map((row) => [/^\[([^\]]+)\]/.exec(row[0] ?? '')?.[1], row] as const))(
  '%s refers to existing sources and tests',
  (_number, row) => {
    expect(row).toHaveLength(4)
    const [, , sources, tests] = row
    for (const cell of [filesIn(sources), filesIn(tests)]) {
      expect(cell.length).toBeGreaterThan(0)
      expect(cell.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([])
    }
    expect(filesIn(sources).every((path) => path.startsWith('src/'))).toBe(true)
    expect(
      filesIn(tests).every((path) => path.startsWith('test/') && path.endsWith('.test.ts')),
    ).toBe(true)
  },
)

test('the table lists every test suite of a standard, and the standard of every extension', () => {
  const suites = globSync('test/rfc/*.test.ts', { cwd: root }).map((path) =>
    path.replaceAll('\\', '/'),
  )
  const named = rows.flatMap(([, , , tests]) => filesIn(tests))
  expect(suites.filter((path) => !named.includes(path))).toEqual([])

  const standards = rows.flatMap(([first]) => numbersIn(first))
  const extensions = globSync('src/protocol/extensions/*.ts', { cwd: root }).flatMap((path) =>
    numbersIn(readFileSync(resolve(root, path), 'utf8').split('\n')[0]),
  )
  expect(extensions.length).toBeGreaterThan(0)
  expect(extensions.filter((number) => !standards.includes(number))).toEqual([])
})
