import { expect } from 'vitest'
import type { Part, PartOf } from '../../src/store/store.ts'

/** The whole list, read in parts of a size from its beginning; `isFiltered` where rows may be left out. */
export const inParts = async <T>(
  read: (part: PartOf) => Promise<Part<T>>,
  limit: number,
  { isFiltered = false }: { readonly isFiltered?: boolean } = {},
): Promise<readonly T[]> => {
  const all: T[] = []
  for (let after: string | null = null, parts = 0; ; parts += 1) {
    expect(parts, 'the list has an end').toBeLessThan(500)
    const { items, next }: Part<T> = await read({ after, limit })
    // Only the last part may have fewer.
    if (next === null || isFiltered) expect(items.length).toBeLessThanOrEqual(limit)
    else expect(items).toHaveLength(limit)
    all.push(...items)
    if (next === null) return all
    after = next
  }
}

/** Cursors that no part gave: each begins at the beginning. */
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
