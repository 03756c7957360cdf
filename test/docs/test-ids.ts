import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { root } from './markdown.ts'

const ids = new Map<string, readonly string[]>()

/**
 * Returns the IDs of a test file, in the order of the file. An ID such as `[T012]` ends the title of a test or group,
 * so that documents can refer to the test even if its title changes.
 */
export const testIdsIn = (path: string): readonly string[] => {
  const known = ids.get(path)
  if (known) return known
  const source = readFileSync(resolve(root, path), 'utf8')
  const found = [...source.matchAll(/ \[(T\d{3,4})\](?=['"`])/g)].map(([, id = '']) => id)
  ids.set(path, found)
  return found
}

/** Returns the IDs of all test files. */
export const allTestIds = (): readonly string[] =>
  globSync('test/**/*.test.ts', { cwd: root }).flatMap(testIdsIn)
