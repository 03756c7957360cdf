import { globSync, readFileSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { withNeighbours } from '../../scripts/neighbours-table.js'
import {
  type Bound,
  otherShortLivedRows,
  shortLivedKinds,
} from '../../src/records/short-lived-kinds.ts'
import { describeSettings } from '../../src/settings/describe-settings.ts'
import { limitNames, limitTable } from '../../src/settings/limit-table.ts'
import { tables } from '../../src/store/sql/tables.ts'
import { readPage, root } from './markdown.ts'

const folder = 'examples/deploy'
const files = globSync(`${folder}/*`, { cwd: root }).map((path) => path.replaceAll('\\', '/'))
const page = readPage('docs/operations.md')
const reference = readPage('docs/reference/settings.md')
const elsewhere = ['NODE_ENV', 'POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD', 'SITE']

test('the page mentions every template file', () => {
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((path) => !page.includes(`](../${path})`))).toEqual([])
})

test.each(files)('%s sets variables that the programs read', (path) => {
  const names = [...readPage(path).matchAll(/^(?:ENV| *)([A-Z][A-Z0-9_]+)(?:=|: )/gm)]
    .map(([, name = '']) => name)
    .filter((name) => !elsewhere.includes(name))
  expect(names.filter((name) => !reference.includes(`\`${name}\``))).toEqual([])
})

test('the image is built from existing files, and starts the program of the package', () => {
  const containerfile = readPage(`${folder}/Containerfile`)
  const copied = [...containerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, paths = '']) => paths.split(' '),
  )
  expect(copied.length).toBeGreaterThan(5)
  expect(copied.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([])
  const { bin } = JSON.parse(readPage('package.json'))
  const program = posix.join('node_modules/svc-oauth2server', bin['svc-oauth2server'])
  expect(containerfile).toContain(`CMD ["node", "${program}", "serve"]`)
  expect(readPage(`${folder}/svc-oauth2server.service`)).toContain(`/node ${program} serve\n`)
})

test('the limits on the page equal those in the code', () => {
  const default_ = (path: string, name: string) =>
    new RegExp(`\\b${name} = ([\\d_]+)`).exec(readFileSync(resolve(root, path), 'utf8'))?.[1]
  const limit = (what: string) =>
    new RegExp(`^\\| ${what}[^|]*\\| ([\\d,]+)(?= ms| \\|)`, 'm').exec(page)?.[1]?.replace(',', '_')
  const postgres = 'src/store/postgres.ts'
  expect(limit('Connections to PostgreSQL')).toBe(default_(postgres, 'poolSize'))
  expect(limit('Waiting for a connection')).toBe(default_(postgres, 'connectTimeout'))
  expect(limit('A statement in PostgreSQL')).toBe(default_(postgres, 'statementTimeout'))
  expect(limit('Connecting to Redis')).toBe(default_('src/store/redis.ts', 'connectTimeout'))
  expect(limit('A command to Redis')).toBe(
    default_('src/store/redis/client-options.ts', 'responseLimit'),
  )
  expect(limit('`/health/ready`')).toBe(default_('src/server/readiness.ts', 'storeTimeout'))
})

test('the page lists every limit and what it counts', () => {
  const rows = limitNames.map((name) => {
    const { points, seconds, per, sentence } = limitTable[name]
    const number = new Intl.NumberFormat('en').format(points)
    return `| \`${name}\` | ${number} in ${seconds} s | ${per} | ${sentence} |`
  })
  expect(page.split('\n').filter((line) => / in \d+ s \|/.test(line))).toEqual(rows)
})

test('the page lists every kind of short-lived values with its bound [T3508]', () => {
  const number = (value: number) => new Intl.NumberFormat('en').format(value)
  const ruleOf = (bound: Bound): string => {
    if ('per' in bound)
      return `${number(bound.most)} for each ${bound.per} | the first to expire goes`
    if ('each' in bound) return `1 for each ${bound.each} | the new value replaces the old one`
    return `the limit \`${bound.limit}\` | refused with 429`
  }
  const kinds = Object.entries(shortLivedKinds as Readonly<Record<string, Bound>>)
  const rows = kinds.map(
    ([kind, bound]) =>
      `| \`${kind}\` | ${bound.sentence} | ${ruleOf(bound)} | ${number(bound.size)} |`,
  )
  const others = Object.entries(otherShortLivedRows).map(
    ([prefix, sentence]) => `| \`${prefix}\` | ${sentence.replace(': ', ' | ')} | | |`,
  )
  const [, section = ''] = page.split('### Short-lived values\n')
  const shown = (section.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  expect(shown).toEqual([...rows, ...others])
})

test('the bounds on the page equal those of the settings', () => {
  for (const name of [
    'clientsPerUser',
    'personalTokensPerUser',
    'sessionsPerUser',
    'authorizationsPerApplication',
  ]) {
    const number = describeSettings().find((setting) => setting.name === name)?.default
    const shown = new Intl.NumberFormat('en').format(Number(number))
    expect(page).toMatch(new RegExp(`\\| ${shown}\\b[^|]*\\| \`${name}\` \\|`))
  }
})

test('the tables and commands of the page exist', () => {
  const names: readonly string[] = tables.map(({ table }) => table)
  const named = [...page.matchAll(/\boauth2server_\w+/g)].map(([name]) => name)
  expect(named.filter((name) => !names.includes(name))).toEqual([])
  const commands = readPage('docs/reference/command-line.md')
  const used = [...page.matchAll(/`(?:npx )?svc-oauth2server ([a-z-]+)/g)].map(
    ([, command = '']) => command,
  )
  expect(used.length).toBeGreaterThan(1)
  expect(used.filter((command) => !commands.includes(`| \`${command}`))).toEqual([])
})

test('the table of noisy neighbours shows the recorded figures; to update it, run npm run reference', () => {
  expect(withNeighbours(page)).toBe(page)
})
