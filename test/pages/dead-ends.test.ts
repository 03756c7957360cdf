import { type Extension, OAuthError, StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Device } from '../support/device.ts'
import { unescaped } from '../support/html.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { en } from '../support/texts.ts'
import { formIn, TestClient, UserAgent } from '../support/user-agent.ts'

let app: TestServer
beforeAll(async () => {
  app = await startServer({ deviceAuthorization: true, sendUserLink: () => undefined })
})
afterAll(() => app.close())

const newBrowser = () => new UserAgent({ 'user-agent': browser })

const loggedIn = async (): Promise<UserAgent> => {
  const agent = newBrowser()
  await agent.logIn(app)
  return agent
}

const post = (agent: UserAgent, path: string, fields: Record<string, string>) =>
  agent.fetch(new URL(path, app.issuer), { method: 'POST', body: new URLSearchParams(fields) })

/** Returns the links in the content of a page: the target by the text. */
const waysOn = async (response: Response): Promise<Record<string, string>> => {
  const [, content = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(await response.clone().text()) ?? []
  const links = content.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g)
  return Object.fromEntries([...links].map(([, href = '', text = '']) => [text, unescaped(href)]))
}

const consentOf = async (client: TestClient) => {
  const page = await client.agent.browse(client.url())
  return { ...formIn(await page.text()).hidden, confirm: 'yes' }
}

const authorization = /^\/oauth\/authorize\?.*client_id=/

describe('a login page that is sent after a login in another tab', () => {
  test('says who is logged in, and leads to the target of the login [T3730]', async () => {
    const agent = newBrowser()
    const { hidden } = formIn(await (await agent.browse(`${app.issuer}/login?next=/x`)).text())
    await agent.logIn(app)
    const fields = { ...hidden, email: app.user.email, password: app.password }
    const page = await post(agent, '/login', fields)
    const text = await page.clone().text()
    expect(page.status).toBe(403)
    expect(text).toContain(en.login.stale)
    expect(text).toContain(`${en.home.user} <strong><bdi>${app.user.email}</bdi></strong>`)
    expect(await waysOn(page)).toMatchObject({ [en.device.submit]: '/x' })
    expect(text).not.toContain(en.login.noCookie)
  })

  test('only blames cookies if the browser sent none [T3731]', async () => {
    const { hidden } = formIn(await (await newBrowser().browse(`${app.issuer}/login`)).text())
    const page = await post(newBrowser(), '/login', { ...hidden, email: 'x', password: 'x' })
    expect(page.status).toBe(403)
    expect(await page.text()).toContain(en.login.noCookie)
  })
})

describe('a consent page that is sent', () => {
  test('after a logout leads to the login, and back to the request [T3732]', async () => {
    const client = await TestClient.register(app, await loggedIn())
    const form = await consentOf(client)
    await client.agent.jar.removeAllCookies()
    const page = await post(client.agent, '/oauth/authorize', form)
    expect([page.status, (await page.clone().text()).includes(en.problem.loggedOut)]).toEqual([
      403,
      true,
    ])
    const login = (await waysOn(page))[en.login.submit] ?? ''
    expect(new URL(login, app.issuer).searchParams.get('next')).toMatch(authorization)
    const code = await client.agent.authorize(app, new URL(login, app.issuer))
    expect(code.searchParams.has('code')).toBe(true)
  })

  test('after another login leads back to the request [T3733]', async () => {
    const client = await TestClient.register(app, await loggedIn())
    const form = await consentOf(client)
    await client.agent.submit(await client.agent.browse(`${app.issuer}/login?prompt=login`), {
      email: app.user.email,
      password: app.password,
    })
    const page = await post(client.agent, '/oauth/authorize', form)
    expect(page.status).toBe(403)
    const again = (await waysOn(page))[en.problem.askAgain] ?? ''
    expect(again).toMatch(authorization)
    const code = await client.agent.authorize(app, new URL(again, app.issuer))
    expect(code.searchParams.has('code')).toBe(true)
  })

  test('after a change of the application leads back to the request [T3734]', async () => {
    const client = await TestClient.register(app, await loggedIn())
    const form = await consentOf(client)
    await app.server.clients.update(client.clientId, { name: 'Another name' })
    const page = await post(client.agent, '/oauth/authorize', form)
    expect(page.status).toBe(400)
    expect((await waysOn(page))[en.problem.askAgain]).toMatch(authorization)
  })
})

describe('a consent page that was open for too long', () => {
  test('does nothing, and leads to the same request in the same browser only [T4271]', async () => {
    const client = await TestClient.register(app, await loggedIn())
    const form = await consentOf(client)
    app.advance(600)
    const page = await post(client.agent, '/oauth/authorize', form)
    expect([page.status, (await page.clone().text()).includes(en.problem.late)]).toEqual([
      400,
      true,
    ])
    const again = (await waysOn(page))[en.problem.askAgain] ?? ''
    expect(again).toMatch(authorization)
    const stranger = await post(await loggedIn(), '/oauth/authorize', form)
    expect([stranger.status, await stranger.text()]).toEqual([
      403,
      expect.stringContaining(en.problem.foreign),
    ])
    const code = await client.agent.authorize(app, new URL(again, app.issuer))
    expect(code.searchParams.has('code')).toBe(true)
    expect(code.searchParams.get('state')).toBe('xyz')
  })
})

describe('the page of a device that is sent', () => {
  test.each([
    ['after the code expired', 601],
    ['after the decision', 0],
  ])('%s leads to a form for another code [T3735]', async (_, seconds) => {
    const device = await Device.register(app)
    const agent = await loggedIn()
    const { user_code } = await device.codes()
    const asked = await agent.submit(await agent.browse(`${app.issuer}/oauth/device`), {
      user_code,
    })
    const form = formIn(await asked.text()).hidden
    if (seconds === 0) await post(agent, '/oauth/device', { ...form, confirm: 'yes' })
    app.advance(seconds)
    const page = await post(agent, '/oauth/device', { ...form, confirm: 'no' })
    expect(page.status).toBe(400)
    const other = (await waysOn(page))[en.device.title] ?? ''
    const { action } = formIn(await (await agent.fetch(new URL(other, app.issuer))).text())
    expect(action).toBe('/oauth/device')
  })
})

test('a link that is not valid any more leads to a new link and to the login [T3736]', async () => {
  const page = await newBrowser().browse(`${app.issuer}/login/link?token=x`)
  expect(await waysOn(page)).toMatchObject({
    [en.userLinks.reset_password.title]: '/login/forgot-password',
    [en.login.submit]: '/login',
  })
})

test('a logout in a second tab leads to the start page, and a logout after another login says that the user is logged in [T3737]', async () => {
  const agent = await loggedIn()
  const csrf = formIn(
    await (await agent.browse(`${app.issuer}/account/settings/applications/`)).text(),
  )
  await agent.jar.removeAllCookies()
  const csrf_token = csrf.hidden.csrf_token ?? ''
  expect((await post(agent, '/logout', { csrf_token })).headers.get('location')).toBe('/')
  await agent.logIn(app)
  const page = await post(agent, '/logout', { csrf_token })
  expect([page.status, (await page.text()).includes(en.problem.staleLogout)]).toEqual([403, true])
})

describe('each page of a problem', () => {
  let own: TestServer
  const thrown = new Map<string, Error>()
  beforeAll(async () => {
    const failing: Extension = {
      name: 'failing',
      endpoints: [
        {
          path: () => '/failing',
          methods: ['GET'],
          errors: 'page',
          async handle(http) {
            throw thrown.get(http.query) ?? new Error('unexpected')
          },
        },
      ],
    }
    own = await startServer({ extensions: [failing], sendUserLink: () => undefined })
  })
  afterAll(() => own.close())

  const failing = (status: number) => async (agent: UserAgent) => {
    thrown.set(`${status}`, new OAuthError('invalid_request', 'The reason.', { status }))
    return agent.fetch(`${own.issuer}/failing?${status}`)
  }
  const newClient = '/account/settings/applications/clients/new/'
  const send = (agent: UserAgent, path: string, fields: Record<string, string>, headers = {}) =>
    agent.fetch(`${own.issuer}${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
    })
  const consentPage = async (agent: UserAgent) => {
    const client = await TestClient.register(own, agent)
    const page = await agent.browse(client.url())
    return { client, form: { ...formIn(await page.text()).hidden, confirm: 'yes' } }
  }

  /** Makes each problem happen, and returns the page. */
  const scenes: Readonly<Record<string, (agent: UserAgent) => Promise<Response>>> = {
    foreign: (agent) => send(agent, newClient, {}, { 'sec-fetch-site': 'cross-site' }),
    staleLogout: (agent) => send(agent, '/logout', { csrf_token: 'x' }),
    async loggedOut(agent) {
      const { form } = await consentPage(agent)
      await agent.jar.removeAllCookies()
      return send(agent, '/oauth/authorize', form)
    },
    decided: (agent) =>
      send(agent, '/oauth/authorize', { authorization_request: 'x', confirm: 'yes' }),
    async late(agent) {
      const { form } = await consentPage(agent)
      own.advance(601)
      return send(agent, '/oauth/authorize', form)
    },
    async clientChanged(agent) {
      const { client, form } = await consentPage(agent)
      await own.server.clients.update(client.clientId, { name: 'Another name' })
      return send(agent, '/oauth/authorize', form)
    },
    notFound: failing(404),
    wrongMethod: failing(405),
    tooLarge: failing(413),
    tooMany: failing(429),
    badRequest: failing(400),
    failed: (agent) => agent.fetch(`${own.issuer}/failing?unexpected`),
    unavailable(agent) {
      thrown.set('down', new StoreUnavailable('The store is unavailable.'))
      return agent.fetch(`${own.issuer}/failing?down`)
    },
    linkInvalid: (agent) => agent.fetch(`${own.issuer}/login/link?token=x`),
  }
  const elsewhere = ['atWork: test/full/form-at-work.test.ts', 'stale: the consent page, T3732']
  const titles = ['title', 'notFoundTitle', 'askAgain']

  test('has a scene in this file, or a test elsewhere [T4272]', () => {
    const named = [
      ...Object.keys(scenes),
      ...elsewhere.map((each) => each.split(':')[0]),
      ...titles,
    ]
    expect(named.sort()).toEqual(Object.keys(en.problem).sort())
  })

  test.each(Object.entries(scenes))(
    'says %s, and offers a link that works [T4273]',
    async (name, scene) => {
      const agent = newBrowser()
      await agent.logIn(own)
      const page = await scene(agent)
      expect(page.status).toBeGreaterThanOrEqual(400)
      expect(unescaped(await page.clone().text())).toContain(Reflect.get(en.problem, name))
      const ways = Object.values(await waysOn(page))
      expect(ways.length).toBeGreaterThan(0)
      for (const way of ways) {
        const next = await agent.browse(new URL(way, own.issuer))
        expect([way, next.status < 400 || way === '/']).toEqual([way, true])
      }
    },
  )

  test.each(Object.keys(en.error.known))('of the error %s offers a link [T4274]', async (error) => {
    const page = await newBrowser().fetch(`${own.issuer}/oauth/errors?error=${error}`)
    expect(unescaped(await page.clone().text())).toContain(Reflect.get(en.error.known, error).what)
    expect(Object.keys(await waysOn(page))).toContain(en.error.home)
  })
})
