import { existsSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'
import { testIdsIn } from './test-ids.ts'

interface Row {
  readonly section: string
  readonly requirement: string
  readonly response: string
}

const rowsOf = (text: string): readonly Row[] =>
  [...text.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)]
    .map(([, section = '', requirement = '', response = '']) => ({
      section,
      requirement,
      response,
    }))
    .filter(({ section }) => !['Section', 'Where', '---'].includes(section))

const sectionsOf = (page: string): readonly string[] => page.split(/^## /m).slice(1)

/** The sections that list requirements or promises, with their rows. docs/security.md lists those of RFC 9700. */
const sections = [
  ...sectionsOf(readPage('docs/standards.md')),
  ...sectionsOf(readPage('docs/security.md')).filter((text) => text.startsWith('RFC 9700')),
  ...sectionsOf(readPage('docs/promises.md')),
].map((text) => ({ heading: text.split('\n', 1)[0] ?? '', rows: rowsOf(text) }))

/** Returns the test references of an entry, such as `[file](path): T012, T345`, that do not exist. */
const missing = ({ section, response }: Row): readonly string[] =>
  [...response.matchAll(/\]\(([^)]+\.test\.ts)\)(?:: (T\d{3,4}(?:, T\d{3,4})*))?/g)].flatMap(
    ([, target = '', ids]) => {
      const path = posix.join('docs', target)
      if (!existsSync(resolve(root, path))) return [`${section}: no file ${path}`]
      const known = testIdsIn(path)
      return (ids?.split(', ') ?? [])
        .filter((id) => !known.includes(id))
        .map((id) => `${section}: no test ${id} in ${path}`)
    },
  )

test('every section lists at least three requirements', () => {
  expect(sections.length).toBeGreaterThan(15)
  expect(sections.every(({ rows }) => rows.length > 2)).toBe(true)
})

test('every standard in the table has a section with its requirements', () => {
  const [table = ''] = readPage('docs/standards.md').split('\n# Requirements\n')
  const claimed = [...table.matchAll(/^\| \[(RFC \d+|draft-[a-z0-9-]+|OAuth 2\.1|MCP)/gm)].map(
    ([, standard = '']) => standard,
  )
  expect(claimed.length).toBeGreaterThan(25)
  // These RFCs define key derivation and password hashing, and have no requirements for a server.
  const others = ['RFC 5869', 'RFC 9106']
  const isListed = (standard: string) => sections.some(({ heading }) => heading.includes(standard))
  expect(claimed.filter((standard) => !others.includes(standard) && !isListed(standard))).toEqual(
    [],
  )
})

describe.each(sections)('$heading', ({ rows }) => {
  test('every requirement refers to an existing test or states a reason', () => {
    const unproven = rows
      .filter(({ response }) => !response.includes('.test.ts)') && response.length < 20)
      .map(({ section, requirement }) => `${section} ${requirement}: no test and no reason`)
    expect([...unproven, ...rows.flatMap(missing)]).toEqual([])
  })
})
