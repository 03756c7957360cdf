import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'

describe('specification, User proxy: a way to get the current user', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const current = (headers: Record<string, string>) =>
    app.server.currentUser(new Request(`${app.issuer}/page`, { headers }), {
      remoteAddress: '127.0.0.1',
    })

  test('returns the user of a token or of a session [T726]', async () => {
    const byToken = await current({ authorization: `Bearer ${await app.personalToken()}` })
    expect(byToken?.email).toBe(app.user.email)
    const agent = new UserAgent({ 'user-agent': 'a browser' })
    await agent.logIn(app)
    const cookie = await agent.jar.getCookieString(app.issuer)
    const bySession = await current({ cookie, 'user-agent': 'a browser' })
    expect(bySession?.id).toBe(app.user.id)
    expect(await current({ cookie, 'user-agent': 'another browser' })).toBeNull()
  })

  test('returns null for an anonymous caller and for an invalid credential', async () => {
    expect(await current({})).toBeNull()
    expect(await current({ authorization: 'Bearer unknown' })).toBeNull()
    expect(await current({ authorization: 'Basic YTpi' })).toBeNull()
  })
})
