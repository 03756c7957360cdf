import { expect, test } from 'vitest'
import { apiReference, publicDeclarations } from '../../scripts/api-reference.js'
import { readPage } from './markdown.ts'

// The reference is generated from `dist`, which `npm test` builds if a source file is newer.

const all = publicDeclarations()

test('the reference of the code API is up to date; to update it, run npm run build && npm run reference', () => {
  expect(readPage('docs/reference/api.md')).toBe(apiReference())
})

test('every public declaration, and each method of a public class or interface, has a docstring', () => {
  expect(all.length).toBeGreaterThan(300)
  const missing = all.flatMap(({ file, name, docstring, members }) => [
    ...(docstring === '' ? [`${file}: ${name}`] : []),
    ...members
      .filter((member) => member.docstring === '')
      .map((member) => `${file}: ${name}.${member.name}`),
  ])
  expect(missing).toEqual([])
})

test('no public declaration has a member that only this package calls', () => {
  const codeOf = (name: string) => all.find((one) => one.name === name)?.code ?? ''
  expect(codeOf('Clients')).toContain('  create(')
  expect(codeOf('Clients')).not.toMatch(/insertPersonal|rewritePersonal/)
  expect(codeOf('Users')).toContain('  setPassword(')
  expect(codeOf('Users')).not.toMatch(/hasStill|passwordMark|StoredUser/)
  expect(codeOf('Records')).not.toMatch(/\bStore\b/)
})
