import { postgres } from 'svc-oauth2server/postgres'
import { createTestServer } from 'svc-oauth2server/testing'
import { describe, expect, test } from 'vitest'
import { limitNames, maxPoints, maxSeconds } from '../../src/settings/limit-table.ts'
import { names, settings } from '../../src/settings/settings.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

const withoutPostgres = await lacks('postgres')

/** The range of each numeric setting, from the sentence that states what the setting accepts. */
const ranges = names.flatMap((name) => {
  const [, min, max] = /^an integer from (\d+) to (\d+)$/.exec(settings[name].accepts) ?? []
  return min === undefined ? [] : [{ name, min: Number(min), max: Number(max) }]
})

const settingsAt = (end: 'min' | 'max', beyond = 0) =>
  Object.fromEntries(ranges.map((range) => [range.name, range[end] + beyond]))

const limitsAt = (points: number, seconds: number) => ({
  limits: Object.fromEntries(limitNames.map((name) => [name, { points, seconds }])),
})

const cases = [
  ['all numbers at their min', settingsAt('min')],
  ['all numbers at their max', settingsAt('max')],
  ['all limits at their min', limitsAt(1, 1)],
  ['all limits at their max', limitsAt(maxPoints, maxSeconds)],
] as readonly [string, object][]

/** Logs in, consents, redeems the code, refreshes, and uses the tokens, a session and a personal token. */
const useAll = async (options: object) => {
  await using app = await startServer({ ...options })
  const agent = new UserAgent()
  await agent.logIn(app)
  const client = await TestClient.register(app, agent)
  const tokens = await client.tokens()
  const refreshed = await client.refresh(tokens.refresh_token ?? '')
  const machine = await client.token({ grant_type: 'client_credentials' })
  const personal = await app.personalToken(['notes:read'])
  const pages = ['/account/settings/applications/', '/account/settings/sessions/']
  return {
    refreshed: refreshed.status,
    machine: machine.status,
    bearer: await Promise.all(
      [refreshed.body.access_token, machine.body.access_token, personal].map((token) =>
        statusOf(app, `${token}`),
      ),
    ),
    pages: await Promise.all(
      pages.map(async (path) => (await agent.browse(`${app.issuer}${path}`)).status),
    ),
  }
}

const works = { refreshed: 200, machine: 200, bearer: [200, 200, 200], pages: [200, 200] }

describe('the ends of the range of each number', () => {
  test('every number has a range', () => {
    expect(ranges.length).toBeGreaterThan(20)
  })

  test.each(cases)('SQLite: with %s, everything works [T3420]', async (_, options) => {
    expect(await useAll(options)).toEqual(works)
  })

  test.skipIf(withoutPostgres).each(cases)(
    'PostgreSQL: with %s, everything works [T3421]',
    async (_, options) => {
      const database = await makeDatabase()
      try {
        expect(await useAll({ ...options, store: postgres(database.url) })).toEqual(works)
      } finally {
        await database.drop()
      }
    },
  )

  test.each(['min', 'max'] as const)(
    'beyond their %s, every number is refused by its name [T3422]',
    async (end) => {
      const beyond = settingsAt(end, end === 'min' ? -1 : 1)
      const problem = await createTestServer(beyond).then(() => '', String)
      for (const { name } of ranges) expect(problem).toContain(`${name} (`)
    },
  )

  test.each([
    limitsAt(0, 1),
    limitsAt(1, 0),
    limitsAt(maxPoints + 1, 1),
    limitsAt(1, maxSeconds + 1),
  ])('beyond their range, limits are refused [T3423]', async (options) => {
    expect(await createTestServer(options).then(() => '', String)).toContain('limits (')
  })
})
