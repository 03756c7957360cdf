import { existsSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'
import { allTestIds, testIdsIn } from './test-ids.ts'

const specification = readPage('docs/specification.md')

interface TestReference {
  readonly path: string
  /** The ID at the end of a test title: `[T012]`. */
  readonly id: string
}

interface Row {
  readonly id: string
  readonly statement: string
  readonly sources: readonly string[]
  readonly tests: readonly TestReference[]
  readonly note: string
}

const page = readPage('docs/spec-coverage.md')

const linksIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => posix.join('docs', target))

const testsIn = (cell: string): readonly TestReference[] =>
  cell
    .split('<br>')
    .filter((line) => line !== '')
    .map((line) => {
      const [, target = '', id = ''] =
        /^\[[^\]]+\]\(([^)]+)\): (T\d{3,4})$/.exec(line) ?? expect.fail(`not a test: ${line}`)
      return { path: posix.join('docs', target), id }
    })

const rows: readonly Row[] = [...page.matchAll(/^\| `([^`]+)` +\| (.*) \|$/gm)].map(
  ([line, id = '', rest = '']) => {
    const cells = rest.split(/(?<!\\)\|/).map((cell) => cell.trim())
    expect(cells, line).toHaveLength(4)
    const [statement = '', sources = '', tests = '', note = ''] = cells
    return { id, statement, sources: linksIn(sources), tests: testsIn(tests), note }
  },
)

const sections: Readonly<Record<string, string>> = {
  'What the service does': 'does',
  'States and transitions': 'states',
  'Other records': 'records',
  Errors: 'error',
}

const tables: Readonly<Record<string, string>> = {
  'Grant type': 'grant ',
  Item: 'limit ',
  Name: 'config ',
}

const slug = (text: string): string =>
  text
    .replaceAll(/\([^)]*\)/g, '')
    .replaceAll(/[`,]/g, '')
    .trim()
    .replaceAll(/ +/g, '-')

/**
 * Returns an ID for every statement of the specification in order: numbered and nested items, list items, table rows
 * and the sentences in between.
 */
const statementsOf = (text: string): readonly string[] => {
  const ids: string[] = []
  let section = 'intro'
  let sentences = 0
  let item = ''
  let letter = 0
  let table: string | undefined
  for (const line of text.split('\n')) {
    const [, heading] = /^##+ (.*)$/.exec(line) ?? []
    const [, cell] = /^\| ([^|]*?) \|/.exec(line) ?? []
    const [, number] = /^(\d+)\. /.exec(line) ?? []
    const [, inner] = /^ +(\d+)\. /.exec(line) ?? []
    if (cell !== undefined) {
      if (table !== undefined) ids.push(table + slug(cell))
      else if (cell === 'Field' || cell === 'Attribute') table = `${section}.`
      else table = tables[cell] ?? `${cell.toLowerCase()} `
      continue
    }
    if (line.startsWith('|')) continue
    table = undefined
    if (heading !== undefined) {
      section = sections[heading] ?? slug(heading).toLowerCase()
      sentences = 0
    } else if (number !== undefined) {
      item = section === 'does' ? `does-${number}` : `${section}-rule-${number}`
      letter = 0
      ids.push(item)
    } else if (inner !== undefined) {
      ids.push(`${item}.${inner}`)
    } else if (/^ +- /.test(line)) {
      ids.push(`${item}.${'abcdefgh'[letter]}`)
      letter += 1
    } else if (line !== '' && !line.startsWith('#') && !line.endsWith(':')) {
      const parts = line.startsWith('- ') ? [line] : line.split(/(?<=\.) (?=[A-Z`{])/)
      for (const _ of parts) {
        sentences += 1
        ids.push(`${section}-${sentences}`)
      }
    }
  }
  return ids
}

const isThere = (path: string): boolean => existsSync(resolve(root, path))

test('the table has one row for each statement of the specification, in the same order', () => {
  const statements = statementsOf(specification)
  expect(statements.length).toBeGreaterThan(150)
  expect(rows.map(({ id }) => id)).toEqual(statements)
  expect(new Set(statements).size).toBe(statements.length)
})

test.each(rows)('$id refers to existing sources and tests', (row) => {
  const { statement, sources, tests, note } = row
  expect(statement).not.toBe('')
  expect(sources.filter((path) => !path.startsWith('src/') || !isThere(path))).toEqual([])
  expect(tests.filter(({ path }) => !path.startsWith('test/') || !isThere(path))).toEqual([])
  expect(tests.filter(({ path, id }) => !testIdsIn(path).includes(id))).toEqual([])
  if (sources.length === 0 || tests.length === 0)
    expect(note).toMatch(/^(?:Later|Nothing to build): /)
})

test('no two tests have the same ID', () => {
  const ids = allTestIds()
  expect(ids.length).toBeGreaterThan(700)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

test('the deviations above the table equal those in the table', () => {
  const [, list = ''] = /\n## Deviations\n([\s\S]*?)\n## /.exec(page) ?? []
  const listed = [...list.matchAll(/^- ([^:]+):/gm)].flatMap(([, ids = '']) =>
    [...ids.matchAll(/`([^`]+)`/g)].map(([, id]) => id),
  )
  const noted = rows.filter(({ note }) => note.startsWith('Otherwise: ')).map(({ id }) => id)
  expect(noted.length).toBeGreaterThan(0)
  expect(listed.toSorted()).toEqual(noted.toSorted())
})
