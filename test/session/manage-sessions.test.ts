import type { User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { allPages } from '../store/pages.ts'
import { count, execute } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

const whole = { after: null, limit: 50 }

describe('the sessions of a user', () => {
  let app: TestServer
  let accounts = 0
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const sessions = () => app.server.sessions
  const account = (): Promise<User> => {
    accounts += 1
    return app.server.users.create({ email: `u${accounts}@example.org`, password: null })
  }
  const signIn = async (user: User, userAgent = 'a browser', address = '192.0.2.1') => {
    const browser = { cookie: null, address, userAgent }
    const cookie = (await sessions().signIn(user.id, browser)).split(';')[0] ?? ''
    const id: string = digestOf('session', cookie.replace(/^.*?=/, ''))
    return {
      id,
      cookie,
      signedIn: () => sessions().signedIn({ ...browser, cookie }),
      isAlive: async () => (await sessions().signedIn({ ...browser, cookie })) !== undefined,
    }
  }
  const idsOf = async (user: User) =>
    (await sessions().listByUser(user.id, whole)).items.map(({ id }): string => id)

  test('are listed with browser, IP address and times, latest login first, without sessions of other users', async () => {
    const [me, other] = [await account(), await account()]
    const first = await signIn(me, 'Firefox', '2001:db8::1')
    app.advance(5)
    await signIn(other)
    const second = await signIn(me, 'Größe/1.0')
    const { items, next } = await sessions().listByUser(me.id, whole)
    expect(next).toBeNull()
    expect(items).toMatchObject([
      { id: second.id, userAgent: 'Größe/1.0', address: '192.0.2.1', createdAt: app.now() },
      { id: first.id, userAgent: 'Firefox', address: '2001:db8::1', createdAt: app.now() - 5_000 },
    ])
    expect(JSON.stringify(items)).not.toContain(first.cookie.replace(/^.*?=/, ''))
    for (const limit of [1, 2]) {
      const all = await allPages((cursor) => sessions().listByUser(me.id, cursor), limit)
      expect(all.map(({ id }): string => id)).toEqual([second.id, first.id])
    }
  })

  test('the list omits sessions that were idle too long or were tampered with', async () => {
    await using own = await startServer({ sessionExpiresIn: 600, sessionIdleExpiresIn: 60 })
    const listed = async () =>
      (await own.server.sessions.listByUser(own.user.id, whole)).items.length
    const browser = { cookie: null, address: '192.0.2.1', userAgent: 'x' }
    const cookie = (await own.server.sessions.signIn(own.user.id, browser)).split(';')[0] ?? ''
    await own.server.sessions.signIn(own.user.id, browser)
    expect(await listed()).toBe(2)
    own.advance(40)
    expect(await own.server.sessions.signedIn({ ...browser, cookie })).toBeDefined()
    own.advance(20)
    expect(await listed(), 'the other session was idle').toBe(1)
    expect(count(own.database, 'oauth2server_session')).toBe(2)
    execute(own.database, "update oauth2server_session set address = '192.0.2.9'")
    expect(await listed()).toBe(0)
  })

  test('can be ended one by one by their ID', async () => {
    const me = await account()
    const [one, other] = [await signIn(me), await signIn(me)]
    expect(await sessions().endOne(me.id, one.id)).toBe(true)
    expect([await one.isAlive(), await other.isAlive()]).toEqual([false, true])
    expect(await idsOf(me)).toEqual([other.id])
    expect(await sessions().endOne(me.id, one.id)).toBe(false)
  })

  test('cannot be ended by another user', async () => {
    const [me, other] = [await account(), await account()]
    const theirs = await signIn(other)
    const mine = await signIn(me)
    for (const id of [theirs.id, '', 'nope', "' or 1=1 --", mine.cookie.replace(/^.*?=/, '')])
      expect(await sessions().endOne(me.id, id), id).toBe(false)
    expect(await sessions().endOne(4711, mine.id)).toBe(false)
    expect([await theirs.isAlive(), await mine.isAlive()]).toEqual([true, true])
  })

  test('can all be ended except one, without affecting other users', async () => {
    const [me, other] = [await account(), await account()]
    const [one, two, here] = [await signIn(me), await signIn(me), await signIn(me)]
    const theirs = await signIn(other)
    const signedIn = (await here.signedIn()) ?? expect.unreachable()
    await sessions().endOthers(signedIn)
    const alive = await Promise.all([one, two, here, theirs].map((session) => session.isAlive()))
    expect(alive).toEqual([false, false, true, true])
    expect(await idsOf(me)).toEqual([here.id])
    await sessions().endOthers(signedIn)
    expect(await here.isAlive()).toBe(true)
  })

  test('invalidate their codes, but not their tokens, when one is ended', async () => {
    const [here, there] = [
      new UserAgent({ 'user-agent': 'here' }),
      new UserAgent({ 'user-agent': 'there' }),
    ]
    const client = await TestClient.register(app, there)
    const issued = await client.tokens()
    const code = await client.code()
    await here.logIn(app)
    const mine = new TestClient(app, here, client, 'basic')
    const kept = await mine.code()
    const { items } = await sessions().listByUser(app.user.id, whole)
    const ended = items.find(({ userAgent }) => userAgent === 'there')
    expect(await sessions().endOne(app.user.id, ended?.id ?? '')).toBe(true)
    expect((await client.redeem(code)).body.error).toBe('invalid_grant')
    expect((await mine.redeem(kept)).status).toBe(200)
    expect((await client.refresh(issued.refresh_token)).status).toBe(200)
    // The browser is redirected to the login again.
    expect((await there.fetch(client.url())).headers.get('location')).toContain('/login')
  })

  test('invalidate their codes when all others are ended', async () => {
    const there = new UserAgent({ 'user-agent': 'there, too' })
    const client = await TestClient.register(app, there)
    const code = await client.code()
    const here = await signIn(app.user)
    await sessions().endOthers((await here.signedIn()) ?? expect.unreachable())
    expect((await client.redeem(code)).body.error).toBe('invalid_grant')
  })
})
