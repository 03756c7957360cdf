import { describe, expect, test } from 'vitest'
import { limitNames, limitTable } from '../../src/settings/limit-table.ts'
import { looseningWarnings } from '../../src/settings/loosening-warnings.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { settingsFrom } from '../../src/settings/settings-from-environment.ts'

const given = (text: string) => settingsFrom({ OAUTH2SERVER_LIMITS: text }).limits

describe('OAUTH2SERVER_LIMITS', () => {
  test('changes the given limits, but not the defaults of other limits', () => {
    expect(given('wrongTokens=5000/60, wrongPasswords=500/600')).toEqual({
      wrongTokens: { points: 5_000, seconds: 60 },
      wrongPasswords: { points: 500, seconds: 600 },
    })
    expect(given('')).toEqual({})
    expect(parseSettings({}).limits).toEqual({})
  })

  test.each([
    'wrongTokens',
    'wrongTokens=5000',
    'wrongTokens=0/60',
    'wrongTokens=60/0',
    'wrongTokens=-1/60',
    'wrongTokens=1/86401',
    'wrong=1/60',
    'wrongUserCodes=1/60',
    '__proto__=1/60',
    'wrongTokens=1/60;wrongPasswords=1/60',
  ])('refuses to start with %s, and lists the accepted values', (text) => {
    expect(() => given(text)).toThrow('OAUTH2SERVER_LIMITS accepts a comma-separated list')
  })

  test('rejects invalid limits in code', () => {
    expect(() => parseSettings({ limits: { wrong: { points: 1, seconds: 1 } } })).toThrow('limits')
    expect(() => parseSettings({ limits: { wrongTokens: { points: 1 } } })).toThrow('limits')
    expect(() => parseSettings({ limits: { wrongTokens: { points: 0, seconds: 1 } } })).toThrow()
  })
})

test('dangerouslyIgnoreLimits causes a warning at start-up', () => {
  expect(looseningWarnings(parseSettings({})).join()).not.toContain('Limits')
  expect(looseningWarnings(parseSettings({ dangerouslyIgnoreLimits: true })).join()).toContain(
    'Limits',
  )
})

test('the default of every limit is at least 20 in ten minutes, except for wrong passwords and links of one account', () => {
  const ofOneAccount =
    /^(?:wrongPasswordsOfAccount|guessesOfAccount|wrongPasswordsOfKnownBrowser|userLinks)$/
  for (const name of limitNames.filter((each) => !ofOneAccount.test(each))) {
    const { points, seconds } = limitTable[name]
    expect((points / seconds) * 600).toBeGreaterThanOrEqual(20)
  }
})
