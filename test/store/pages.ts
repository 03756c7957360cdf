import { expect } from 'vitest'
import type { Cursor, Page } from '../../src/store/contract/page.ts'

/**
 * Reads the whole list, page by page. With `isFiltered`, a page before the last may have fewer items than the limit.
 */
export const allPages = async <T>(
  read: (cursor: Cursor) => Promise<Page<T>>,
  limit: number,
  { isFiltered = false }: { readonly isFiltered?: boolean } = {},
): Promise<readonly T[]> => {
  const all: T[] = []
  for (let after: string | null = null, pages = 0; ; pages += 1) {
    expect(pages, 'the list has an end').toBeLessThan(500)
    const { items, next }: Page<T> = await read({ after, limit })
    // Only the last page may have fewer items.
    if (next === null || isFiltered) expect(items.length).toBeLessThanOrEqual(limit)
    else expect(items).toHaveLength(limit)
    all.push(...items)
    if (next === null) return all
    after = next
  }
}

/** Invalid cursors. With each of them, a list starts at the beginning. */
export const brokenCursors: readonly string[] = [
  '',
  ' ',
  '.',
  '1',
  'x.y',
  '-1.a',
  '1e3.a',
  'NaN.a',
  '１.a',
  '1.a b',
  '1.a\n',
  '\n1.a',
  '1.a\u0000',
  '1.ä',
  '1.a.b',
  "1.' or 1=1 --",
  "1.a'); drop table oauth2server_client; --",
  `${'9'.repeat(400)}.a`,
  `1.${'a'.repeat(100_000)}`,
  '__proto__',
  'null',
  'undefined',
]
