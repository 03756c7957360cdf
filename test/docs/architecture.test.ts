import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'

test('ARCHITECTURE.md names every room of src, and every file that stands alone', () => {
  const page = readPage('ARCHITECTURE.md')
  const rooms = readdirSync(`${root}/src`, { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? `[\`${entry.name}/\`](src/${entry.name})` : `(src/${entry.name})`,
  )
  expect(rooms.length).toBeGreaterThan(20)
  expect(rooms.filter((room) => !page.includes(room))).toEqual([])
})
