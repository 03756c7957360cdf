import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizationOf } from '../../support/tokens.ts'
import { at, type Page, Person, textOf } from './support.ts'

let app: TestServer
let admin: Person
beforeAll(async () => {
  app = await startServer()
  admin = await Person.stranger(app, { isAdmin: true })
})
afterAll(() => app.close())

const linesOf = (page: Page): readonly string[] => page.items.map(textOf)

/** Returns the event and the subject that each line of the page shows. */
const eventsOf = (page: Page): readonly string[] =>
  linesOf(page).map((line) => line.replace(/(?: …\w{4})? When .*/, ''))

interface Json {
  readonly events: readonly Record<string, unknown>[]
  readonly next: string | null
}

const asJson = async (somebody: Person, path: string): Promise<Json> => {
  const headers = { accept: 'application/json', authorization: `Bearer ${somebody.session.jwt}` }
  const { status, html } = await somebody.get(path, headers)
  expect(status).toBe(200)
  return JSON.parse(html) as Json
}

describe('the recent activity of a user', () => {
  test('shows the actions of the user and on the account, latest first, but no action of another user', async () => {
    const [one, other] = [await Person.stranger(app), await Person.stranger(app)]
    app.advance(60)
    await one.post(at.newToken, { name: 'Backup' })
    app.advance(60)
    await other.post(at.newToken, { name: 'Theirs' })
    const shown = await one.get(at.activity)
    expect(eventsOf(shown)).toEqual([
      `${en.events['personal_token.created']} Backup`,
      en.events['login.succeeded'],
      en.events['user.created'],
    ])
    expect(linesOf(shown)[0]).toContain(`${en.activity.from} 127.0.0.1`)
    expect(shown.html).not.toContain('Theirs')
    expect(shown.html).not.toContain(other.user.email)
  })

  test('shows a failed login', async () => {
    const somebody = await Person.stranger(app)
    app.advance(1)
    await app.server.users.withPassword(somebody.user.email, 'a wrong password')
    await vi.waitFor(
      async () => {
        const [first] = eventsOf(await somebody.get(at.activity))
        expect(first).toBe(en.events['login.failed'])
      },
      { timeout: 60_000, interval: 100 },
    )
  })

  test('shows actions of administrators without the e-mail address and IP address of the administrator', async () => {
    const somebody = await Person.stranger(app)
    const { clientId } = await app.client({ name: 'Judged', userId: somebody.user.id })
    await admin.post(at.admin, { client_id: clientId, act: 'disable' })
    const shown = await somebody.get(at.activity)
    const [line = ''] = linesOf(shown)
    expect(line).toContain(`${en.events['client.disabled']} Judged`)
    expect(line).toContain(en.activity.somebodyElse)
    expect(line).not.toContain('127.0.0.1')
    expect(shown.html).not.toContain(admin.user.email)
    const { events } = await asJson(somebody, at.activity)
    expect(events[0]).toMatchObject({
      event: 'client.disabled',
      actor: 'another_user',
      address: null,
      user_agent: null,
    })
    expect(JSON.stringify(events)).not.toContain(admin.user.email)
  })

  test('names a deleted token, to its user and to administrators [T2841]', async () => {
    const somebody = await Person.stranger(app)
    const ends: readonly [(id: number) => Promise<unknown>, keyof typeof en.events][] = [
      [(id) => somebody.post(at.token(id), { delete: 'yes' }), 'personal_token.deleted'],
      [(id) => admin.post(at.admin, { token_id: String(id), act: 'delete' }), 'token.deleted'],
    ]
    for (const [end, event] of ends) {
      const create = app.server.tokens.createPersonal('Backup', somebody.user.id)
      const { id, accessToken } = await create
      await end(id)
      const title = `${en.events[event]} Backup …${accessToken.slice(-4)}`
      expect(linesOf(await somebody.get(at.activity))[0]).toContain(title)
      const all = await admin.get(`${at.adminActivity}?token=${id}`)
      expect(linesOf(all)[0]).toContain(title)
    }
  })

  test('names the revoked token of an application by its last four characters, for every way to revoke it [T3173]', async () => {
    const somebody = await Person.stranger(app)
    const { clientId, clientSecret } = await app.client({ name: 'Printer' })
    const issued = () => authorizationOf({ ...app, user: somebody.user }, clientId)
    const revoke = (token: string) =>
      fetch(`${app.issuer}/oauth/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, token }),
      })
    type Issued = Awaited<ReturnType<typeof issued>>
    const ways: readonly ((tokens: Issued) => Promise<unknown>)[] = [
      ({ token }) => somebody.post(`${at.token(token.id)}revoke/`),
      ({ accessToken }) => revoke(accessToken),
      ({ refreshToken }) => revoke(refreshToken ?? ''),
      ({ token }) => app.server.tokens.revoke(token),
    ]
    for (const end of ways) {
      const tokens = await issued()
      app.advance(1)
      await end(tokens)
      const [line] = linesOf(await somebody.get(at.activity))
      const ending = tokens.accessToken.slice(-4)
      expect(line).toContain(`${en.events['token.revoked']} Printer …${ending}`)
    }
  })

  test('shows that a search found no event, instead of showing that no event exists [T3172]', async () => {
    const somebody = await Person.stranger(app)
    const { text, items } = await somebody.get(`${at.activity}?until=2001-01-01`)
    expect(items).toEqual([])
    expect(text).toContain(en.admin.noEvents)
    expect(text).not.toContain(en.activity.none)
  })

  test('omits routine events of programs, and events of internal tokens', async () => {
    const somebody = await Person.stranger(app)
    const { clientId } = await app.client({ userId: somebody.user.id })
    const client = await app.server.clients.find(clientId)
    if (!client) throw new Error('There is no client.')
    await app.server.tokens.issue({ type: 'client', client, subject: client.owner, scopes: [] })
    app.advance(1)
    const { id } = await app.server.tokens.createPersonal('Hidden', somebody.user.id, {
      isInternal: true,
    })
    await app.server.personalTokens.rotate(id)
    const token = await app.server.tokens.get(id)
    if (token) await app.server.tokens.revoke(token)
    const shown = await somebody.get(at.activity)
    expect(shown.html).not.toContain('Hidden')
    expect(eventsOf(shown)[0]).toBe(`${en.events['client.created']} Client`)
    // Administrators see the events of internal tokens.
    const routine = async () => {
      const all = await asJson(admin, `${at.adminActivity}?user=${somebody.user.id}`)
      return all.events.filter(({ is_routine }) => is_routine).map(({ event }) => event)
    }
    await vi.waitFor(
      async () =>
        expect(await routine()).toEqual([
          'personal_token.deleted',
          'personal_token.rotated',
          'personal_token.created',
        ]),
      { timeout: 60_000, interval: 100 },
    )
  })

  test('shows administrators the numbers of routine events of the last 24 hours [T1706]', async () => {
    const { clientId } = await app.client({ name: 'Busy' })
    const client = await app.server.clients.find(clientId)
    if (!client) throw new Error('There is no client.')
    const issue = async (times: number) => {
      for (let index = 0; index < times; index += 1)
        await app.server.tokens.issue({ type: 'client', client, subject: null, scopes: [] })
    }
    await issue(2)
    const path = `${at.adminActivity}?client=${clientId}`
    const count = { event: 'token.issued', grant_type: null, client_id: clientId, count: 2 }
    expect(await asJson(admin, path)).toMatchObject({ routine: [count] })
    await issue(1)
    expect(await asJson(admin, path)).toMatchObject({ routine: [{ ...count, count: 3 }] })
    const shown = await admin.get(path)
    expect(shown.html).toContain(en.admin.routine)
    const other = await asJson(
      admin,
      `${at.adminActivity}?client=${clientId}&event=token.refreshed`,
    )
    expect(other).toMatchObject({ routine: [] })
  })

  test('has pages of 25 events, in HTML and in JSON', async () => {
    const somebody = await Person.stranger(app)
    for (let index = 0; index < 28; index += 1)
      await app.client({ name: `Number ${index}`, userId: somebody.user.id })
    const names: string[] = []
    let path: string | null = at.activity
    while (path !== null) {
      const { events, next }: Json = await asJson(somebody, path)
      const page = await somebody.get(path)
      expect(page.items).toHaveLength(events.length)
      names.push(...events.map(({ subject }) => String(subject)))
      if (next !== null) expect(page.html).toContain(`href="${next}"`)
      path = next
    }
    // The first events were the creation and the login of the user.
    const expected = Array.from({ length: 28 }, (_, index) => `Number ${27 - index}`)
    expect(names).toEqual([...expected, '', ''])
  })
})

describe('the activity of all users', () => {
  test('returns 404 to users who are not administrators', async () => {
    const somebody = await Person.stranger(app)
    expect((await somebody.get(at.adminActivity)).status).toBe(404)
    expect((await admin.get(at.adminActivity)).status).toBe(200)
    expect((await admin.get(at.admin)).html).toContain(`href="${at.adminActivity}"`)
  })

  test('shows the actor, the action, the subject, the IP address and the request ID of an event', async () => {
    const somebody = await Person.stranger(app)
    const { clientId } = await app.client({ name: 'Seen', userId: somebody.user.id })
    await admin.post(at.admin, { client_id: clientId, act: 'verify' }, { 'x-request-id': 'r-17' })
    const [line = ''] = linesOf(await admin.get(`${at.adminActivity}?client=${clientId}`))
    expect(line).toContain(`${en.events['client.verified']} Seen`)
    for (const word of [admin.user.email, somebody.user.email, '127.0.0.1', clientId, 'r-17'])
      expect(line).toContain(word)
  })

  test('labels a number as the ID of a user without an e-mail address [T3174]', async () => {
    const id = 990_077
    await app.server.users.deleted(id)
    const lines = linesOf(await admin.get(`${at.adminActivity}?user=${id}`))
    expect(lines).toEqual([expect.stringContaining(`${en.admin.user} ${en.users.id} ${id}`)])
  })

  test('can be filtered by event, user and client with exact matching', async () => {
    const somebody = await Person.stranger(app)
    const { clientId } = await app.client({ name: 'Sought', userId: somebody.user.id })
    const { token } = await authorizationOf(app, clientId)
    const { id, email } = somebody.user
    const found = async (query: Record<string, string>) => {
      const { events } = await asJson(admin, `${at.adminActivity}?${new URLSearchParams(query)}`)
      return events.map(({ event }) => event)
    }
    const own = ['client.created', 'login.succeeded', 'user.created']
    expect(await found({ user: String(id) })).toEqual(own)
    expect(await found({ user: ` ${email.toUpperCase()} ` })).toEqual(own)
    expect(await found({ user: email.slice(1) })).toEqual([])
    expect(await found({ user: `${id}0000` })).toEqual([])
    expect(await found({ client: clientId })).toEqual(['token.issued', 'client.created'])
    expect(await found({ client: clientId.slice(1) })).toEqual([])
    expect(await found({ client: clientId, event: 'token.issued' })).toEqual(['token.issued'])
    expect(await found({ user: String(id), event: 'login.succeeded', client: clientId })).toEqual(
      [],
    )
    expect(await found({ event: 'no.such' })).toEqual([])
    expect(token.clientId).toBe(clientId)
    const page = await admin.get(`${at.adminActivity}?event=token.issued&user=${email}`)
    expect(page.html).toContain('<option value="token.issued" selected>')
    expect(page.html).toContain(`value="${email}"`)
  })

  test('accepts filters and cursors with characters that no database accepts', async () => {
    for (const query of [
      'user=%00',
      'client=%00x',
      'event=%FF',
      'user=a%40b%00',
      'after=9.x',
      'after=%00',
    ])
      expect((await admin.get(`${at.adminActivity}?${query}`)).status).toBe(200)
  })
})
