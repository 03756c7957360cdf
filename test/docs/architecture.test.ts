import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'

test('ARCHITECTURE.md lists every directory and file at the top level of src', () => {
  const page = readPage('ARCHITECTURE.md')
  const links = readdirSync(`${root}/src`, { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? `[\`${entry.name}/\`](src/${entry.name})` : `(src/${entry.name})`,
  )
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((link) => !page.includes(link))).toEqual([])
})
