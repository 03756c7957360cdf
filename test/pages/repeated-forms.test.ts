import { StoreUnavailable, type UserLink } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { execute } from '../support/database.ts'
import { Device } from '../support/device.ts'
import { isOnNodes, startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { formIn, TestClient, UserAgent } from '../support/user-agent.ts'
import { newWorld, type World } from './settings/every-page.ts'
import { at, body, type Fields, type Form, type Page, Person } from './settings/support.ts'

/** The status, the target and the content of a response. */
const answerOf = async (response: Response) => ({
  status: response.status,
  location: response.headers.get('location'),
  text: await response.text(),
})

describe('a form of a page that is sent again', () => {
  let world: World
  beforeAll(async () => {
    world = await newWorld()
  })
  afterAll(() => world.close())

  /** Returns every different button of every form of every page, in the order of the pages. */
  const buttons = async () => {
    const found = new Map<string, { who: Person; form: Form; button: readonly [string, string] }>()
    for (const { path, who } of world.pages) {
      const page = await who.get(path)
      for (const form of page.forms)
        for (const button of form.buttons.length === 0 ? [['', ''] as const] : form.buttons) {
          const names = Object.keys(form.fields).sort()
          const kind = form.action.replaceAll(/\/(?:[A-Za-z0-9]{30}|\d+)(?=\/)/g, '/:id')
          const name = `${kind} ${names} ${button[0]}=${button[1].slice(0, 8)}`
          if (!found.has(name)) found.set(name, { who, form, button })
        }
    }
    return [...found.values()]
  }

  test('changes nothing more, and returns the same response, for each button of each page [T3700]', async () => {
    const all = await buttons()
    expect(all.length).toBeGreaterThan(40)
    const { app } = world
    const events = async (): Promise<number> =>
      (await app.query('select id from oauth2server_audit')).length
    // The logout ends the session, so use it last.
    const ordered = all.toSorted(
      (a, b) => Number(a.form.action === '/logout') - Number(b.form.action === '/logout'),
    )
    for (const { who, form, button } of ordered) {
      const [name, value] = button
      const fields = { ...form.fields, ...(name !== '' && { [name]: value }) }
      const first = await who.rawRequest(form.action, { method: 'POST', body: body(fields) })
      if (first.status >= 400) continue
      const before = await events()
      const again = await who.rawRequest(form.action, { method: 'POST', body: body(fields) })
      const label = `${form.action} ${name}=${value}`
      expect([label, again.status, again.location]).toEqual([label, first.status, first.location])
      expect([label, again.html]).toEqual([label, first.html])
      expect([label, await events()]).toEqual([label, before])
    }
  })
})

describe('a repetition', () => {
  const links: UserLink[] = []
  let app: TestServer
  beforeAll(async () => {
    app = await startServer({
      deviceAuthorization: true,
      signUp: true,
      sendUserLink: (link) => void links.push(link),
    })
  })
  afterAll(() => app.close())

  const post = (agent: UserAgent, path: string, fields: Fields): Promise<Response> =>
    agent.fetch(new URL(path, app.issuer), { method: 'POST', body: body(fields) })

  const consentForm = async (client: TestClient) => {
    const { hidden } = formIn(await (await client.agent.browse(client.url())).text())
    return { ...hidden, confirm: 'yes' }
  }

  const loggedIn = async (): Promise<UserAgent> => (await logIn(app)).agent

  test.each([2, 5])(
    'of a consent that is sent %i times concurrently redirects with the code of the first, which is valid [T3701]',
    async (times) => {
      const client = await TestClient.register(app, await loggedIn())
      const form = await consentForm(client)
      const all = await Promise.all(
        Array.from({ length: times }, () => post(client.agent, '/oauth/authorize', form)),
      )
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 303))
      const [location = '', ...others] = new Set(all.map(({ headers }) => headers.get('location')))
      expect(others).toEqual([])
      expect(new URL(String(location)).searchParams.get('code')).toMatch(/^[A-Za-z0-9]{43}$/)
    },
  )

  test('of a consent gets the code, even if its address has sent a thousand forms that are stored for longer [T4409]', async ({
    skip,
  }) => {
    skip(isOnNodes, 'the test writes rows into a SQLite file')
    await using busy = await startServer()
    const person = await Person.logIn(busy)
    const createToken = async () => (await person.fill(at.newToken, { name: 'Backup' })).status
    expect(await createToken()).toBe(303)
    // As many rows with a lifetime of ten minutes as the address may have.
    const forms = "from oauth2server_transient where key like 'settings_form:%'"
    const [latest] = await busy.query(`select owner ${forms} order by expires_at desc limit 1`)
    const owner = String(latest?.owner)
    execute(
      busy.database,
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)
      insert into oauth2server_transient (key, value, count, expires_at, owner)
      select 'settings_form:' || i, '', 0, ${busy.now() + 600_000}, '${owner}' from n`,
    )
    const client = await TestClient.register(busy, person.session.agent)
    const form = await consentForm(client)
    const decide = async () => (await person.postRaw('/oauth/authorize', form)).location
    const location = await decide()
    expect(location).toContain('code=')
    expect(await createToken()).toBe(303)
    expect(await decide()).toBe(location)
  })

  test('with another decision, from another browser, or after a minute gets no code [T3702]', async () => {
    const client = await TestClient.register(app, await loggedIn())
    const form = await consentForm(client)
    const first = await post(client.agent, '/oauth/authorize', form)
    const location = first.headers.get('location')
    expect(location).toContain('code=')
    const statusesOf = async (agent: UserAgent, fields: Fields) => {
      const { status, headers } = await post(agent, '/oauth/authorize', fields)
      return [status, headers.get('location')]
    }
    expect(await statusesOf(client.agent, { ...form, confirm: 'no' })).toEqual([400, null])
    expect(await statusesOf(client.agent, { ...form, optional_scope: 'x' })).toEqual([400, null])
    for (const stranger of [new UserAgent(), await loggedIn()])
      expect((await statusesOf(stranger, form))[1]).toBeNull()
    expect(await statusesOf(client.agent, form)).toEqual([303, location])
    app.advance(61)
    expect(await statusesOf(client.agent, form)).toEqual([400, null])
  })

  test('of a login leads to the same page in the same session, before and after the first response arrived [T3703]', async () => {
    const user = await app.newUser({ email: 'twice@example.org' })
    const agent = new UserAgent()
    const { hidden } = formIn(await (await agent.browse(`${app.issuer}/login?next=/x`)).text())
    const fields = { ...hidden, email: user.email, password: app.password }
    const sent = [1, 2].map(() => post(agent, '/login', fields))
    const answers = [...(await Promise.all(sent)), await post(agent, '/login', fields)]
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(answers.map(({ headers }) => headers.get('location'))).toEqual(['/x', '/x', '/x'])
    const session = `oauth2server_session`
    const cookies = answers.map(({ headers }) =>
      headers.getSetCookie().find((one) => one.startsWith(session)),
    )
    expect(new Set(cookies).size).toBe(1)
    const rows = await app.query(
      `select count(*) as n from oauth2server_session where user_id = ${Number(user.id)}`,
    )
    expect(Number(rows[0]?.n)).toBe(1)
  })

  test('of a password reset leads to the login page, and a later use of the link is refused [T3704]', async () => {
    const user = await app.newUser({ email: 'forgot@example.org' })
    const agent = new UserAgent()
    await agent.submit(await agent.browse(`${app.issuer}/login/forgot-password`), {
      email: user.email,
    })
    await vi.waitFor(() => expect(links.at(-1)?.email).toBe(user.email))
    const { hidden } = formIn(await (await agent.browse(links.at(-1)?.url ?? '')).text())
    const fields = { ...hidden, new_password: 'a new and better password' }
    const all = await Promise.all([1, 2, 3].map(() => post(agent, '/login/link', fields)))
    expect(all.map(({ headers }) => headers.get('location'))).toEqual(
      all.map(() => expect.stringMatching(/^\/login\?.*done=reset_password/)),
    )
    const other = { ...fields, new_password: 'yet another password' }
    expect((await post(agent, '/login/link', other)).status).toBe(400)
  })

  test('of the request for a link sends one e-mail [T3705]', async () => {
    const user = await app.newUser({ email: 'one-mail@example.org' })
    const agent = new UserAgent()
    const page = await (await agent.browse(`${app.issuer}/login/forgot-password`)).text()
    const fields = { ...formIn(page).hidden, email: user.email }
    const sent = [1, 2].map(() => post(agent, '/login/forgot-password', fields))
    const all = await Promise.all((await Promise.all(sent)).map(answerOf))
    app.advance(30)
    all.push(await answerOf(await post(agent, '/login/forgot-password', fields)))
    expect(all.map(({ status, text }) => [status, text])).toEqual(
      all.map(() => [200, all[0]?.text]),
    )
    await vi.waitFor(() => expect(links.some(({ email }) => email === user.email)).toBe(true))
    expect(links.filter(({ email }) => email === user.email)).toHaveLength(1)
  })

  test('of a decision about a device shows the same page [T3706]', async () => {
    const device = await Device.register(app)
    const agent = await loggedIn()
    const { user_code } = await device.codes()
    const asked = await agent.submit(await agent.browse(`${app.issuer}/oauth/device`), {
      user_code,
    })
    const form = { ...formIn(await asked.text()).hidden, confirm: 'yes' }
    const sent = await Promise.all([1, 2].map(() => post(agent, '/oauth/device', form)))
    const pages = await Promise.all(sent.map(answerOf))
    expect(pages.map(({ status }) => status)).toEqual([200, 200])
    expect(pages[1]).toEqual(pages[0])
  })

  test('of a logout leads to the start page [T3707]', async () => {
    const { agent, csrfToken } = await logIn(app)
    const all = []
    for (const _ of [1, 2]) all.push(await post(agent, '/logout', { csrf_token: csrfToken }))
    expect(all.map(({ headers }) => headers.get('location'))).toEqual(['/', '/'])
  })

  test('at another node gets the response of the first [T3708]', async () => {
    await using beside = await startServer({
      beside: app,
      issuer: app.issuer,
      deviceAuthorization: true,
    })
    const person = await Person.logIn(app)
    const there = new Person(beside, person.session, person.user)
    const form = (await person.get(at.newToken)).form(at.newToken, 'name')
    const sent = [person, there, person, there].map((who) =>
      who.rawRequest(at.newToken, { method: 'POST', body: body({ ...form.fields, name: 'N' }) }),
    )
    const pages: readonly Page[] = await Promise.all(sent)
    expect(new Set(pages.map(({ location }) => location)).size).toBe(1)
    expect(await person.follow(pages[0] as Page)).toMatchObject({ status: 200 })
  })

  test('of a login at another node leads to one session, whichever node is first [T4280]', async () => {
    await using beside = await startServer({ beside: app, issuer: app.issuer })
    for (const order of ['together', 'one after the other']) {
      const user = await app.newUser({ email: `${order.replaceAll(' ', '-')}@example.org` })
      const agent = new UserAgent()
      const { hidden } = formIn(await (await agent.browse(`${app.issuer}/login?next=/x`)).text())
      const fields = body({ ...hidden, email: user.email, password: app.password })
      const jar = await agent.jar.getCookieString(app.issuer)
      const send = ({ server }: TestServer) =>
        server.fetch(
          new Request(`${app.issuer}/login`, {
            method: 'POST',
            body: fields,
            headers: { cookie: jar, 'content-type': 'application/x-www-form-urlencoded' },
          }),
        )
      const nodes = [app, beside, app, beside]
      const all: Response[] = []
      if (order === 'together') all.push(...(await Promise.all(nodes.map(send))))
      else for (const node of nodes) all.push(await send(node))
      expect(all.map(({ headers }) => headers.get('location'))).toEqual(nodes.map(() => '/x'))
      expect(new Set(all.map(({ headers }) => headers.getSetCookie()[0])).size).toBe(1)
      const rows = await app.query(
        `select count(*) as n from oauth2server_session where user_id = ${Number(user.id)}`,
      )
      expect(Number(rows[0]?.n)).toBe(1)
    }
  })

  test('cannot be recognized during an outage, which does not change the response to an outdated login form [T3743]', async () => {
    let isOutage = false
    await using own = await startServer({
      aroundStore: ({ name }, run) => {
        if (isOutage && name.startsWith('transients.'))
          throw new StoreUnavailable('The store is unavailable.')
        return run()
      },
    })
    const agent = new UserAgent()
    const page = await (await agent.browse(`${own.issuer}/login`)).text()
    const fields = { ...formIn(page).hidden, csrf_token: 'outdated', email: 'a@example.org' }
    const send = () => agent.fetch(`${own.issuer}/login`, { method: 'POST', body: body(fields) })
    const control = await send()
    isOutage = true
    expect((await send()).status).toBe(control.status)
    expect(control.status).toBeLessThan(500)
  })
})
