import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'

/** Returns whether the server accepts the cookie of a session for a page, and its JWT for the REST API. */
const isAlive = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  { cookie, jwt }: Pick<LoggedIn, 'cookie' | 'jwt'>,
): Promise<boolean> => {
  const headers = { cookie, 'user-agent': browser }
  const page = await (await fetch(`${issuer}/`, { headers })).text()
  const inApi = { ...headers, authorization: `Bearer ${jwt}` }
  const { status } = await fetch(`${issuer}/api/me`, { headers: inApi })
  const onPage = page.includes('You are logged in')
  // A JWT may expire before its session. Without a session, the response must reveal nothing.
  expect([200, 403].includes(status)).toBe(onPage)
  if (!onPage) expect(status).toBe(401)
  return onPage
}

describe('the cookie', () => {
  const attributes = '; Path=/; HttpOnly; Secure; SameSite=Lax'
  test.each<[string, { issuer?: string; basePath?: string }, string]>([
    ['http on a loopback host', {}, 'oauth2server_session'],
    ['http with a path', { basePath: '/app' }, 'oauth2server_session'],
    ['https', { issuer: 'https://api.example.org' }, '__Host-oauth2server_session'],
    ['https with a path', { issuer: 'https://api.example.org/app' }, '__Host-oauth2server_session'],
  ])(
    'decision §2 %s: has the same name and attributes before and after the login [T642]',
    async (_, options, name) => {
      await using app = await startServer(options)
      const base = new URL(options.issuer ?? app.issuer).pathname.replace(/\/$/, '')
      const login = new URL(`${base}/login`, app.issuer)
      const page = await fetch(login)
      const pattern = new RegExp(`^${name}=([A-Za-z0-9]{43})${attributes}$`)
      const [before = ''] = page.headers.getSetCookie()
      expect(before).toMatch(pattern)
      const response = await fetch(login, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: before.split(';')[0] ?? '', 'user-agent': browser },
        body: new URLSearchParams({
          ...formIn(await page.text()).hidden,
          email: app.user.email,
          password: app.password,
        }),
      })
      expect(response.headers.get('location')).toBe(`${base}/`)
      const [after = '', known, ...more] = response.headers.getSetCookie()
      expect(more).toEqual([])
      expect(known).toMatch(
        new RegExp(`^${name.replace('session', 'known')}=[\\w.-]+; Max-Age=7776000${attributes}$`),
      )
      expect(after).toMatch(pattern)
      expect(pattern.exec(after)?.[1]).not.toBe(pattern.exec(before)?.[1])
    },
  )

  test('accepts only the cookie with the prefix if the issuer uses https', async () => {
    await using app = await startServer({ issuer: 'https://api.example.org' })
    const page = await fetch(`${app.issuer}/login`)
    const [cookie = ''] = (page.headers.getSetCookie()[0] ?? '').split(';')
    const { hidden } = formIn(await page.text())
    const post = (value: string) =>
      fetch(`${app.issuer}/login`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: value },
        body: new URLSearchParams({ ...hidden, email: app.user.email, password: app.password }),
      })
    expect((await post(cookie.replace('__Host-', ''))).status).toBe(403)
    expect((await post(cookie)).status).toBe(303)
  })
})

describe('decision §6.1 stored sessions', () => {
  test('contain a digest of the identifier; the files and the log contain no identifier, JWT, CSRF token or password', async () => {
    await using app = await startServer()
    const { identifier, jwt, csrfToken } = await logIn(app)
    const db = new DatabaseSync(app.database, { readOnly: true })
    const rows = db.prepare('select * from oauth2server_session').all()
    db.close()
    expect(rows.map(({ id }) => id)).toEqual([digestOf('session', identifier)])
    const files = await readdir(app.folder)
    expect(files).toContain('test.sqlite')
    for (const file of files) {
      const bytes = await readFile(join(app.folder, file))
      for (const secret of [identifier, jwt, csrfToken, app.password])
        expect(bytes.includes(secret), file).toBe(false)
    }
    expect(JSON.stringify(app.log)).not.toContain(identifier)
  })
})

describe('the lifetime of a session', () => {
  test('ends after a day without a request by default, and the sweeper deletes the row', async () => {
    await using app = await startServer()
    const session = await logIn(app)
    app.advance(86_399)
    expect(await isAlive(app, session)).toBe(true)
    app.advance(86_400)
    expect(await isAlive(app, session)).toBe(false)
    expect(await app.server.sweep()).toBeGreaterThan(0)
  })

  test('is extended by each request, up to the absolute maximum', async () => {
    await using app = await startServer({ sessionIdleExpiresIn: 600, sessionExpiresIn: 3_600 })
    const [used, unused] = [await logIn(app), await logIn(app)]
    for (let at = 400; at < 3_600; at += 400) {
      app.advance(400)
      expect(await isAlive(app, used)).toBe(true)
    }
    app.advance(399)
    expect(await isAlive(app, used)).toBe(true)
    app.advance(1)
    expect(await isAlive(app, used)).toBe(false)
    expect(await isAlive(app, unused)).toBe(false)
  })

  test('is extended by each request, also with the minimum idle time', async () => {
    await using app = await startServer({ sessionIdleExpiresIn: 60 })
    const [used, unused] = [await logIn(app), await logIn(app)]
    for (let times = 0; times < 5; times += 1) {
      app.advance(40)
      expect(await isAlive(app, used)).toBe(true)
    }
    expect(await isAlive(app, unused)).toBe(false)
    app.advance(60)
    expect(await isAlive(app, used)).toBe(false)
  })

  test('does not start again when the clock is set back', async () => {
    await using app = await startServer({ sessionIdleExpiresIn: 600 })
    const session = await logIn(app)
    app.advance(600)
    expect(await isAlive(app, session)).toBe(false)
    await app.server.sweep()
    app.advance(-600)
    expect(await isAlive(app, session)).toBe(false)
  })
})

describe('SS-10 a session ends at every node, from the next request on, after', () => {
  let app: TestServer
  let node: TestServer
  beforeAll(async () => {
    app = await startServer()
    node = await startServer({ beside: app, issuer: app.issuer })
  })
  afterAll(async () => {
    await node.close()
    await app.close()
  })

  const account = async (name: string) => {
    const user = await app.server.users.create({
      email: `${name}@example.org`,
      password: app.password,
    })
    const log = () => logIn({ issuer: app.issuer, user, password: app.password })
    return { user, sessions: [await log(), await log()] as const }
  }
  const alive = async (sessions: readonly LoggedIn[]): Promise<readonly boolean[]> =>
    Promise.all(sessions.flatMap((session) => [isAlive(app, session), isAlive(node, session)]))
  const all = (value: boolean) => [value, value, value, value]

  test('the deactivation of the user', async () => {
    const { user, sessions } = await account('deactivated')
    expect(await alive(sessions)).toEqual(all(true))
    await app.server.users.setActive(user.id, false)
    expect(await alive(sessions)).toEqual(all(false))
  })

  test('a password change, which ends all sessions of the user, but no personal token (decision §5.3)', async () => {
    const { user, sessions } = await account('changed')
    const bystander = await logIn(app)
    const { accessToken } = await app.server.tokens.createPersonal('Test', user.id)
    await app.server.users.setPassword(user.id, 'another good password')
    expect(await alive(sessions)).toEqual(all(false))
    expect(await isAlive(app, bystander)).toBe(true)
    const headers = { authorization: `Bearer ${accessToken}` }
    expect((await fetch(`${node.issuer}/api/me`, { headers })).status).toBe(200)
    await expect(logIn({ issuer: app.issuer, user, password: app.password })).rejects.toThrow('403')
    const again = await logIn({ issuer: app.issuer, user, password: 'another good password' })
    expect(await isAlive(node, again)).toBe(true)
  })

  test('the deletion of the user', async () => {
    const { user, sessions } = await account('deleted')
    await app.server.users.delete(user.id)
    expect(await alive(sessions)).toEqual(all(false))
  })

  test('a logout, which ends only that session', async () => {
    const { sessions } = await account('gone')
    const [one] = sessions
    const response = await one.agent.fetch(`${app.issuer}/logout`, {
      method: 'POST',
      body: new URLSearchParams({ csrf_token: one.csrfToken }),
    })
    expect(response.status).toBe(303)
    expect(await alive(sessions)).toEqual([false, false, true, true])
  })
})

describe('SS-10 a login during a concurrent change', () => {
  test.each<[string, (app: TestServer) => Promise<unknown>]>([
    [
      'a password change',
      ({ server, user }) => server.users.setPassword(user.id, 'another good password'),
    ],
    ['deactivation of the user', ({ server, user }) => server.users.setActive(user.id, false)],
    ['deletion of the user', ({ server, user }) => server.users.delete(user.id)],
  ])('creates no session if the login runs concurrently with %s', async (_, overtake) => {
    let pending: (() => Promise<unknown>) | undefined
    await using app = await startServer({
      async aroundStore({ name }, operation) {
        const result = await operation()
        // The user changes while the login verifies the password of the row that it read before.
        const work = name === 'users.find' ? pending : undefined
        if (work) pending = undefined
        await work?.()
        return result
      },
    })
    const agent = new UserAgent()
    const form = await agent.browse(`${app.issuer}/login`)
    pending = () => overtake(app)
    const response = await agent.submit(form, { email: app.user.email, password: app.password })
    expect(pending).toBeUndefined()
    expect(response.status).toBe(403)
    expect(response.headers.getSetCookie()).toEqual([])
    const db = new DatabaseSync(app.database, { readOnly: true })
    expect(db.prepare('select count(*) as n from oauth2server_session').get()).toEqual({ n: 0 })
    db.close()
  })
})

describe('a session row that was written without the secret key', () => {
  let app: TestServer
  let otherId: number
  beforeAll(async () => {
    app = await startServer()
    otherId = Number(
      (await app.server.users.create({ email: 'user-b@example.org', password: null })).id,
    )
  })
  afterAll(() => app.close())

  const inDatabase = (sql: string, ...values: (string | number)[]): void => {
    const db = new DatabaseSync(app.database)
    try {
      expect(db.prepare(sql).run(...values).changes).toBe(1)
    } finally {
      db.close()
    }
  }

  const id = ({ identifier }: LoggedIn): string => digestOf('session', identifier)

  test.each<[string, (session: LoggedIn) => void]>([
    [
      'another user',
      (s) => inDatabase('update oauth2server_session set user_id = ? where id = ?', otherId, id(s)),
    ],
    [
      'a later end',
      (s) =>
        inDatabase(
          'update oauth2server_session set expires_at = expires_at + 1 where id = ?',
          id(s),
        ),
    ],
    [
      'an earlier beginning',
      (s) =>
        inDatabase(
          'update oauth2server_session set created_at = created_at - 1 where id = ?',
          id(s),
        ),
    ],
    [
      'a missing seal',
      (s) => inDatabase("update oauth2server_session set seal = '' where id = ?", id(s)),
    ],
    [
      'a malformed seal',
      (s) => inDatabase("update oauth2server_session set seal = 'x.y' where id = ?", id(s)),
    ],
  ])('is rejected if it has %s', async (_, alter) => {
    const session = await logIn(app)
    expect(await isAlive(app, session)).toBe(true)
    alter(session)
    expect(await isAlive(app, session)).toBe(false)
    expect(app.log).toContainEqual(expect.objectContaining({ event: 'session.tampered' }))
    expect(JSON.stringify(app.log)).not.toContain(session.identifier)
  })

  test.each([
    ['address', '192.0.2.1'],
    ['user_agent', 'another browser'],
  ])('with another %s is rejected for everyone, including the owner', async (column, value) => {
    await using proxied = await startServer({ trustedProxies: ['127.0.0.1'] })
    const session = await logIn(proxied)
    const db = new DatabaseSync(proxied.database)
    db.prepare(`update oauth2server_session set ${column} = ?`).run(value)
    db.close()
    expect(await isAlive(proxied, session)).toBe(false)
    const headers = {
      cookie: session.cookie,
      'user-agent': column === 'user_agent' ? value : browser,
      ...(column === 'address' ? { 'x-forwarded-for': value } : {}),
    }
    const page = await fetch(`${proxied.issuer}/`, { headers })
    expect(await page.text()).toContain('Nobody is logged in.')
  })

  test('is rejected if it has the seal of another session', async () => {
    const [one, two] = [await logIn(app), await logIn(app)]
    inDatabase(
      'update oauth2server_session set seal = (select seal from oauth2server_session where id = ?) where id = ?',
      id(two),
      id(one),
    )
    expect(await isAlive(app, one)).toBe(false)
    expect(await isAlive(app, two)).toBe(true)
  })

  test('is rejected if it is a copy with an identifier that the attacker knows', async () => {
    const [owner, known] = [await logIn(app), 'K'.repeat(43)]
    inDatabase(
      `insert into oauth2server_session (id, user_id, address, user_agent, created_at, expires_at, last_seen_at, seal)
       select ?, user_id, address, user_agent, created_at, expires_at, last_seen_at, seal from oauth2server_session where id = ?`,
      digestOf('session', known),
      id(owner),
    )
    const planted = { cookie: `oauth2server_session=${known}`, jwt: owner.jwt }
    expect(await isAlive(app, planted)).toBe(false)
    expect(await isAlive(app, owner)).toBe(true)
  })
})

describe('ST-04 the random source repeats itself', () => {
  test('creates another identifier for a second session, and does not change the first', async () => {
    let last: Uint8Array = new Uint8Array()
    let replay: Uint8Array | undefined
    await using app = await startServer({
      random: (bytes) => {
        last = replay ?? crypto.getRandomValues(new Uint8Array(bytes))
        replay = undefined
        return last
      },
    })
    const [first, second] = [new UserAgent(), new UserAgent()]
    expect((await first.logIn(app)).status).toBe(303)
    const ofFirst = last
    const email = 'user-b@example.org'
    await app.server.users.create({ email, password: app.password })
    const form = await second.browse(`${app.issuer}/login`)
    replay = ofFirst
    expect((await second.submit(form, { email, password: app.password })).status).toBe(303)
    expect(replay).toBeUndefined()
    expect(await second.jar.getCookieString(app.issuer)).not.toBe(
      await first.jar.getCookieString(app.issuer),
    )
    const page = async (agent: UserAgent) => (await agent.fetch(`${app.issuer}/`)).text()
    expect(await page(first)).toContain(app.user.email)
    expect(await page(second)).toContain(email)
  })
})

describe('DS-03 visitors who are not logged in', () => {
  test('do not create rows', async () => {
    await using app = await startServer()
    for (const target of [
      '/login',
      '/',
      '/oauth/errors',
      '/oauth/authorize?client_id=x',
      '/login?next=/x',
    ])
      for (let times = 0; times < 5; times += 1) await rawHttp(app, { target })
    const db = new DatabaseSync(app.database, { readOnly: true })
    for (const table of ['session', 'transient', 'authorization', 'consent'])
      expect(db.prepare(`select count(*) as n from oauth2server_${table}`).get()).toEqual({ n: 0 })
    db.close()
  })
})
