import { StatementSync } from 'node:sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'

/** Returns the number of SQL statements that `work` executes. */
const statementsOf = async (work: () => Promise<void>): Promise<number> => {
  const spies = (['all', 'get', 'run', 'iterate'] as const).map((name) =>
    vi.spyOn(StatementSync.prototype, name),
  )
  await work()
  const count = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
  for (const spy of spies) spy.mockRestore()
  return count
}

afterEach(() => void vi.restoreAllMocks())

/**
 * Creates `rows` clients, personal tokens, authorized applications with three devices and a refusal each, and sessions of
 * the user.
 */
const fill = async (t: TestServer, rows: number): Promise<void> => {
  const { server, user } = t
  await server.transaction(async (tx) => {
    for (let row = 0; row < rows; row += 1) {
      const { client } = await tx.clients.create({
        name: `Client ${row}`,
        userId: user.id,
        redirectUris: ['https://client.example/cb'],
      })
      await tx.tokens.createPersonal(`Token ${row}`, user.id, { scopes: ['notes:read'] })
      await tx.consents.grant(user.id, client.clientId, ['notes:read'])
      for (let device = 0; device < 3; device += 1) {
        await tx.tokens.issue({
          type: 'user',
          client,
          subject: user,
          scopes: ['notes:read'],
          refreshable: true,
        })
      }
    }
  })
  const { items } = await server.clients.ofOwner(user.id, { after: null, limit: rows })
  for (const { client } of items)
    await fetch(`${t.issuer}/oauth/authorize?client_id=${client.clientId}&redirect_uri=x`)
  for (let row = 0; row < rows; row += 1) await new UserAgent().logIn(t)
}

const pages = [
  '/account/settings/applications/',
  '/account/settings/applications/clients/new/',
  '/account/settings/applications/tokens/new/',
  '/account/settings/sessions/',
  '/account/settings/activity/',
  '/admin/overview/',
  '/admin/applications/',
  '/admin/applications/?client=Client&sort=name&filter=unverified',
  '/admin/applications/CLIENT/',
  '/admin/tokens/',
  '/admin/tokens/?token=user-a%40example.org&kind=personal&filter=no_expiry&sort=unused',
  '/admin/activity/',
  '/admin/users/',
  '/admin/users/?user=user-a',
  '/admin/users/ID/',
  '/admin/activity/?event=token.issued&user=user-a%40example.org',
]

test('the number of SQL statements for a page does not depend on the number of rows', async () => {
  const counts = async (rows: number): Promise<readonly number[]> => {
    await using t = await startServer()
    const { id } = await t.server.users.create({
      email: 'admin@example.org',
      password: t.password,
      isAdmin: true,
    })
    await fill(t, rows)
    const { clientId } = await t.client({ name: 'Client' })
    const own = new UserAgent()
    await own.logIn(t)
    const admin = new UserAgent()
    await admin.logIn({ ...t, user: { ...t.user, id, email: 'admin@example.org' } })
    const found: number[] = []
    for (const page of pages) {
      const browser = page.startsWith('/admin') ? admin : own
      const visit = async (): Promise<void> => {
        const path = page.replace('ID', `${t.user.id}`).replace('CLIENT', clientId)
        const response = await browser.fetch(`${t.issuer}${path}`)
        expect(response.status, page).toBe(200)
        if (rows > 1 && /\/(?:admin|applications|tokens)\/$/.test(page)) {
          // The overview lists ten applications.
          const shown = page === '/admin/overview/' ? 10 : rows
          expect((await response.text()).split('Client ').length, page).toBeGreaterThan(shown)
        }
      }
      // Use the smaller of two numbers, because events of the logins may be written during one of the visits.
      found.push(Math.min(await statementsOf(visit), await statementsOf(visit)))
    }
    return found
  }
  const [few, many] = [await counts(1), await counts(20)]
  expect(few.every((count) => count > 0)).toBe(true)
  expect(many).toEqual(few)
})
