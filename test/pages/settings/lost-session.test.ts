import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { UserAgent } from '../../support/user-agent.ts'
import { at, type Fields, type Form, type Page, Person } from './support.ts'

// If a form is sent after its session has ended, the server saves nothing and retains the typed values.

let app: TestServer
beforeAll(async () => {
  app = await startServer({ openidConnect: true })
})
afterAll(() => app.close())

const typed = { name: 'Typed', scopes: ['notes:read'], expires: '2027-01-31' }

/** Opens a form, ends the session, and sends the form. */
const sentTooLate = async (
  person: Person,
  path: string,
  changes: Fields,
  end = (): Promise<unknown> => person.post('/logout'),
): Promise<Page> => {
  const form = (await person.get(path)).form(path, 'name')
  await end()
  return person.send(form, changes)
}

/** Logs in at the login page to which a response redirects, and opens the page that follows. */
const afterLogin = async (
  person: Person,
  { location }: Page,
  email = person.user.email,
): Promise<Page> => {
  const login = await person.get(location ?? '')
  const form = login.form(/action="(\/login[^"]*)"/.exec(login.html)?.[1] ?? '')
  return person.follow(await person.send(form, { email, password: app.password }))
}

const draftIn = ({ location }: Page): string =>
  /draft%3D([A-Za-z0-9]+)$/.exec(location ?? '')?.[1] ?? ''

describe('a form that is sent after its session has ended', () => {
  test('shows the typed values after the login, and saves the values only if the user sends the form again [T2100]', async () => {
    const person = await Person.logIn(app)
    const tokens = () =>
      app.server.personalTokens.listByUser(app.user.id, { after: null, limit: 9 })
    const late = await sentTooLate(person, at.newToken, typed)
    expect(late.status).toBe(303)
    const login = await person.get(late.location ?? '')
    expect([login.note, login.done]).toEqual([en.login.loggedOut, ''])
    const page = await afterLogin(person, late)
    expect([page.status, page.alert, page.note]).toEqual([200, '', en.problems.loggedOut])
    expect(page.form(at.newToken).fields).toMatchObject({
      name: ['Typed'],
      scopes: ['notes:read'],
      expiry: ['day'],
      expires: ['2027-01-31'],
    })
    expect((await tokens()).items).toEqual([])
    expect((await person.send(page.form(at.newToken))).status).toBe(303)
    expect((await tokens()).items).toMatchObject([{ name: 'Typed' }])
  })

  test('causes only one message on the login page if the session has expired [T2820]', async () => {
    const person = await Person.logIn(app)
    const late = await sentTooLate(person, at.newToken, typed, async () => app.advance(86_401))
    const login = await person.get(late.location ?? '')
    expect(login.note).toBe(en.login.loggedOut)
    expect(login.html).not.toContain(en.login.expired)
    expect((await person.get('/login')).html).toContain(en.login.expired)
  })

  test('retains the typed values of every form with text, for every way in which a session ends [T2101]', async () => {
    const { clientId } = await app.client({ name: 'Stored' })
    const { id } = await app.server.tokens.createPersonal('Stored', app.user.id)
    const client = {
      name: 'Typed',
      description: 'One.\r\nTwo.',
      website: 'https://typed.example',
      redirect_uris: 'https://typed.example/a\r\nhttps://typed.example/b',
      default_scopes: ['notes:read'],
      optional_scopes: ['notes:write'],
      post_logout_redirect_uris: 'https://typed.example/c\r\nhttps://typed.example/d',
      backchannel_logout_uri: 'https://typed.example/e',
    }
    const cases: readonly (readonly [string, Fields])[] = [
      [at.newClient, { ...client, application_type: 'native' }],
      [at.client(clientId), client],
      [at.token(id), { name: 'Typed', scopes: ['notes:write'], expiry: '7' }],
    ]
    const ends = [
      (person: Person) => person.post('/logout'),
      async () => app.advance(86_401),
      async ({ session }: Person) => session.agent.jar.removeAllCookiesSync(),
    ]
    for (const [path, changes] of cases)
      for (const end of ends) {
        const person = await Person.logIn(app)
        const late = await sentTooLate(person, path, changes, () => end(person))
        const page = await afterLogin(person, late)
        expect([path, page.note]).toEqual([path, en.problems.loggedOut])
        const lines = (value: unknown) => String(value).replaceAll('\r\n', '\n')
        const { fields } = page.form(path, 'name')
        for (const [name, value = []] of Object.entries(changes))
          expect([name, fields[name]?.map(lines)]).toEqual([name, [value].flat().map(lines)])
      }
    expect((await app.server.clients.find(clientId))?.name).toBe('Stored')
  })

  test('is shown once, only to its user, on its page, and for 20 minutes, and later the page says so [T2102]', async () => {
    const person = await Person.logIn(app)
    const stranger = await Person.stranger(app)
    const late = await sentTooLate(person, at.newToken, typed)
    const path = `${at.newToken}?draft=${draftIn(late)}`
    const isEmpty = (page: Page, at: string, note: string = en.problems.draftLost): void => {
      expect([page.status, page.alert, page.note]).toEqual([200, '', note])
      expect(page.form(at).fields.name).toEqual([''])
    }
    // Another user who logs in with the same browser gets an empty form.
    isEmpty(await afterLogin(person, late, stranger.user.email), at.newToken)
    isEmpty(await stranger.get(path), at.newToken)
    const again = await Person.logIn(app)
    isEmpty(await again.get(`${at.newClient}?draft=${draftIn(late)}`), at.newClient)
    isEmpty(await again.get(`${path}&draft=${draftIn(late)}`), at.newToken)
    isEmpty(await again.get(path, { 'sec-purpose': 'prefetch' }), at.newToken, '')
    const pages = await Promise.all([1, 2, 3, 4].map(() => again.get(path)))
    expect(pages.filter(({ note }) => note === en.problems.loggedOut)).toHaveLength(1)
    isEmpty(await again.get(path), at.newToken)

    const second = await Person.logIn(app)
    const lost = await sentTooLate(second, at.newToken, typed)
    app.advance(1_201)
    isEmpty(await afterLogin(second, lost), at.newToken)
  })

  test('is stored only if a page of this user contained the form, and not if another site sent the form [T2103]', async () => {
    const person = await Person.logIn(app)
    const stranger = await Person.stranger(app)
    const formOf = async (who: Person): Promise<Form> =>
      (await who.get(at.newToken)).form(at.newToken)
    const [form, foreign] = [await formOf(person), await formOf(stranger)]
    const id = form.fields.form_id?.[0] ?? ''
    const agent = new UserAgent({ accept: 'text/html' })
    const send = async (fields: Fields, headers: Record<string, string> = {}) => {
      const nobody = new Person(app, { ...person.session, agent }, person.user)
      return draftIn(
        await nobody.postRaw(at.newToken, { ...form.fields, ...typed, ...fields }, headers),
      )
    }
    for (const form_id of [[], '', 'x', 'x'.repeat(22), [id, id], `${id}x`, id.slice(1)])
      expect([form_id, await send({ form_id })]).toEqual([form_id, ''])
    expect(await send({ name: ['a', 'b'] })).toBe('')
    expect(await send({}, { 'sec-fetch-site': 'cross-site' })).toBe('')
    expect(await send({}, { origin: 'https://evil.example' })).toBe('')
    // If the browser of another user sends a form of the attacker's account, that user's form remains empty.
    const planted = await send({ form_id: foreign.fields.form_id, name: 'Evil' })
    expect(planted).not.toBe('')
    const page = await person.get(`${at.newToken}?draft=${planted}`)
    expect(page.form(at.newToken).fields.name).toEqual([''])
    app.advance(1_209_601)
    expect(await send({})).toBe('')
  })

  test('never stores a password, a secret, or a field that the form does not have [T2104]', async () => {
    const person = await Person.logIn(app)
    const late = await sentTooLate(person, at.newToken, {
      ...typed,
      secret: 'hidden-1',
      current_password: 'hidden-2',
    })
    const next = new URL(late.location ?? '', app.issuer).searchParams.get('next') ?? ''
    expect(draftIn(late)).not.toBe('')
    const rows = await app.shortLived('form_draft:')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toMatch(/Typed|notes:read|hidden/)
    expect(JSON.stringify(rows)).not.toContain(next.split('draft=')[1])
    const page = await afterLogin(person, late)
    expect(page.html).not.toContain('hidden-')
    for (const [path, fields] of [
      [at.password, { current_password: 'hidden-3', new_password: 'hidden-4' }],
      [at.leaked, { pasted: 'hidden-5' }],
    ] as const) {
      const other = await Person.logIn(app)
      const form = (await other.get(path)).form(path)
      await other.post('/logout')
      expect(draftIn(await other.send(form, fields))).toBe('')
    }
  })

  test('is stored at most 20 times in ten minutes for each user [T2105]', async () => {
    const person = await Person.stranger(app)
    const form = (await person.get(at.newToken)).form(at.newToken)
    await person.post('/logout')
    const sent = []
    for (let count = 0; count < 25; count += 1)
      sent.push(draftIn(await person.send(form, { ...typed, name: `Typed ${count}` })))
    expect(sent.filter((draft) => draft !== '').length).toBe(20)
  })

  test('shows both versions if the stored values changed after the form was sent [T2106]', async () => {
    const person = await Person.logIn(app)
    const { id } = await app.server.tokens.createPersonal('Before', app.user.id)
    const late = await sentTooLate(person, at.token(id), { name: 'Typed' })
    const other = await Person.logIn(app)
    expect((await other.fill(at.token(id), { name: 'Meanwhile' })).status).toBe(303)
    const page = await afterLogin(person, late)
    expect((await person.send(page.form(at.token(id), 'name'))).status).toBe(409)
  })

  test('shows an empty form to another user who is logged in [T2107]', async () => {
    const person = await Person.logIn(app)
    const stranger = await Person.stranger(app)
    const form = (await person.get(at.newToken)).form(at.newToken)
    const page = await stranger.send(form, typed)
    expect([page.status, page.alert]).toEqual([403, en.problems.stale])
    expect(page.form(at.newToken).fields.name).toEqual([''])
    const again = await Person.logIn(app)
    const own = await again.send(form, typed)
    expect(own.form(at.newToken).fields.name).toEqual(['Typed'])
  })
})

test('with the login of the application, the typed values also remain after the login [T2108]', async () => {
  let owner: number | null = null
  await using host = await startServer({ loginUrl: '/enter', resourceOwner: () => owner })
  owner = host.user.id as number
  const agent = new UserAgent({ accept: 'text/html' })
  const person = new Person(
    host,
    { agent, cookie: '', identifier: '', jwt: '', csrfToken: '' },
    host.user,
  )
  const late = await sentTooLate(person, at.newToken, typed, async () => {
    owner = null
  })
  expect(late.location).toMatch(/^\/enter\?next=%2Faccount%2F/)
  owner = host.user.id as number
  const next = new URL(late.location ?? '', host.issuer).searchParams.get('next') ?? ''
  const page = await person.get(next)
  expect(page.note).toBe(en.problems.loggedOut)
  expect(page.form(at.newToken).fields.name).toEqual(['Typed'])
})
