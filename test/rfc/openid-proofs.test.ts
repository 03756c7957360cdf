import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AttackedServer,
  literal,
  type Row,
  startAttacked,
  storeNames,
} from '../attacks/support/database-writer.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

// Proofs of a login: which request, session, user and authorization they belong to, and how long they are valid.

const openidServer = () => startServer({ openidConnect: true })

describe('login_again, the proof that the user has logged in again', () => {
  let app: TestServer
  let client: TestClient
  let other: TestClient
  beforeAll(async () => {
    app = await openidServer()
    client = await TestClient.register(app, new UserAgent())
    other = await TestClient.register(app, new UserAgent())
    for (const { clientId } of [client, other])
      await app.server.consents.grant(app.user.id, clientId, ['openid'])
  })
  afterAll(() => app.close())

  const asked = { scope: 'openid', max_age: '0' }

  /** Logs in because a request requires it. @returns the URL to which the login page redirects */
  const proven = async (browser: UserAgent, url: string): Promise<URL> => {
    const login = await browser.browse(url)
    expect(login.address).toContain('/login')
    const back = await browser.submit(login, { email: app.user.email, password: app.password })
    return new URL(back.headers.get('location') ?? '', app.issuer)
  }

  const shows = async (browser: UserAgent, url: URL | string): Promise<string> => {
    const page = await browser.browse(url)
    await page.body?.cancel()
    const location = page.headers.get('location')
    if (location !== null) return new URL(location).searchParams.get('error') ?? 'code'
    return page.address.includes('/login') ? 'login' : 'consent'
  }

  test('Core §3.1.2.1 is accepted for the request and the session of the login [T4020]', async () => {
    const browser = new UserAgent()
    await browser.logIn(app)
    const next = await proven(browser, client.url(asked))
    expect(await shows(browser, next)).toBe('code')
  })

  test('is refused in another session, also of the same user and after a later login [T4021]', async () => {
    const browser = new UserAgent()
    const next = await proven(browser, client.url(asked))
    const second = new UserAgent()
    app.advance(1)
    await second.logIn(app)
    expect(await shows(second, next)).toBe('login')
    expect(await shows(browser, next)).toBe('code')
  })

  test('is refused for another request, another client or with another parameter [T4022]', async () => {
    const browser = new UserAgent()
    const next = await proven(browser, client.url(asked))
    const proof = next.searchParams.get('login_again') ?? ''
    for (const url of [
      other.url(asked),
      client.url({ ...asked, state: 'other' }),
      client.url({ ...asked, nonce: 'added' }),
    ])
      expect(await shows(browser, `${url}&login_again=${proof}`)).toBe('login')
  })

  test('expires shortly after the login [T4023]', async () => {
    const browser = new UserAgent()
    const next = await proven(browser, client.url(asked))
    app.advance(121)
    expect(await shows(browser, next)).toBe('login')
  })

  test('is not the value with which the server requests a login [T4024]', async () => {
    const visitor = new UserAgent()
    const login = await visitor.browse(client.url(asked))
    const next = new URL(login.address).searchParams.get('next') ?? ''
    const browser = new UserAgent()
    app.advance(1)
    await browser.logIn(app)
    expect(await shows(browser, new URL(next, app.issuer))).toBe('login')
  })

  test('expires after an hour if the application logs users in [T4025]', async () => {
    let user: number | undefined
    let authTime = 0
    await using hosted = await startServer({
      openidConnect: true,
      loginUrl: '/host-login',
      resourceOwner: () => (user === undefined ? null : { id: user, sessionId: 's', authTime }),
    })
    user = Number(hosted.user.id)
    authTime = hosted.now() - 1_000
    const own = await TestClient.register(hosted, new UserAgent())
    await own.tokens({ scope: 'openid' })
    const nextOf = async () => {
      const page = await own.agent.browse(own.url(asked))
      return new URL(new URL(page.address).searchParams.get('next') ?? '', hosted.issuer)
    }
    const resultAt = async (next: URL) => {
      const answer = await own.agent.browse(next)
      const location = new URL(answer.headers.get('location') ?? answer.address)
      return location.searchParams.has('code') ? 'code' : location.pathname
    }
    const next = await nextOf()
    hosted.advance(3_601)
    authTime = hosted.now()
    expect(await resultAt(next)).toBe('/host-login')
    const fresh = await nextOf()
    hosted.advance(1)
    authTime = hosted.now()
    expect(await resultAt(fresh)).toBe('code')
  })
})

describe('prompt=none with a guessed subject', () => {
  let app: TestServer
  let victim: UserAgent
  beforeAll(async () => {
    app = await openidServer()
    victim = new UserAgent()
    await victim.logIn(app)
  })
  afterAll(() => app.close())

  /** Returns the response to a request that names a subject. */
  const guess = async (client: TestClient, browser: UserAgent, sub: string) => {
    const claims = JSON.stringify({ id_token: { sub: { value: sub } } })
    const answer = await browser.browse(client.url({ scope: 'openid', prompt: 'none', claims }))
    const location = new URL(answer.headers.get('location') ?? '')
    const { code, iss: _, ...response } = responseTo(client, location)
    const cookies = answer.headers.get('set-cookie')
    return { ...response, hasCode: code !== undefined, status: answer.status, cookies }
  }

  test('Core §3.1.2.1 max_age does not tell a client without consent since when the user is logged in [T4506]', async () => {
    const client = await TestClient.register(app, victim)
    app.advance(100)
    const ask = async (max_age: string) => {
      const url = client.url({ scope: 'openid', prompt: 'none', max_age })
      const answer = await victim.browse(url)
      return new URL(answer.headers.get('location') ?? '').searchParams.get('error')
    }
    expect([await ask('10'), await ask('100000')]).toEqual(['consent_required', 'consent_required'])
  })

  test.each([
    ['confidential', {}],
    ['public', { isConfidential: false }],
    ['pairwise', { openid: { subject_type: 'pairwise' } }],
  ] as const)(
    'Core §3.1.2.1, §15.1 tells a %s client without consent nothing about the user [T4030]',
    async (_what, input) => {
      const client = await TestClient.register(app, victim, input)
      const sub = String(app.user.id)
      const answers = [
        await guess(client, victim, sub),
        await guess(client, victim, '1'),
        await guess(client, new UserAgent(), sub),
      ]
      expect(answers[0]).toMatchObject({ error: 'login_required' })
      expect(answers[1]).toEqual(answers[0])
      expect(answers[2]).toEqual(answers[0])
    },
  )

  test('tells a client with the consent of the user whether the user is logged in [T4031]', async () => {
    const client = await TestClient.register(app, victim)
    await client.tokens({ scope: 'openid' })
    expect(await guess(client, victim, String(app.user.id))).toMatchObject({ hasCode: true })
    expect(await guess(client, victim, '1')).toMatchObject({ error: 'login_required' })
  })

  test('id_token_hint tells a client nothing after the user withdrew the consent [T4032]', async () => {
    const client = await TestClient.register(app, victim)
    const { id_token = '' } = await client.tokens({ scope: 'openid' })
    await app.server.authorizedApplications.revoke(app.user.id, client.clientId)
    const ask = async (browser: UserAgent) => {
      const url = client.url({ scope: 'openid', prompt: 'none', id_token_hint: id_token })
      const answer = await browser.browse(url)
      return responseTo(client, new URL(answer.headers.get('location') ?? ''))
    }
    const stranger = new UserAgent()
    const other = await app.newUser({ email: 'other@example.org' })
    await stranger.logIn({ ...app, user: other })
    const answer = await ask(victim)
    expect(answer).toMatchObject({ error: 'login_required' })
    expect(await ask(stranger)).toEqual(answer)
    expect(await ask(new UserAgent())).toEqual(answer)
  })
})

describe.each(storeNames)('the OpenID Connect values of an authorization, on %s', (store) => {
  let it: AttackedServer
  beforeAll(async () => {
    it = await startAttacked(store, { openidConnect: true })
  })
  afterAll(() => it.close())

  test('DB-05 cannot be exchanged with those of another authorization of the same user and client [T4035]', async () => {
    const { app, db } = it
    const client = await TestClient.register(app, new UserAgent())
    const claims = JSON.stringify({ userinfo: { email: null } })
    const issued = []
    for (const given of [{ claims }, { scope: 'openid email' }]) {
      await client.agent.logIn(app)
      issued.push(await client.tokens({ scope: 'openid', prompt: 'consent', ...given }))
      app.advance(600)
    }
    const [first, second] = issued
    if (!first || !second) throw new Error('A token is missing.')
    const timeOf = ({ id_token = '' }) => decodeJwt(id_token).auth_time
    const authorizations = await db.run('select * from oauth2server_authorization order by id')
    const [one, other] = authorizations
    if (!one || !other) throw new Error('An authorization is missing.')
    const put = async (row: Row) => {
      await db.run(`delete from oauth2server_authorization where id = ${row.id}`)
      const values = Object.values(row).map(literal).join(', ')
      const names = Object.keys(row).join(', ')
      await db.run(`insert into oauth2server_authorization (${names}) values (${values})`)
    }
    const userinfo = async () => {
      const headers = { authorization: `Bearer ${first.access_token}` }
      return (await (await fetch(`${app.issuer}/oauth/userinfo`, { headers })).json()) as object
    }
    const whole = { sub: String(app.user.id), email: app.user.email }
    expect(await userinfo()).toEqual(whole)
    const swapped = [['code_binding'], ['code_binding', 'code_digest'], Object.keys(one)]
    for (const columns of swapped) {
      const taken = columns.filter((name) => name !== 'id')
      const moved = (to: Row, from: Row): Row => ({
        ...to,
        ...Object.fromEntries(taken.map((name) => [name, from[name] ?? null])),
      })
      await put({ ...moved(one, other), code_digest: null })
      await put(moved(other, one))
      await put(moved(one, other))
      // The first request asked for the address alone, and not for whether the address was verified.
      expect(await userinfo(), columns.join()).toEqual({ sub: whole.sub })
      const { status, body } = await client.refresh(first.refresh_token)
      if (status === 200) expect(timeOf(body), columns.join()).toBeUndefined()
      else expect(body.error).toBe('invalid_grant')
      await put({ ...one, code_digest: null })
      await put(other)
      await put(one)
    }
  })
})
