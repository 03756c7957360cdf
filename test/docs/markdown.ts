import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export const root: string = resolve(import.meta.dirname, '../..')

export const readPage = (path: string): string => readFileSync(resolve(root, path), 'utf8')

/** A fenced block of a page. */
export interface Block {
  readonly language: string
  readonly text: string
  /** The line of the fence, for messages. */
  readonly line: number
}

export const blocksOf = (page: string): readonly Block[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = '', 2: text = '', index }) => ({
      language,
      text,
      line: page.slice(0, index).split('\n').length,
    }),
  )

/** Returns the files of a page by their paths. The paragraph before the block of a file begins with its path. */
export const filesOf = (page: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...page.matchAll(/^`([\w./+-]+)` (?:[^\n]+\n)+\n```\w+\n([\s\S]*?)^```$/gm)].map(
      ([, path = '', text = '']) => [path, text],
    ),
  )

/** Converts the documented output of a command into a pattern: `…` matches anything within a line. */
export const asPattern = (expected: string): RegExp =>
  new RegExp(`^${expected.trim().split('…').map(RegExp.escape).join('[^\\n]+')}$`)
