import { StatementSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { at, Person } from '../pages/settings/support.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { en } from '../support/texts.ts'

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

const lists = [
  at.admin,
  `${at.admin}?client=client&sort=name&filter=unverified`,
  `${at.admin}?filter=confidential&sort=oldest`,
  at.adminTokens,
  `${at.adminTokens}?sort=expires&filter=no_expiry&kind=personal`,
]

const pages = [
  at.list,
  at.tokens,
  `${at.tokens}?q=token+9&sort=name&scope=notes:read`,
  `${at.tokens}?sort=unused&filter=never_used`,
  at.clients,
  `${at.clients}?q=client&sort=name`,
  at.authorized,
  `${at.authorized}?q=client&sort=newest`,
  ...lists,
]

describe('the lists of a user with 1,000 applications and 10,000 tokens', () => {
  const servers: TestServer[] = []
  const people: Person[] = []
  const admins: Person[] = []
  beforeAll(async () => {
    for (const rows of [1_000, 10_000]) {
      const app = await startServer()
      servers.push(app)
      await fill(app, rows)
      people.push(await Person.logIn(app))
      admins.push(await Person.stranger(app, { isAdmin: true }))
    }
  })
  afterAll(() => Promise.all(servers.map((app) => app.close())))
  afterEach(() => void vi.restoreAllMocks())

  test.each(pages)(
    '%s executes the same statements, and reads as many rows, as with a tenth of the entries [T1218]',
    async (path) => {
      const reads = []
      for (const person of lists.includes(path) ? admins : people) {
        const visit = async (): Promise<void> => {
          const page = await person.get(path)
          expect([page.status, page.names.length > 0]).toEqual([200, true])
        }
        await visit()
        // Count twice and use the smaller count, because one of the counts may include a background write.
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

  const linkIn = (html: string, rel: 'prev' | 'next'): string | undefined =>
    new RegExp(`<a class="button quiet" href="([^"]*)" rel="${rel}">`)
      .exec(html)?.[1]
      ?.replaceAll('&amp;', '&')

  test('the first page of a search shows the oldest of 10,000 tokens [T2150]', async () => {
    const [, person] = people
    const page = await person?.get(`${at.tokens}?q=token+0`)
    expect(page?.names).toEqual(['Token 0'])
    expect(linkIn(page?.html ?? '', 'next')).toBeUndefined()
  })

  test('a search without results stops after reading ten times 1,000 entries, and reports this limit [T2151]', async () => {
    const [few, many] = people
    const search = `${at.tokens}?q=nothing+at+all`
    const [short, long] = [await few?.get(search), await many?.get(search)]
    expect(short?.text).toContain(en.list.nothing)
    expect(long?.text).toContain(en.list.nothing)
    await servers[1]?.server.tokens.createPersonal('Newest', servers[1].user.id)
    const page = await many?.get(search)
    expect(page?.text).toContain(en.list.nothingYet)
    expect(page?.text).toContain(en.list.found({ found: '0', all: en.list.entries(10_000) }))
    const last = await many?.get(linkIn(page?.html ?? '', 'next') ?? '')
    expect(last?.text).toContain(en.list.nothing)
    const count = await readsOf(() => Promise.resolve(many?.get(search)))
    const whole = await readsOf(() => Promise.resolve(many?.get(at.tokens)))
    expect(count.statements - whole.statements).toBeLessThan(10)
  })
})
