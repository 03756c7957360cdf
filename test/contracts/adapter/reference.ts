import { describe, expect, test } from 'vitest'
import { password } from './harness.ts'
import { newBrowser, type Presented, pageOf, type World } from './world.ts'

/** Defines tests that correspond to the tests of the decorators in the reference implementation. */
export const describeReference = (world: () => World): void => {
  const status = async (path: string, presented: Presented = {}) =>
    // `ask` expects that no response sets a cookie.
    (await world().ask(path, presented)).status
  const post = {
    method: 'POST',
    headers: ['Content-Type: application/json'],
    body: JSON.stringify({ text: 'x' }),
  }
  const token = (scopes: readonly string[]) =>
    world().app.control.personalToken(world().user.id, { scopes })

  describe('the decorators of the reference implementation', () => {
    test('requires a token, accepts a token in the query, and sets no cookie [T637]', async () => {
      expect(await status('/api/me')).toBe(401)
      expect(await status('/api/me', { query: `?access_token=${await token([])}` })).toBe(200)
    })

    test('accepts a token with the required scope, and rejects a token without the scope', async () => {
      const holds = `?access_token=${await token(['notes:write'])}`
      const lacks = `?access_token=${await token([])}`
      expect(await status('/api/notes', { ...post, query: holds })).toBe(201)
      expect(await status('/api/notes', { ...post, query: lacks })).toBe(403)
    })

    test('at a resource that allows anonymous callers, returns the user of a token, and no user without a token', async () => {
      const query = `?access_token=${await token([])}`
      const nobody = await world().ask('/api/public')
      const holder = await world().ask('/api/public', { query })
      expect([nobody.status, nobody.body]).toEqual([200, expect.objectContaining({ user: null })])
      expect(holder.body).toMatchObject({ user: { id: world().user.id } })
    })

    test('does not log in a browser that sends a token: pages show no user before the login', async () => {
      const { app, user } = world()
      const agent = newBrowser(app)
      const isKnown = async () => (await pageOf(app, agent)).html.includes(user.email)
      const ask = async (path: string, init?: RequestInit) =>
        (await agent.fetch(`${app.url}${path}`, init)).status
      expect(await isKnown()).toBe(false)
      expect(await ask(`/api/notes?access_token=${await token(['notes:read'])}`)).toBe(200)
      expect(await isKnown()).toBe(false)
      expect(await ask(`/api/notes?access_token=${await token([])}`)).toBe(403)
      expect(await isKnown()).toBe(false)
      const form = await agent.browse(`${app.url}${app.place.loginPath}`)
      await agent.submit(form, { email: user.email, password })
      const page = await pageOf(app, agent)
      expect(page.html).toContain(user.email)
      expect(page.headers.getSetCookie()).toEqual([])
    })
  })
}
