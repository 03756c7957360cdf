import { setTimeout as pause } from 'node:timers/promises'
import { createRemoteJWKSet, decodeJwt, type JWTVerifyResult, jwtVerify } from 'jose'
import { Client } from 'pg'
import type { ClientInput } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { storeOf } from '../support/internals.ts'
import { receiveLogoutTokens } from '../support/logout-tokens.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { sendJson } from '../support/registration.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { isOnNodes, startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { formIn, ping, TestClient, type TokenBody, UserAgent } from '../support/user-agent.ts'

const withoutPostgres = await lacks('postgres')

// OpenID Connect RP-Initiated Logout 1.0 and Back-Channel Logout 1.0. Titles begin with the standard and the section.

const returnUri = 'https://client.example/logged-out'
const openid = { post_logout_redirect_uris: [returnUri] } as const

interface Started extends AsyncDisposable {
  readonly app: TestServer
  readonly agent: UserAgent
  readonly client: TestClient
  readonly tokens: TokenBody
}

const start = async (
  options: TestOptions = {},
  input: Partial<ClientInput> = { openid },
): Promise<Started> => {
  const app = await startServer({ openidConnect: true, ...options })
  // The client of a deactivated owner would be inactive.
  const owner = await app.newUser({ email: 'owner@example.org' })
  const agent = new UserAgent()
  await agent.logIn(app)
  const client = await TestClient.register(app, agent, { ...input, userId: owner.id })
  const tokens = await client.tokens({ scope: 'openid' })
  return { app, agent, client, tokens, [Symbol.asyncDispose]: () => app.close() }
}

const logoutUrl = ({ app }: Started, given: Record<string, string>): string =>
  `${app.issuer}/oauth/logout?${new URLSearchParams(given)}`

/** Returns the times at which the stored notices are due. PostgreSQL returns large integers as text. */
const dueTimes = async ({ query }: TestServer): Promise<readonly number[]> =>
  (await query('select due_at from oauth2server_logout_notice')).map(({ due_at }) => Number(due_at))

const isLoggedIn = async ({ app, agent }: Started): Promise<boolean> => {
  const page = await agent.fetch(`${app.issuer}/account/settings/applications/`)
  return page.status === 200
}

describe('RP-Initiated Logout', () => {
  let started: Started
  let hint: string
  beforeEach(async () => {
    started = await start()
    hint = started.tokens.id_token ?? ''
  })
  afterEach(() => started[Symbol.asyncDispose]())

  const posted = (body: string): Promise<Response> =>
    fetch(`${started.app.issuer}/oauth/logout`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      redirect: 'manual',
    })

  test('§2.1 the discovery document names the endpoint [T1560]', async () => {
    const { app } = started
    const document = await fetch(`${app.issuer}/.well-known/openid-configuration`)
    expect(await document.json()).toMatchObject({
      end_session_endpoint: `${app.issuer}/oauth/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    })
  })

  test('§2 for an ID token of the session, logs out without a confirmation, and redirects with the state [T1561]', async () => {
    const url = logoutUrl(started, {
      id_token_hint: hint,
      post_logout_redirect_uri: returnUri,
      state: 's p&',
    })
    started.app.advance(7200)
    const answer = await started.agent.fetch(url)
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `${returnUri}?state=s%20p%26`,
    ])
    expect(await isLoggedIn(started)).toBe(false)
    const again = await started.agent.fetch(url)
    expect(again.headers.get('location')).toBe(`${returnUri}?state=s%20p%26`)
  })

  test('§2 accepts a POST of another site like a GET [T1562]', async () => {
    const body = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: returnUri })
    const answer = await fetch(`${started.app.issuer}/oauth/logout`, {
      method: 'POST',
      body,
      redirect: 'manual',
    })
    expect(answer.status).toBe(303)
    const next = new URL(answer.headers.get('location') ?? '', started.app.issuer)
    const done = await started.agent.fetch(next)
    expect(done.headers.get('location')).toBe(returnUri)
    expect(await isLoggedIn(started)).toBe(false)
  })

  test.each([
    [
      'a line break',
      'state=a%0D%0Ab\r\nset-cookie: a=b',
      'state=a%0D%0Ab%0D%0Aset-cookie%3A+a%3Db',
    ],
    ['a NUL', 'state=\u0000', 'state=%00'],
    ['other letters', 'state=é日', 'state=%C3%A9%E6%97%A5'],
    ['an unknown parameter', 'x=1&client_id=a', 'client_id=a'],
    ['a fragment', 'state=a#b', 'state=a%23b'],
  ])(
    '§2 the redirect after a POST encodes its parameters: %s [T2871]',
    async (_what, body, query) => {
      const answer = await posted(body)
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        `/oauth/logout?${query}`,
      ])
      expect(answer.headers.get('set-cookie')).toBeNull()
    },
  )

  test('§2 rejects a POST whose parameters exceed the length of a URL [T2872]', async () => {
    const answer = await posted(`id_token_hint=${'x'.repeat(60_000)}`)
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect(await answer.text()).toContain('The request is too long.')
  })

  test.each([
    ['nothing', {}],
    ['only a state', { state: 'x' }],
    ['a changed ID token', { id_token_hint: 'changed' }],
    ['no ID token, but a client', { client_id: 'client', post_logout_redirect_uri: returnUri }],
  ])('§2 asks the user for confirmation: %s [T1563]', async (_what, given) => {
    const { agent, client, app } = started
    const sent = {
      ...given,
      ...('client_id' in given && { client_id: client.clientId }),
      ...('id_token_hint' in given && { id_token_hint: `${hint.slice(0, -4)}AAAA` }),
    }
    const ask = () => agent.browse(logoutUrl(started, sent))
    const stay = await agent.submit(await ask(), { confirm: 'no' })
    expect(stay.headers.get('location')).toBe('/')
    expect(await isLoggedIn(started)).toBe(true)
    const page = await ask()
    expect(page.status).toBe(200)
    expect(await page.clone().text()).toContain(app.user.email)
    const done = await agent.submit(page, { confirm: 'yes' })
    expect(await isLoggedIn(started)).toBe(false)
    if ('client_id' in given) expect(done.headers.get('location')).toBe(returnUri)
    else expect(await done.text()).toContain('You are logged out')
  })

  test('§2 asks for confirmation if the ID token belongs to another user or another session [T1564]', async () => {
    const { app, client } = started
    const elsewhere = new UserAgent()
    await elsewhere.logIn(app)
    const other = await app.newUser({ email: 'user-b@example.org' })
    const stranger = new UserAgent()
    await stranger.logIn({ ...app, user: other })
    for (const agent of [elsewhere, stranger]) {
      const page = await agent.browse(logoutUrl(started, { id_token_hint: hint }))
      expect(page.status).toBe(200)
      expect(formIn(await page.text()).hidden).toHaveProperty('logout_request')
      expect(await isLoggedIn({ ...started, agent })).toBe(true)
    }
    expect(client.clientId).not.toBe('')
  })

  test('§3 redirects only to a URI that exactly matches a registered URI of a known client [T1565]', async () => {
    const uris = [
      `${returnUri}/`,
      `${returnUri}?x=1`,
      'https://evil.example/',
      'javascript:alert(1)',
    ]
    for (const uri of uris) {
      const answer = await started.agent.fetch(
        logoutUrl(started, { id_token_hint: hint, post_logout_redirect_uri: uri }),
      )
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    }
    const unknown = await started.agent.fetch(
      logoutUrl(started, { post_logout_redirect_uri: returnUri }),
    )
    expect(unknown.status).toBe(400)
    expect(await isLoggedIn(started)).toBe(true)
  })

  test('§2 the client of the request must be the client of the ID token [T1566]', async () => {
    const other = await TestClient.register(started.app, started.agent)
    const answer = await started.agent.fetch(
      logoutUrl(started, { id_token_hint: hint, client_id: other.clientId }),
    )
    expect(answer.status).toBe(400)
    expect(await isLoggedIn(started)).toBe(true)
  })

  test('accepts a decision only with the CSRF token and from a page of this server [T1567]', async () => {
    const { agent, app } = started
    const page = await agent.browse(logoutUrl(started, {}))
    const { hidden } = formIn(await page.text())
    const decide = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      agent.fetch(`${app.issuer}/oauth/logout`, {
        method: 'POST',
        body: new URLSearchParams({ ...hidden, confirm: 'yes', ...fields }),
        headers,
      })
    expect((await decide({ csrf_token: 'x' })).status).toBe(403)
    expect((await decide({ logout_request: 'x' })).status).toBe(400)
    expect((await decide({}, { origin: 'https://evil.example' })).status).toBe(403)
    expect(await isLoggedIn(started)).toBe(true)
    expect((await decide({})).status).toBe(200)
    expect(await isLoggedIn(started)).toBe(false)
  })

  test('§4 sends a browser that is not logged in to a client that registered itself only after its verification [T3611]', async () => {
    await using open = await start({ dynamicRegistration: 'open' })
    const { app, agent } = open
    const evilUri = 'https://evil.example:8443/bye'
    const { body } = await sendJson('POST', `${app.issuer}/oauth/register`, {
      redirect_uris: [evilUri],
      post_logout_redirect_uris: [evilUri],
      client_name: 'Evil',
      scope: 'openid',
    })
    const { client_id: clientId, client_secret: clientSecret } = body
    const registered = { clientId, clientSecret, redirectUri: evilUri }
    const evil = new TestClient(app, agent, registered, 'basic')
    // The attacker logs in at this server, and uses the ID token for all visitors.
    const { id_token = '' } = await evil.tokens({ scope: 'openid' })
    const url = logoutUrl(open, { id_token_hint: id_token, post_logout_redirect_uri: evilUri })
    const visit = async (visitor = new UserAgent()) => {
      const answer = await visitor.fetch(url)
      return [answer.status, answer.headers.get('location'), await answer.text()] as const
    }
    const [status, location, html] = await visit()
    expect([status, location]).toEqual([200, null])
    expect(html).toContain(`href="${evilUri}"`)
    expect(html).toContain('<bdi>evil.example:8443</bdi>')
    // The user of the session is sent back, and so are all visitors of a verified client.
    expect((await visit(agent))[1]).toBe(evilUri)
    await app.server.clients.mark(evil.clientId, { isVerified: true })
    expect((await visit())[1]).toBe(evilUri)
  })

  test('a decision that arrives after the end of the session leads only to a trusted client [T3612]', async () => {
    await using open = await start({ dynamicRegistration: 'open' })
    const { app, agent } = open
    const evilUri = 'https://evil.example/bye'
    const { body } = await sendJson('POST', `${app.issuer}/oauth/register`, {
      redirect_uris: [evilUri],
      post_logout_redirect_uris: [evilUri],
    })
    for (const [client_id, uri, to] of [
      [body.client_id, evilUri, null],
      [open.client.clientId, returnUri, returnUri],
    ] as const) {
      const page = await agent.browse(logoutUrl(open, { client_id, post_logout_redirect_uri: uri }))
      const { hidden } = formIn(await page.text())
      // A stranger may send the form, because it is sealed for no session.
      const answer = await new UserAgent().fetch(`${app.issuer}/oauth/logout`, {
        method: 'POST',
        body: new URLSearchParams({ ...hidden, confirm: 'yes' }),
      })
      expect([to, answer.status]).toEqual([to, to === null ? 200 : 303])
      expect(answer.headers.get('location')).toBe(to)
    }
  })

  test('without an ID token, returns a link instead of a redirect to a browser that is not logged in [T1568]', async () => {
    const { client } = started
    const given = { client_id: client.clientId, post_logout_redirect_uri: returnUri }
    const answer = await new UserAgent().fetch(logoutUrl(started, given))
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain(`href="${returnUri}"`)
  })
})

describe('a logout and access', () => {
  test('Back-Channel Logout §2.7 revokes tokens with openid, but not tokens with offline_access [T1570]', async () => {
    await using started = await start()
    const { app, agent, client, tokens } = started
    const offline = await client.tokens({ scope: 'openid offline_access' })
    const plain = await client.tokens({ scope: 'notes:read' })
    await agent.fetch(logoutUrl(started, { id_token_hint: tokens.id_token ?? '' }))
    const refreshed = async (one: TokenBody) => (await client.refresh(one.refresh_token)).status
    await expect.poll(() => refreshed(tokens)).toBe(400)
    expect(await refreshed(offline)).toBe(200)
    expect(await refreshed(plain)).toBe(200)
    expect(await app.query('select * from oauth2server_client_login')).toEqual([])
  })

  test('a new login of the same user in the browser revokes no tokens [T1571]', async () => {
    await using started = await start()
    const { app, agent, client, tokens } = started
    await agent.submit(await agent.browse(`${app.issuer}/login?prompt=login`), {
      email: app.user.email,
      password: app.password,
    })
    // Fixed time: the tokens could be revoked too late.
    await pause(100)
    const { status, body } = await client.refresh(tokens.refresh_token)
    expect(status).toBe(200)
    const { sid } = decodeJwt(tokens.id_token ?? '')
    expect(decodeJwt(body.id_token ?? '').sid).toBe(sid)
    // The next logout of this browser still revokes the tokens.
    await agent.submit(await agent.browse(logoutUrl(started, {})), { confirm: 'yes' })
    await expect.poll(async () => (await client.refresh(body.refresh_token)).status).toBe(400)
  })
})

describe('Back-Channel Logout', () => {
  let site: RemoteSite
  let received: string[]
  beforeAll(async () => {
    site = await remoteSite()
  })
  afterAll(() => site.close())
  beforeEach(() => {
    received = receiveLogoutTokens(site)
  })

  const listening = async (
    options: TestOptions = {},
    input: Partial<ClientInput> = {},
  ): Promise<Started> =>
    start(
      { outbound: site.outbound, dangerouslyAllowPrivateAddresses: true, ...options },
      {
        ...input,
        openid: {
          ...openid,
          backchannel_logout_uri: site.url('/logout'),
          backchannel_logout_session_required: true,
        },
      },
    )

  const verified = ({ app, client }: Started, token = ''): Promise<JWTVerifyResult> =>
    jwtVerify(token, createRemoteJWKSet(new URL(`${app.issuer}/oauth/jwks`)), {
      issuer: app.issuer,
      audience: client.clientId,
      typ: 'logout+jwt',
      currentDate: new Date(app.now()),
    })

  test('§2.4 a logout sends one logout token to the client, with the sid of its ID token [T1572]', async () => {
    await using started = await listening()
    const { agent, client, tokens } = started
    await client.tokens({ scope: 'openid' })
    await agent.fetch(logoutUrl(started, { id_token_hint: tokens.id_token ?? '' }))
    await expect.poll(() => received.length).toBe(1)
    const { payload } = await verified(started, received[0])
    const { sub, sid } = decodeJwt(tokens.id_token ?? '')
    expect(payload).toMatchObject({
      sub,
      sid,
      jti: expect.any(String),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    expect(payload).not.toHaveProperty('nonce')
    expect(Number(payload.exp) - Number(payload.iat)).toBe(120)
    // Fixed time: a second notice could follow.
    await pause(50)
    expect(received).toHaveLength(1)
    const request = site.requests.at(-1)
    expect(request?.method).toBe('POST')
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded')
  })

  test.each([
    [
      'the logout of this server',
      async ({ app, agent }: Started) => {
        const page = await agent.browse(`${app.issuer}/account/settings/sessions/`)
        const { hidden } = formIn(await page.text())
        const body = new URLSearchParams({ csrf_token: hidden.csrf_token ?? '' })
        await agent.fetch(`${app.issuer}/logout`, { method: 'POST', body })
      },
    ],
    [
      '"log out everywhere"',
      async ({ app }: Started) => {
        const elsewhere = new UserAgent()
        await elsewhere.logIn(app)
        const page = await elsewhere.browse(`${app.issuer}/account/settings/sessions/`)
        const html = await page.clone().text()
        const { hidden } = formIn(html)
        await elsewhere.fetch(page.address, {
          method: 'POST',
          body: new URLSearchParams({ csrf_token: hidden.csrf_token ?? '', others: 'yes' }),
        })
      },
    ],
    [
      'a new password',
      async ({ app }: Started) => {
        await app.server.users.setPassword(app.user.id, 'another long password of the user')
      },
    ],
    [
      'a deactivation',
      async ({ app }: Started) => {
        await app.server.users.setActive(app.user.id, false)
      },
    ],
    [
      'the deletion of the user',
      async ({ app }: Started) => {
        await app.server.users.delete(app.user.id)
      },
    ],
    [
      'the removal of the rows of a user whom the application deleted',
      async ({ app }: Started) => {
        await app.server.users.deleted(app.user.id)
      },
    ],
  ])('%s notifies the client [T1573]', async (_what, end) => {
    // Nobody owns the client, because a deleted user loses the own clients.
    await using started = await listening({}, { userId: null })
    await end(started)
    await expect.poll(() => received.length).toBe(1)
    expect((await verified(started, received[0])).payload.sid).toBeDefined()
  })

  test.skipIf(withoutPostgres)(
    'the deletion of the user notifies the client before the rows of the user are removed, on PostgreSQL [T4410]',
    async () => {
      await using all = new AsyncDisposableStack()
      const database = await makeDatabase()
      all.defer(database.drop)
      await using started = await listening({ store: postgres(database.url) }, { userId: null })
      const { server, user } = started.app
      await server.users.delete(user.id)
      await expect.poll(() => received.length).toBe(1)
    },
  )

  test.skipIf(withoutPostgres).each(['SQLite', 'PostgreSQL'] as const)(
    'the deletion of a user in a transaction of the server notifies the client after the commit, and not after a rollback, on %s [T4661]',
    async (kind) => {
      await using all = new AsyncDisposableStack()
      const database = kind === 'PostgreSQL' ? await makeDatabase() : undefined
      if (database) all.defer(database.drop)
      const store = database && { store: postgres(database.url) }
      await using started = await listening(store, { userId: null })
      const { server, user } = started.app
      const failed = server.transaction(async (tx) => {
        await tx.users.deleted(user.id)
        throw new Error('rolled back')
      })
      await expect(failed).rejects.toThrow('rolled back')
      await server.transaction((tx) => tx.users.deleted(user.id))
      await expect.poll(() => received.length).toBe(1)
      // Fixed time: a second notice could follow.
      await pause(50)
      expect(received).toHaveLength(1)
    },
  )

  test.skipIf(withoutPostgres)(
    'the deletion of a user in a transaction of the application notifies the client after its commit, and not after a rollback [T4662]',
    async () => {
      await using all = new AsyncDisposableStack()
      const database = await makeDatabase()
      all.defer(database.drop)
      // A pool does not wait until its connections are closed, so deleting the database could cut them.
      const client = new Client({ connectionString: database.url })
      await client.connect()
      all.defer(() => client.end())
      await using started = await listening({ store: postgres(database.url) }, { userId: null })
      const { server, user } = started.app
      for (const end of ['rollback', 'commit']) {
        await client.query('begin')
        await server.transaction(client, (tx) => tx.users.deleted(user.id))
        expect(received).toEqual([])
        await client.query(end)
      }
      await expect.poll(() => received.length).toBe(1)
    },
  )

  test.each(['id_token', 'code id_token'])(
    '§2.1 a logout reaches a client that received an ID token through the browser (%s), once for each session [T3124]',
    async (response_type) => {
      const responseTypes = ['code', 'id_token', 'code id_token']
      await using started = await listening({ allowFrontChannelIdTokens: true }, { responseTypes })
      const { app } = started
      // A new session, in which the client redeems no code.
      const agent = new UserAgent()
      await agent.logIn(app)
      const client = new TestClient(app, agent, started.client, 'basic')
      const ids: string[] = []
      for (const nonce of ['n-1', 'n-2']) {
        const { hash } = await client.ask({ scope: 'openid', nonce, response_type })
        ids.push(new URLSearchParams(hash.slice(1)).get('id_token') ?? '')
      }
      const notes = 'select * from oauth2server_client_login where authorization_id is null'
      expect(await app.query(notes)).toHaveLength(1)
      await agent.fetch(logoutUrl(started, { id_token_hint: ids[0] ?? '' }))
      await expect.poll(() => received.length).toBe(1)
      const { payload } = await verified(started, received[0])
      for (const id of ids) {
        const { sub, sid } = decodeJwt(id)
        expect(payload).toMatchObject({ sub, sid })
      }
      expect(await app.query(notes)).toEqual([])
      // Fixed time: a second notice could follow.
      await pause(50)
      expect(received).toHaveLength(1)
    },
  )

  test('§2.7 a logout revokes the access token that the response type id_token token returned [T3132]', async () => {
    const responseTypes = ['code', 'id_token token']
    await using started = await listening({ allowFrontChannelIdTokens: true }, { responseTypes })
    const { app, agent, client } = started
    const given = { scope: 'openid', nonce: 'n-1', response_type: 'id_token token' }
    const answer = new URLSearchParams((await client.ask(given)).hash.slice(1))
    const accessToken = answer.get('access_token') ?? ''
    expect(await ping(app, accessToken)).toBe(200)
    await agent.fetch(logoutUrl(started, { id_token_hint: answer.get('id_token') ?? '' }))
    await expect.poll(() => ping(app, accessToken)).toBe(401)
  })

  test('retries the notification of an unreachable client, without delaying the logout, also after a restart [T1574]', async () => {
    await using started = await listening()
    const { app, agent, tokens } = started
    let attempts = 0
    site.respond('/logout', (_request, response) => {
      attempts += 1
      if (attempts < 3) response.writeHead(503).end()
      else {
        received.push('again')
        response.writeHead(204).end()
      }
    })
    const isDueAt = () => dueTimes(app)
    await agent.fetch(logoutUrl(started, { id_token_hint: tokens.id_token ?? '' }))
    expect(await isLoggedIn(started)).toBe(false)
    await expect.poll(isDueAt).toEqual([app.now() + 5_000])
    app.advance(5)
    await app.server.sweep()
    await expect.poll(isDueAt).toEqual([app.now() + 60_000])
    // The process that received the logout does not send the notice again before it is due.
    await app.server.sweep()
    expect(attempts).toBe(2)
    app.advance(60)
    await using restarted = await startServer({
      openidConnect: true,
      outbound: site.outbound,
      dangerouslyAllowPrivateAddresses: true,
      beside: app,
      issuer: app.issuer,
    })
    await Promise.all([restarted.server.sweep(), app.server.sweep(), restarted.server.sweep()])
    await expect.poll(() => received.length).toBe(1)
    await expect.poll(isDueAt).toEqual([])
    expect(attempts).toBe(3)
  })

  test('gives up after the documented attempts, and logs the client [T3510]', async () => {
    await using started = await listening()
    const { app, agent, tokens } = started
    let attempts = 0
    site.respond('/logout', (_request, response) => {
      attempts += 1
      response.writeHead(503).end()
    })
    const rows = () => dueTimes(app)
    await agent.fetch(logoutUrl(started, { id_token_hint: tokens.id_token ?? '' }))
    for (const [index, seconds] of [5, 60, 600, 3_600].entries()) {
      await expect.poll(rows).toEqual([app.now() + seconds * 1000])
      expect(attempts).toBe(index + 1)
      app.advance(seconds)
      await app.server.sweep()
    }
    await expect.poll(rows).toEqual([])
    expect(attempts).toBe(5)
    const logged = app.log.filter(({ event }) => event === 'logout.not_delivered')
    expect(logged).toHaveLength(1)
  })

  test('the logout of a user with 50 silent clients delays no notice of another user, and takes no place of documents [T3509]', async () => {
    const hanging: string[] = []
    const resolve = (host: string) => {
      if (!host.startsWith('silent-')) return site.outbound.resolve(host)
      hanging.push(host)
      return new Promise<never>(() => undefined)
    }
    await using started = await listening({ outbound: { ...site.outbound, resolve } })
    const { app, agent, tokens } = started
    const store = storeOf(app.server)
    const other = await app.newUser({ email: 'many-clients@example.org' })
    for (let index = 0; index < 50; index += 1) {
      const { clientId } = await app.client({
        openid: { backchannel_logout_uri: `https://silent-${index}.example/logout` },
      })
      const { clientKey = 0 } = (await app.server.clients.find(clientId)) ?? {}
      const login = { session: 'many', sid: 'many', clientKey, userId: other.id }
      const rest = { authorizationId: null, isOffline: true, expiresAt: app.now() + 60_000 }
      await store.clientLogins.insert({ ...login, ...rest })
    }
    await app.server.loggedOut(other.id)
    await expect.poll(() => hanging.length).toBeGreaterThanOrEqual(5)
    await agent.fetch(logoutUrl(started, { id_token_hint: tokens.id_token ?? '' }))
    await expect.poll(() => received.length).toBe(1)
    const rows = () => dueTimes(app)
    // The delivered notice is deleted. The others are not lost.
    await expect.poll(async () => (await rows()).length).toBe(50)
    const waiting = await rows()
    // The other notices wait until one of the hosts has answered. Each node waits for five hosts.
    expect(hanging.length).toBeLessThanOrEqual(isOnNodes ? 15 : 5)
    expect(waiting.filter((time) => time === app.now())).toHaveLength(50 - hanging.length)
    expect(app.log.filter(({ event }) => event === 'logout.not_delivered')).toEqual([])
  })

  test('does not retry the notification of a client that rejects the token, and logs the rejection [T1575]', async () => {
    await using started = await listening()
    const { app, agent, tokens } = started
    site.respond('/logout', (_request, response) => response.writeHead(400).end())
    await agent.fetch(logoutUrl(started, { id_token_hint: tokens.id_token ?? '' }))
    const logged = () => app.log.filter(({ event }) => event === 'logout.not_delivered')
    await expect.poll(() => logged().length).toBe(1)
    expect(JSON.stringify(logged())).not.toContain('eyJ')
  })

  test.each([
    'http://client.example/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://c/',
    'x',
  ])('rejects the registration of the URI %s [T1576]', async (uri) => {
    await using app = await startServer({ openidConnect: true })
    await expect(app.client({ openid: { backchannel_logout_uri: uri } })).rejects.toThrow()
  })

  test('a host with its own login ends its sessions with server.loggedOut [T1577]', async () => {
    let user: number | undefined
    let session = 'one'
    const resourceOwner = () => (user === undefined ? null : { id: user, sessionId: session })
    await using app = await startServer({
      openidConnect: true,
      outbound: site.outbound,
      dangerouslyAllowPrivateAddresses: true,
      loginUrl: '/host-login',
      logoutUrl: '/host-logout',
      resourceOwner,
    })
    user = Number(app.user.id)
    const agent = new UserAgent()
    const client = await TestClient.register(app, agent, {
      openid: { ...openid, backchannel_logout_uri: site.url('/logout') },
    })
    const one = await client.tokens({ scope: 'openid' })
    session = 'two'
    const two = await client.tokens({ scope: 'openid' })
    const given = { id_token_hint: two.id_token ?? '', post_logout_redirect_uri: returnUri }
    const url = `${app.issuer}/oauth/logout?${new URLSearchParams(given)}`
    const sent = await agent.fetch(url)
    const target = new URL(sent.headers.get('location') ?? '', app.issuer)
    expect(target.pathname).toBe('/host-logout')
    const next = new URL(target.searchParams.get('next') ?? '', app.issuer)
    await app.server.loggedOut(user, 'two')
    await expect.poll(() => received.length).toBe(1)
    expect(decodeJwt(received[0] ?? '').sid).toBe(decodeJwt(two.id_token ?? '').sid)
    expect((await client.refresh(two.refresh_token)).status).toBe(400)
    expect((await client.refresh(one.refresh_token)).status).toBe(200)
    user = undefined
    expect((await agent.fetch(next)).headers.get('location')).toBe(returnUri)
    await app.server.loggedOut(Number(app.user.id))
    await expect.poll(() => received.length).toBe(2)
  })

  test('a host without a logout page has no end session endpoint [T2901]', async () => {
    await using app = await startServer({
      openidConnect: true,
      loginUrl: '/host-login',
      resourceOwner: () => 1,
    })
    const document = await fetch(`${app.issuer}/.well-known/openid-configuration`)
    expect(await document.json()).not.toHaveProperty('end_session_endpoint')
    for (const method of ['GET', 'POST'])
      expect((await fetch(`${app.issuer}/oauth/logout`, { method })).status).toBe(404)
  })

  test('the sweeper deletes the record of an old login [T1578]', async () => {
    await using started = await listening()
    const { app } = started
    const rows = () => app.query('select * from oauth2server_client_login')
    expect(await rows()).toHaveLength(1)
    app.advance(15 * 86_400)
    await app.server.sweep()
    expect(await rows()).toEqual([])
  })
})
