import { describe, expect, test } from 'vitest'
import { catalogue, filesOfCases, results, withAttacks } from '../../scripts/attacks-table.js'
import { looseningWarnings } from '../../src/settings/loosening-warnings.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { readPage } from './markdown.ts'

const cases = catalogue().flatMap((group) => Object.keys(group.cases))
/** Groups whose cases must also run on several nodes. */
const shared = ['CD', 'RF', 'DP', 'PA', 'DV', 'IR', 'FT', 'HT', 'PT']

test('the page quotes the warning of each deviation that the specification requires', () => {
  const page = readPage('docs/security.md')
  const given = { allowedGrantTypes: ['password'], allowedResponseTypes: ['token'] }
  const warnings = looseningWarnings(parseSettings(given))
  expect(warnings).toHaveLength(3)
  expect(warnings.filter((warning) => !page.includes(`| ${warning} |`))).toEqual([])
})

describe('the catalogue of attacks', () => {
  test('lists each case once, by its group and number', () => {
    expect(cases.length).toBeGreaterThan(120)
    expect(new Set(cases).size).toBe(cases.length)
    for (const { group, cases: own } of catalogue())
      for (const name of Object.keys(own)) expect(name).toMatch(new RegExp(`^${group}-\\d{2}$`))
  })

  test('has tests for every case', () => {
    const files = filesOfCases()
    expect(cases.filter((name) => files(name).length === 0)).toEqual([])
    expect(files('ZZ-01')).toEqual([])
  })

  test('every case ran and passed; to run them, use npm run attacks', () => {
    const ran = results()
    const failed = cases.filter((name) => {
      const all = Object.values(ran[name] ?? {})
      return all.every(({ passed }) => passed === 0) || all.some(({ failed: some }) => some > 0)
    })
    expect(failed).toEqual([])
    const alone = cases.filter(
      (name) => shared.includes(name.slice(0, 2)) && !ran[name]?.nodes && !ran[name]?.slow,
    )
    expect(alone).toEqual([])
  })

  test('matches the table on the page; to update it, run npm run reference', () => {
    const page = readPage('docs/security.md')
    expect(withAttacks(page)).toBe(page)
  })
})
