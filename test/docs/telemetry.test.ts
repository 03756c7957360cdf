import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { auditReference } from '../../scripts/audit-reference.js'
import { logReference } from '../../scripts/log-reference.js'
import { metricsReference } from '../../scripts/metrics-reference.js'
import { events } from '../../src/server/telemetry/events.ts'
import { readSources } from '../support/source-file.ts'
import { readPage, root } from './markdown.ts'

test('the references of the log, metrics and audit log are up to date; to update them, run npm run reference', () => {
  expect(readPage('docs/reference/metrics.md')).toBe(metricsReference())
  expect(readPage('docs/reference/log.md')).toBe(logReference())
  expect(readPage('docs/reference/audit.md')).toBe(auditReference())
})

test('the table of events lists every event that the code logs, with its levels, and no others', () => {
  const entries = readSources().flatMap(({ path }) => {
    const source = readFileSync(resolve(root, 'src', path), 'utf8')
    return [...source.matchAll(/\blog\(\{([\s\S]*?)\}\)/g)].map(([entry]) => entry)
  })
  const textsIn = (entry: string, pattern: RegExp) =>
    [...entry.matchAll(pattern)].map(([, text = '']) => text)
  const found = entries.flatMap((entry) =>
    textsIn(entry, /'([a-z_]+\.[a-z_]+)'/g).map((event) => ({
      event,
      levels: textsIn(entry, /'(debug|info|warn|error)'/g),
    })),
  )
  expect(new Set(found.map(({ event }) => event))).toEqual(new Set(Object.keys(events)))
  for (const { event, levels } of found)
    expect(events[event]?.levels, event).toEqual(expect.arrayContaining(levels))
})

test('the page on observability refers only to existing metrics and labels', () => {
  const reference = readPage('docs/reference/metrics.md')
  const page = readPage('docs/how-to/observability.md')
  const there = new Set(
    [...reference.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name.replaceAll('.', '_')),
  )
  const named = [...page.matchAll(/\b(?:oauth2server|db_client|http)_\w+/g)].map(([name]) => name)
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((name) => !there.has(name))).toEqual([])
  const shown = [...page.matchAll(/oauth2server_event="([^"]+)"/g)].map(([, event = '']) => event)
  expect(shown.filter((event) => !(event in events))).toEqual([])
})
