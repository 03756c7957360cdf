import { expect, test } from 'vitest'
import { renderDocuments } from '../../bench/chart.ts'
import { readPage } from './markdown.ts'

test('every figure of the page on performance is in the recorded results', async () => {
  const { page } = await renderDocuments()
  expect(readPage('docs/performance.md')).toBe(page)
  // Without markers, the test would compare nothing.
  expect(page.match(/<!-- bench:/g)?.length).toBeGreaterThan(8)
})
