import { expect, test } from 'vitest'
import { renderDocuments } from '../../bench/chart.ts'
import { readPage } from './markdown.ts'

test('every figure of the page on performance stands in the results of a run', async () => {
  const { page } = await renderDocuments()
  expect(readPage('docs/performance.md')).toBe(page)
  // Without markers, nothing would have been compared.
  expect(page.match(/<!-- bench:/g)?.length).toBeGreaterThan(8)
})
