import { StatementSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { at, Person } from '../pages/settings/support.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Returns the number of SQL statements that `work` executes, and the number of rows that they return. */
const readsOf = async (
  work: () => Promise<unknown>,
): Promise<{ statements: number; rows: number }> => {
  const spies = (['all', 'get', 'run', 'iterate'] as const).map((name) =>
    vi.spyOn(StatementSync.prototype, name),
  )
  await work()
  const statements = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
  const rows = (spies[0]?.mock.results ?? []).reduce(
    (sum, { value }) => sum + (Array.isArray(value) ? value.length : 0),
    0,
  )
  for (const spy of spies) spy.mockRestore()
  return { statements, rows }
}

const fill = async ({ server, user }: TestServer, rows: number): Promise<void> => {
  const batch = 200
  for (let from = 0; from < rows; from += batch) {
    await server.transaction(async (tx) => {
      for (let row = from; row < Math.min(rows, from + batch); row += 1) {
        await tx.tokens.createPersonal(`Token ${row}`, user.id, { scopes: ['notes:read'] })
        if (row % 10 > 0) continue
        const { client } = await tx.clients.create({
          name: `Client ${row}`,
          userId: user.id,
          redirectUris: ['https://client.example/cb'],
        })
        await tx.consents.grant(user.id, client.clientId, ['notes:read'])
        const redemption = { type: 'user', client, subject: user, scopes: ['notes:read'] } as const
        await tx.tokens.issue({ ...redemption, refreshable: true })
      }
    })
  }
}

const pages = [
  at.list,
  at.tokens,
  `${at.tokens}?q=token+9&sort=name&scope=notes:read`,
  `${at.tokens}?sort=unused&filter=never_used`,
  at.clients,
  `${at.clients}?q=client&sort=name`,
  at.authorized,
  `${at.authorized}?q=client&sort=newest`,
]

describe('the lists of a user with 1,000 applications and 10,000 tokens', () => {
  const servers: TestServer[] = []
  const people: Person[] = []
  beforeAll(async () => {
    for (const rows of [1_000, 10_000]) {
      const app = await startServer()
      servers.push(app)
      await fill(app, rows)
      people.push(await Person.logIn(app))
    }
  }, 180_000)
  afterAll(() => Promise.all(servers.map((app) => app.close())))
  afterEach(() => void vi.restoreAllMocks())

  test.each(pages)(
    '%s executes as many statements, and reads as many rows, as with a tenth of them [T1218]',
    async (path) => {
      const reads = []
      for (const person of people) {
        const visit = async (): Promise<void> => {
          const page = await person.get(path)
          expect([page.status, page.names.length > 0]).toEqual([200, true])
        }
        await visit()
        // A delayed write in the background can meet one of the two counts.
        const counts = [await readsOf(visit), await readsOf(visit)]
        reads.push({
          statements: Math.min(...counts.map(({ statements }) => statements)),
          rows: Math.min(...counts.map(({ rows }) => rows)),
        })
      }
      const [few, many] = reads
      expect(many?.statements).toBe(few?.statements)
      // The list of 1,000 applications reads ten times as many rows as the list of 100, and no list reads more than 1,001.
      expect(many?.rows).toBeLessThan(1_200)
    },
  )

  test('the last of the 10,000 tokens can be reached and found', async () => {
    const [, person] = people
    let page = await person?.get(`${at.tokens}?q=token+0`)
    let searches = 1
    for (; page && !page.names.includes('Token 0'); searches += 1) {
      const next = /<a class="button quiet" href="([^"]*)" rel="next">/.exec(page.html)?.[1]
      page = await person?.get(next?.replaceAll('&amp;', '&') ?? '')
    }
    expect(searches).toBeLessThanOrEqual(10)
    const back = /<a class="button quiet" href="([^"]*)" rel="prev">/.exec(page?.html ?? '')?.[1]
    expect((await person?.get(back?.replaceAll('&amp;', '&') ?? ''))?.status).toBe(200)
  }, 30_000)
})
