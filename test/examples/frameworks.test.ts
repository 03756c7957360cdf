import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const examples = join(import.meta.dirname, '../../examples')
const most = 15
/** Functions that read the caller or the page session in a handler. */
const readers = ['authOf', 'pageOf']

/** Returns the lines of an example that use a name of this package. */
const ours = (name: string): string[] => {
  const folder = join(examples, name, 'src')
  return readdirSync(folder).flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8')
    const lines = source
      .replaceAll(/^import \{[^}]*\}/gm, (names) => names.replaceAll(/\s+/g, ' '))
      .split('\n')
    const imports = lines.filter((line) => /from 'svc-oauth2server/.test(line))
    const names = imports
      .flatMap((line) => line.replace(/^import (?:type )?|\* as | from .*$|[{}]/g, '').split(','))
      .map((word) => word.trim().split(/ as /).at(-1) ?? '')
      .filter((word) => word !== '' && !readers.includes(word))
    const named = new RegExp(`(?<![.\\w/'-])(?:${names.join('|')})\\b`)
    return names.length === 0
      ? []
      : lines.filter((line) => named.test(line) && !/^\s*(?:\/\/|\*|\/\*)/.test(line))
  })
}

test.each(['express', 'fastify', 'hono'])(
  'examples/%s embeds the server in at most 15 lines, apart from the lines that read the caller',
  (name) => {
    const lines = ours(name)
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(most)
  },
)

test('examples/nest embeds the server in at most 15 lines, apart from methods with @Auth()', () => {
  const lines = ours('nest').filter((line) => !/^\s*\w+\(@oauth2\.Auth\(\)/.test(line))
  expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(most)
})

test.each(['express', 'fastify', 'hono', 'nest'])(
  'examples/%s depends on the framework versions that the tests use',
  (name) => {
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
    const root = read(join(examples, '../package.json'))
    const all = { ...root.dependencies, ...root.devDependencies }
    const { dependencies, devDependencies } = read(join(examples, name, 'package.json'))
    const { 'svc-oauth2server': own, ...others } = { ...dependencies, ...devDependencies }
    expect(own).toBe(`^${root.version}`)
    expect(all).toMatchObject(others)
  },
)
