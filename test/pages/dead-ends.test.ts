import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { en } from '../../src/pages/messages/en.ts'
import { Device } from '../support/device.ts'
import { unescaped } from '../support/html.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
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
