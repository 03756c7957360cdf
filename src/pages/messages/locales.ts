import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Patterns } from './message-format.ts'

const directory = new URL('../../../locales/', import.meta.url)

/**
 * Loads the texts of each language except English. The build replaces this module with an import of each file, so that a
 * bundle of the application contains the files.
 */
export const locales: ReadonlyMap<string, () => Promise<Patterns>> = new Map(
  readdirSync(directory)
    .sort()
    .map((file) => [
      file.replace('.json', ''),
      async () => JSON.parse(await readFile(new URL(file, directory), 'utf8')),
    ]),
)
