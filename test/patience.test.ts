import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

// A fixed time that suffices on an idle machine is too short on a busy one. Tests wait for a condition, a count or an
// order instead, or compare with a control in the same run.

/** This file, the directories of load generators and helpers, and the files that run alone. */
const ignored =
  /^patience|^(?:clients|differential|fuzz|histories|load|soak|support|work)\/|\/fixtures\/|-slow\.test\.ts$/

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !ignored.test(path))
  .map((path) => ({ path, text: readFileSync(join(import.meta.dirname, path), 'utf8') }))

/** Returns the lines that wait for a fixed time, except polls and lines after a comment with the reason. */
const fixedTimes = (text: string): readonly string[] => {
  const aliases = [...text.matchAll(/import \{ setTimeout as (\w+) \} from 'node:timers/g)]
  const names = ['setTimeout', 'waitForTimeout', ...aliases.map(([, alias = '']) => alias)]
  const waits = new RegExp(`\\b(?:${names.join('|')})\\(`)
  const lines = text.split('\n')
  return lines.filter(
    (line, index) =>
      waits.test(line) &&
      !/^\s*(?:\/\/|\*|(?:while|for) \(|const \w+ = setTimeout\()|'setTimeout/.test(line) &&
      !/\/\/ Fixed time: /.test(lines[index - 1] ?? ''),
  )
}

/** Returns the assertions of an upper limit, in milliseconds, for a measured time. */
const timeLimits = (text: string): readonly string[] => {
  const measured = [...text.matchAll(/(\w+)(?::| =| \+=) [^\n]*performance\.now\(\)/g)]
  const names = ['performance', ...measured.map(([, name = '']) => name)]
  const limit = new RegExp(`expect\\(.*\\b(?:${names.join('|')})\\b.*\\)\\.toBeLessThan\\w*\\(\\d`)
  return text.split('\n').filter((line) => limit.test(line))
}

test('no test waits for a fixed time without a reason [T4350]', () => {
  const found = files.flatMap(({ path, text }) =>
    fixedTimes(text).map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
  expect(
    fixedTimes("import { setTimeout as rest } from 'node:timers/promises'\nawait rest(50)"),
  ).toEqual(['await rest(50)'])
})

test('no test asserts a limit in milliseconds of a measured time [T4351]', () => {
  const found = files.flatMap(({ path, text }) =>
    timeLimits(text).map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
  const example = 'const took = performance.now() - began\nexpect(took).toBeLessThan(5_000)'
  expect(timeLimits(example)).toHaveLength(1)
})
