import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../support/database.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { written } from '../api/script.ts'
import { at, Person, textOf } from './support.ts'

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1'

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

let users = 0

/** Creates a user who is logged in with the given browsers. */
const logIns = async (...browsers: readonly string[]): Promise<Person[]> => {
  users += 1
  const user = await app.newUser({ email: `reader-${users}@example.org` })
  const people: Person[] = []
  for (const browser of browsers) {
    people.push(await Person.logIn(app, { user, headers: { 'user-agent': browser } }))
    app.advance(1)
  }
  return people
}

const isIn = async (person: Person): Promise<boolean> => (await person.get(at.list)).status === 200

const idIn = (item: string): string => /name="session_id" value="([^"]*)"/.exec(item)?.[1] ?? ''

describe('the sessions page', () => {
  test('lists the sessions of the user, and marks the current session', async () => {
    const [first, second] = (await logIns(firefox, safari)) as [Person, Person]
    const { items, html, status } = await first.get(at.sessions)
    expect(status).toBe(200)
    expect(items.map((item) => textOf(/<h2>[\s\S]*?<\/h2>/.exec(item)?.[0] ?? ''))).toEqual([
      'Safari, iOS',
      'Firefox, Windows',
    ])
    expect(items.map((item) => item.includes(en.sessions.current))).toEqual([false, true])
    for (const item of items) expect(textOf(item)).toContain('127.0.0.1')
    const other = await second.get(at.sessions)
    expect(other.items.map((item) => item.includes(en.sessions.current))).toEqual([true, false])
    // The page contains no identifier and no JWT of a session. The ID on the page is not a credential.
    for (const { session } of [first, second]) {
      expect(html).not.toContain(session.identifier)
      expect(html).not.toContain(session.jwt)
    }
  })

  test('describes an unknown or missing user agent', async () => {
    const [person] = (await logIns('some program')) as [Person]
    expect((await person.get(at.sessions)).names).toEqual([en.facts.unknownBrowser])
  })

  test('has no button to log out other browsers if the user has only one session', async () => {
    const [person] = (await logIns(firefox)) as [Person]
    const page = await person.get(at.sessions)
    expect(page.text).toContain(en.sessions.alone)
    expect(page.forms.some(({ fields }) => 'others' in fields)).toBe(false)
  })

  test('omits expired sessions', async () => {
    const [first, second] = (await logIns(firefox, safari)) as [Person, Person]
    await second.post('/logout')
    expect((await first.get(at.sessions)).items).toHaveLength(1)
  })
})

describe('the ended sessions on the page', () => {
  const endedOn = (html: string): readonly string[] =>
    [
      ...(/<ul class="ended">([\s\S]*?)<\/ul>/.exec(html)?.[1] ?? '').matchAll(
        /<li>[\s\S]*?<\/li>/g,
      ),
    ].map(([item]) => textOf(item))

  test('are listed with the reason, latest first, and without the address of an administrator [T2054]', async () => {
    const [first, second] = (await logIns(firefox, safari)) as [Person, Person]
    expect((await first.get(at.sessions)).html).not.toContain(en.sessions.ended)
    const { id } = first.user
    await first.send((await first.get(at.sessions)).form(at.sessions, 'others'))
    app.advance(1)
    await app.server.users.setPassword(id, app.password)
    app.advance(1)
    await Person.logIn(app, { user: first.user })
    app.advance(1)
    await app.server.sessions.endAll(first.user)
    app.advance(1)
    const again = await Person.logIn(app, { user: first.user })
    const ended = endedOn((await again.get(at.sessions)).html)
    const { administrator, password, elsewhere } = en.sessions.endedReasons
    expect(ended).toHaveLength(3)
    expect(ended[0]).toContain(administrator)
    expect(ended[0]).not.toContain('127.0.0.1')
    expect(ended[1]).toContain(password)
    expect(ended[2]).toContain(elsewhere)
    expect(ended[2]).toContain('127.0.0.1')
    // Another user does not see these sessions.
    const [other] = (await logIns(firefox)) as [Person]
    expect(endedOn((await other.get(at.sessions)).html)).toEqual([])
    expect(await isIn(second)).toBe(false)
  })

  test('include the oldest session if a login exceeds the maximum [T2055]', async () => {
    await using strict = await startServer({ sessionsPerUser: 1 })
    await Person.logIn(strict)
    strict.advance(1)
    const person = await Person.logIn(strict)
    const ended = endedOn((await person.get(at.sessions)).html)
    expect(ended).toHaveLength(1)
    expect(ended[0]).toContain(en.sessions.endedReasons.limit)
    strict.advance(31 * 86_400)
    expect(endedOn((await (await Person.logIn(strict)).get(at.sessions)).html)).toEqual([])
  })

  test('do not include an expired session that a login would have ended [T3171]', async () => {
    await using strict = await startServer({ sessionsPerUser: 1 })
    await Person.logIn(strict)
    strict.advance(strict.server.settings.sessionExpiresIn)
    const person = await Person.logIn(strict)
    expect(endedOn((await person.get(at.sessions)).html)).toEqual([])
    const limits = "select 1 from oauth2server_audit where event = 'session.ended'"
    expect(await strict.query(limits)).toEqual([])
  })
})

describe('forms of the sessions page', () => {
  test('ending one session logs out only the browser of this session', async () => {
    const [first, second, third] = (await logIns(firefox, safari, firefox)) as [
      Person,
      Person,
      Person,
    ]
    const page = await first.get(at.sessions)
    const form = page.forms.find(
      ({ fields }) => fields.session_id?.[0] === idIn(page.item('Safari')),
    )
    if (!form) throw new Error('There is no form.')
    const sent = await first.send(form)
    expect([sent.status, sent.location]).toEqual([303, at.sessions])
    const after = await first.follow(sent)
    expect(after.done).toBe(en.done.sessionEnded)
    expect(after.items).toHaveLength(2)
    expect([await isIn(first), await isIn(second), await isIn(third)]).toEqual([true, false, true])
  })

  test('after the current session is ended, the next request redirects to the login', async () => {
    const [first, second] = (await logIns(firefox, safari)) as [Person, Person]
    const page = await first.get(at.sessions)
    const sent = await first.post(at.sessions, { session_id: idIn(page.item('Firefox')) })
    expect((await first.follow(sent)).location).toMatch(/^\/login\?next=/)
    expect(await isIn(second)).toBe(true)
  })

  test('ending all other sessions does not end the current session', async () => {
    const [first, second, third] = (await logIns(firefox, safari, firefox)) as [
      Person,
      Person,
      Person,
    ]
    const [stranger] = (await logIns(safari)) as [Person]
    const page = await first.get(at.sessions)
    const sent = await first.send(page.form(at.sessions, 'others'))
    const after = await first.follow(sent)
    expect(after.done).toBe(en.done.otherSessionsEnded)
    expect(after.items).toHaveLength(1)
    const states = await Promise.all([first, second, third, stranger].map(isIn))
    expect(states).toEqual([true, false, false, true])
  })

  test('ending all other sessions a second time also logs out browsers that logged in meanwhile', async () => {
    const [first] = (await logIns(firefox)) as [Person]
    for (let round = 0; round < 3; round += 1) {
      const back = await Person.logIn(app, { user: first.user, headers: { 'user-agent': safari } })
      const page = await first.get(at.sessions)
      await first.follow(await first.send(page.form(at.sessions, 'others')))
      expect(await isIn(back)).toBe(false)
    }
  })

  test('a form for a session of another user, or for an unknown session, returns 404 and ends no session', async () => {
    const [person] = (await logIns(firefox)) as [Person]
    const [stranger] = (await logIns(safari)) as [Person]
    const [theirs = ''] = (await stranger.get(at.sessions)).items.map(idIn)
    const before = written(app)
    for (const session_id of [theirs, 'absent', '1', theirs.toUpperCase(), '%', "' or 1=1 --"])
      expect((await person.post(at.sessions, { session_id })).status).toBe(404)
    expect(written(app)).toEqual(before)
    expect(await isIn(stranger)).toBe(true)
  })

  test('a form without a valid choice returns 400', async () => {
    const [first, second] = (await logIns(firefox, safari)) as [Person, Person]
    const id = idIn((await first.get(at.sessions)).item('Safari'))
    const before = written(app)
    for (const fields of [
      {},
      { session_id: '' },
      { others: 'no' },
      { others: 'YES' },
      { others: ['yes', 'yes'] },
      { session_id: [id, id] },
      { session_id: `${id}\u0000` },
    ])
      expect((await first.post(at.sessions, fields)).status, JSON.stringify(fields)).toBe(400)
    // The server ignores form fields in the query.
    const given = new URLSearchParams({ others: 'yes', csrf_token: first.session.csrfToken })
    expect((await first.get(`${at.sessions}?${given}`)).status).toBe(200)
    expect((await first.post(`${at.sessions}?${given}`)).status).toBe(400)
    expect(written(app)).toEqual(before)
    expect(await isIn(second)).toBe(true)
  })

  test('ending a session invalidates the codes that were issued in the session', async () => {
    const [first, second] = (await logIns(firefox, safari)) as [Person, Person]
    await first.send((await first.get(at.sessions)).form(at.sessions, 'others'))
    const rows = query<{ n: number }>(
      app.database,
      'select count(*) as n from oauth2server_session where user_id = ?',
      Number(second.user.id),
    )
    expect(rows).toEqual([{ n: 1 }])
  })
})

describe('with the login of the host', () => {
  test('the sessions page returns 404, and no page links to the sessions page', async () => {
    let app: TestServer | undefined
    await using host = await startServer({
      loginUrl: '/enter',
      resourceOwner: () => ({ id: app?.user.id ?? 0, sessionId: 'the session of the host' }),
    })
    app = host
    const person = await hostPerson(host)
    for (const init of [{}, { method: 'POST', body: new URLSearchParams({ others: 'yes' }) }])
      expect((await person.request(at.sessions, init)).status).toBe(404)
    const list = await person.get(at.list)
    expect(list.status).toBe(200)
    expect(list.html).not.toContain(at.sessions)
    expect(list.html).not.toContain('/logout')
  })

  test('other pages accept the session of the host, and redirect to its login', async () => {
    let owner: { id: TestServer['user']['id']; sessionId: string } | null = null
    await using host = await startServer({ loginUrl: '/enter', resourceOwner: () => owner })
    const person = await hostPerson(host)
    expect((await person.get(at.newToken)).location).toBe(
      `/enter?next=${encodeURIComponent(at.newToken)}`,
    )
    owner = { id: host.user.id, sessionId: 'one' }
    const sent = await person.fill(at.newToken, { name: 'Laptop' })
    expect(sent.status).toBe(303)
    owner = { id: host.user.id, sessionId: 'two' }
    expect((await person.follow(sent)).copied('access-token')).toBeUndefined()
    owner = { id: host.user.id, sessionId: 'one' }
    expect((await person.follow(sent)).copied('access-token')).toMatch(/^\w{60}$/)
    expect((await person.postRaw(at.newToken, { name: 'x' })).status).toBe(403)
  })
})

/** Returns a browser without a session of the server. The host identifies its user. */
const hostPerson = async (host: TestServer): Promise<Person> => {
  await using server = await startServer()
  const { session } = await Person.logIn(server)
  await session.agent.jar.removeAllCookies()
  return new Person(host, { ...session, csrfToken: '' }, host.user)
}
