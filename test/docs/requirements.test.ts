import { existsSync, readFileSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'

interface Row {
  readonly section: string
  readonly requirement: string
  readonly answer: string
}

const rowsOf = (text: string): readonly Row[] =>
  [...text.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)]
    .map(([, section = '', requirement = '', answer = '']) => ({ section, requirement, answer }))
    .filter(({ section }) => !['Section', 'Where', '---'].includes(section))

const sectionsOf = (page: string): readonly string[] => page.split(/^## /m).slice(1)

/** The sections that list requirements, or promises, each by its heading; RFC 9700 has its page. */
const sections = [
  ...sectionsOf(readPage('docs/standards.md')),
  ...sectionsOf(readPage('docs/security.md')).filter((text) => text.startsWith('RFC 9700')),
  ...sectionsOf(readPage('docs/promises.md')),
].map((text) => ({ heading: text.split('\n', 1)[0] ?? '', rows: rowsOf(text) }))

const sources = new Map<string, string>()
const sourceOf = (path: string): string => {
  const source = sources.get(path) ?? readFileSync(resolve(root, path), 'utf8')
  sources.set(path, source)
  return source
}

// What stands in a list of arguments or of cases; an apostrophe of a comment begins none.
const texts = /(?<=[([,]\s*)(['"`])((?:\\.|(?!\1)[^\\\n])*)\1(?=\s*[,)\]])/g

/** The titles of a file's tests, and of the cases in their tables; where a value is put in, anything fits. */
const titlesIn = (path: string): readonly RegExp[] =>
  [...sourceOf(path).matchAll(texts)].flatMap(([, , title = '']) => {
    const parts = title
      .replaceAll(/\\(['"`])/g, '$1')
      .split(/\$\{[^}]*\}|%[.\d]*[sdijof#]|\$[a-zA-Z][\w.]*/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    // One that is all value would fit everything.
    return parts.join('').length < 5 ? [] : [new RegExp(`^${parts.join('(?:(?!; ).)+')}$`)]
  })

/** The first of the parts that is no title. A title may have semicolons itself, so the longest one counts. */
const unknownIn = (parts: readonly string[], titles: readonly RegExp[]): string | undefined => {
  const [first] = parts
  if (first === undefined) return undefined
  for (let length = parts.length; length > 0; length -= 1) {
    const title = parts.slice(0, length).join('; ')
    if (titles.some((known) => known.test(title))) return unknownIn(parts.slice(length), titles)
  }
  return first
}

/** The text whole, and without the sentences that some rows say behind their titles. */
const endings = (text: string): readonly string[] =>
  [...text.matchAll(/\.? *[;,]? *$|\. (?=[A-Z])/g)]
    .map(({ index }) => text.slice(0, index))
    .toReversed()

/** What an answer names, and does not exist. */
const missing = ({ section, answer }: Row): readonly string[] =>
  [...answer.matchAll(/\]\(([^)]+\.test\.ts)\)(?:: ([^[]*))?/g)].flatMap(
    ([, target = '', named]) => {
      const path = posix.join('docs', target)
      if (!existsSync(resolve(root, path))) return [`${section}: no file ${path}`]
      if (named === undefined) return []
      const unknown = endings(named).map((titles) => unknownIn(titles.split('; '), titlesIn(path)))
      if (unknown.includes(undefined)) return []
      return [`${section}: no test "${unknown.at(-1)}" in ${path}`]
    },
  )

test('every standard that clients of today use has its requirements listed', () => {
  expect(sections.length).toBeGreaterThan(15)
  expect(sections.every(({ rows }) => rows.length > 2)).toBe(true)
})

test('every standard of the table has its requirements listed', () => {
  const [table = ''] = readPage('docs/standards.md').split('\n# Requirements\n')
  const claimed = [...table.matchAll(/^\| \[(RFC \d+|draft-[a-z0-9-]+|OAuth 2\.1|MCP)/gm)].map(
    ([, standard = '']) => standard,
  )
  expect(claimed.length).toBeGreaterThan(25)
  // They derive keys and hash passwords, and speak of no server.
  const others = ['RFC 5869', 'RFC 9106']
  const isListed = (standard: string) => sections.some(({ heading }) => heading.includes(standard))
  expect(claimed.filter((standard) => !others.includes(standard) && !isListed(standard))).toEqual(
    [],
  )
})

describe.each(sections)('$heading', ({ rows }) => {
  test('every requirement has a test of that title, or a reason', () => {
    const unproven = rows
      .filter(({ answer }) => !answer.includes('.test.ts)') && answer.length < 20)
      .map(({ section, requirement }) => `${section} ${requirement}: neither`)
    expect([...unproven, ...rows.flatMap(missing)]).toEqual([])
  })
})
