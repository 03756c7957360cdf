import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { settingsReference } from '../../scripts/reference.js'
import { settingsInput } from '../../scripts/settings-input.js'
import { readPage, root } from './markdown.ts'

test('the reference of settings is up to date; to update it, run npm run reference', () => {
  expect(readPage('docs/reference/settings.md')).toBe(settingsReference())
})

test('each setting has a description in its type, which editors show', () => {
  expect(readFileSync(resolve(root, 'src/settings/settings-input.ts'), 'utf8')).toBe(
    settingsInput(),
  )
})

test('the reference lists every variable that the programs read', () => {
  const source = readFileSync(resolve(root, 'src/server/environment/environment.ts'), 'utf8')
  const read = [...source.matchAll(/\benv\.([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name ?? '')
  expect(read.length).toBeGreaterThan(0)
  const page = readPage('docs/reference/settings.md')
  expect(read.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
