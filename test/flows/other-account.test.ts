import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Device, deviceGrant } from '../support/device.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'

let app: TestServer
beforeAll(async () => {
  app = await startServer({ deviceAuthorization: true })
})
afterAll(() => app.close())

/** Follows the link "Not you?" of a consent page, logs in as another user, and returns the next page. */
const useAnotherAccount = async (agent: UserAgent, html: string): Promise<string> => {
  const [, link = ''] = /<a href="([^"]*)">Not you\?[^<]*<\/a>/.exec(html) ?? []
  const login = await agent.browse(new URL(link.replaceAll('&amp;', '&'), app.issuer))
  expect(new URL(login.address).pathname).toBe('/login')
  const email = `other-${crypto.randomUUID()}@example.org`
  await app.server.users.create({ email, password: app.password })
  const response = await agent.submit(login, { email, password: app.password })
  const page = await agent.browse(new URL(`${response.headers.get('location')}`, app.issuer))
  const text = await page.text()
  return text
}

describe('the link to another account', () => {
  test('of the consent page leads to the login and back to the same authorization request', async () => {
    const { clientId } = await app.client({ redirectUris: ['https://app.example/cb'] })
    const agent = new UserAgent()
    await agent.logIn(app)
    const query = new URLSearchParams({ response_type: 'code', client_id: clientId, state: 'x y' })
    const page = await (await agent.browse(`${app.issuer}/oauth/authorize?${query}`)).text()
    expect(page).toContain(app.user.email)
    const again = await useAnotherAccount(agent, page)
    const consented = await agent.submit(
      Object.assign(new Response(again), { address: app.issuer }),
      { confirm: 'yes' },
    )
    const location = new URL(`${consented.headers.get('location')}`)
    expect(location.href).toMatch(/^https:\/\/app\.example\/cb\?/)
    expect(location.searchParams.get('state')).toBe('x y')
    expect(location.searchParams.get('code')).not.toBeNull()
  })
  test('of the device page leads to the login and back to the same user code', async () => {
    const device = await Device.register(app, { grantTypes: [deviceGrant] })
    const { user_code } = await device.codes()
    const agent = new UserAgent()
    await agent.logIn(app)
    const entered = await agent.submit(await agent.browse(`${app.issuer}/oauth/device`), {
      user_code,
    })
    expect(await useAnotherAccount(agent, await entered.text())).toContain(user_code)
  })
  test.each([
    ['an unknown', 'unknown'],
    ['an empty', ''],
    ['a long', 'x'.repeat(10_000)],
  ])('with %s ID returns 400 and does not redirect', async (_what, id) => {
    const agent = new UserAgent()
    await agent.logIn(app)
    const response = await agent.browse(
      `${app.issuer}/oauth/authorize?${new URLSearchParams({ other_account: id })}`,
    )
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
  })

  test('of another session reveals nothing about the request', async () => {
    const { clientId } = await app.client({ redirectUris: ['https://app.example/cb'] })
    const [owner, stranger] = [new UserAgent(), new UserAgent()]
    for (const agent of [owner, stranger]) await agent.logIn(app)
    const query = new URLSearchParams({ response_type: 'code', client_id: clientId })
    const page = await (await owner.browse(`${app.issuer}/oauth/authorize?${query}`)).text()
    const link = new URL(`${/other_account=\w+/.exec(page)}`, app.issuer).href
    const address = link.replace('/other_account', '/oauth/authorize?other_account')
    for (const agent of [stranger, new UserAgent()])
      expect((await agent.fetch(address)).status).toBe(400)
    expect((await owner.fetch(address)).status).toBe(303)
  })
})
