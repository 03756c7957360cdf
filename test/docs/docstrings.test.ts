import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/processes.ts'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>
}

/** The line of an export, or of a member of an exported class or interface. */
interface Line {
  readonly at: string
  readonly hasDocstring: boolean
}

const linesOf = (path: string): readonly string[] =>
  readFileSync(join(root, path), 'utf8').split('\n')

const lineAt = (path: string, lines: readonly string[], index: number): Line => {
  const isIgnored = lines[index - 1]?.trim().startsWith('// biome-ignore') ?? false
  return {
    at: `${path}: ${lines[index]?.trim()}`,
    hasDocstring: lines[index - (isIgnored ? 2 : 1)]?.trim().endsWith('*/') ?? false,
  }
}

const declared =
  /^export (?:declare )?(?:abstract )?(?:async )?(const|function|class|interface|type) (\w+)/

// A constructor is described by its class. A property is described only if its name and type are not enough.
const method = /^ {2}(?:static |async |get )*(?!constructor\b)([a-z]\w*)\??(?:<.*>)?\(/

/** Returns the declaration of an export with the methods of a class or interface; a type and a value are one export. */
const declarations = (path: string, name: string): readonly Line[] => {
  const lines = linesOf(path)
  const found = lines.flatMap((line, index) => (declared.exec(line)?.[2] === name ? [index] : []))
  if (found.length > 0) {
    const own = found.map((index) => lineAt(path, lines, index))
    const documented = own.find(({ hasDocstring }) => hasDocstring) ?? own[0]
    const members = found.flatMap((start) => {
      if (!/^export (?:abstract )?(?:class|interface) .*\{$/.test(lines[start] ?? '')) return []
      const end = lines.indexOf('}', start)
      return lines.flatMap((line, index) =>
        index > start && index < end && method.test(line) ? [lineAt(path, lines, index)] : [],
      )
    })
    return [...(documented ? [documented] : []), ...members]
  }
  return exportsOf(path).flatMap(({ from, original, exported }) =>
    exported === name ? declarations(from, original) : [],
  )
}

/** Returns the exports that a file takes from other files of the package. */
const exportsOf = (path: string) => {
  const text = linesOf(path).join('\n')
  return [...text.matchAll(/export (?:type )?\{([^}]*)\} from '(\.[^']+)'/g)].flatMap(
    ([, names = '', from = '']) =>
      names.split(',').flatMap((part) => {
        const [original, exported = original] = part
          .trim()
          .replace(/^type /, '')
          .split(' as ')
        return original ? [{ from: join(dirname(path), from), original, exported }] : []
      }),
  )
}

test('every export of the package, and each of its methods, has a docstring', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry.types !== undefined
      ? [entry.types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')]
      : [],
  )
  const all = entries.flatMap((path) => [
    ...linesOf(path).flatMap((line) => declarations(path, declared.exec(line)?.[2] ?? '')),
    ...exportsOf(path).flatMap(({ from, original }) => declarations(from, original)),
  ])
  expect(all.length).toBeGreaterThan(250)
  expect(all.filter(({ hasDocstring }) => !hasDocstring).map(({ at }) => at)).toEqual([])
})
