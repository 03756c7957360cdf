import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { AroundStore, User } from 'svc-oauth2server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { at, Person } from '../pages/settings/support.ts'
import { Device } from '../support/device.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'
import {
  type AttackClient,
  type AttackServer,
  basic,
  expectJson,
  formOf,
  type HttpResponse,
  isOnNodes,
  startAttackServer,
} from './support/attack-server.ts'

const form = 'application/x-www-form-urlencoded'
const scope = 'notes:read'

// The file ft-slow.test.ts contains the tests that kill processes, stop databases and flush Redis.

/** Sends a request to any node. */
const tokenAt = (
  it: AttackServer,
  node: string,
  { clientId, clientSecret }: AttackClient,
  fields: Record<string, string>,
): Promise<HttpResponse> =>
  it.request(`${node}/oauth/token`, {
    method: 'POST',
    body: formOf(fields),
    headers: { 'content-type': form, authorization: basic(clientId, clientSecret) },
  })

const redemption = ({ verifier }: AttackServer, { redirectUri }: AttackClient, code = '') => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
})

const pingAt = async (it: AttackServer, node: string, token: unknown): Promise<number> =>
  (await it.request(`${node}/oauth/ping`, { headers: { authorization: `Bearer ${token}` } })).status

describe('FT-07 Two nodes', () => {
  let it: AttackServer
  let other: TestServer
  let client: AttackClient
  beforeAll(async () => {
    it = await startAttackServer({ trustedProxies: ['127.0.0.1'] })
    // Both nodes have the same public URL and the same database.
    other = await startServer({
      beside: it.server,
      issuer: it.issuer,
      deviceAuthorization: true,
      trustedProxies: ['127.0.0.1'],
    })
  })
  afterAll(async () => {
    await other?.close()
    await it?.close()
  })
  beforeEach(async () => {
    client = await it.client()
  })

  const toB = (url: string): string => url.replace(it.issuer, other.issuer)
  const machine = { grant_type: 'client_credentials' }
  /** Returns a new user whose browser sends requests to both nodes. */
  const somebody = async (): Promise<{ onA: Person; onB: Person; user: User }> => {
    const onA = await Person.stranger(it.server)
    return { onA, onB: new Person(other, onA.session, onA.user), user: onA.user }
  }
  const grantBy = async ({ session: { agent } }: Person) => {
    const code = await it.code({ scope }, { client, agent })
    const { body } = await it.token({ code }, { client })
    return { accessToken: String(body.access_token), refreshToken: String(body.refresh_token) }
  }
  const isLoggedIn = async (person: Person): Promise<boolean> =>
    (await person.get('/')).html.includes(person.user.email)

  test('supports a flow in which each step is processed by another node', async () => {
    const agent = new UserAgent()
    const login = await agent.browse(`${it.issuer}/login`)
    const { hidden } = formIn(await login.text())
    const { email, password } = it.users.a
    const loggedIn = await agent.fetch(`${other.issuer}/login`, {
      method: 'POST',
      body: new URLSearchParams({ ...hidden, email, password }),
    })
    expect(loggedIn.status).toBe(303)
    const consent = await agent.fetch(it.authorizeUrl({ scope }, { client }))
    expect(consent.status).toBe(200)
    const decided = await agent.fetch(`${other.issuer}/oauth/authorize`, {
      method: 'POST',
      body: new URLSearchParams({ ...formIn(await consent.text()).hidden, confirm: 'yes' }),
    })
    const { searchParams } = new URL(decided.headers.get('location') ?? '')
    const issued = await it.token({ code: searchParams.get('code') ?? '' }, { client })
    expect(issued.status).toBe(200)
    expect(await pingAt(it, other.issuer, issued.body.access_token)).toBe(200)
    const refreshed = await tokenAt(it, other.issuer, client, {
      grant_type: 'refresh_token',
      refresh_token: String(issued.body.refresh_token),
    })
    expect(refreshed.status).toBe(200)
    expect(await pingAt(it, it.issuer, refreshed.body.access_token)).toBe(200)
    // The other node reads the stored consent, so it redirects without a consent page.
    const again = await agent.fetch(toB(it.authorizeUrl({ scope }, { client })))
    expect(again.headers.get('location')).toContain('code=')
    await it.request('/oauth/revoke', {
      method: 'POST',
      body: new URLSearchParams({ token: String(refreshed.body.refresh_token) }),
      headers: { authorization: basic(client.clientId, client.clientSecret) },
    })
    expect(await pingAt(it, other.issuer, refreshed.body.access_token)).toBe(401)
  })

  test('accepts a pushed request of another node only once', async () => {
    const { agent } = await it.browser('a')
    await it.grant({ scope }, { client })
    const { clientId: client_id } = client
    const pushed = await it.request(`${other.issuer}/oauth/par`, {
      method: 'POST',
      body: new URL(it.authorizeUrl({ scope }, { client })).search.slice(1),
      headers: { 'content-type': form, authorization: basic(client_id, client.clientSecret) },
    })
    expect(pushed.status).toBe(201)
    const query = formOf({ client_id, request_uri: String(pushed.body.request_uri) })
    const used = await agent.fetch(`${it.issuer}/oauth/authorize?${query}`)
    expect(used.headers.get('location')).toContain('code=')
    const late = await agent.fetch(`${other.issuer}/oauth/authorize?${query}`)
    expect(late.headers.get('location')).toMatch(/^\/oauth\/errors\?/)
  })

  test('redeems a code only once if two nodes receive it concurrently, and revokes its tokens because of the replays', async () => {
    for (let round = 0; round < 3; round += 1) {
      const code = await it.code({ scope }, { client })
      const responses = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          tokenAt(
            it,
            index % 2 === 0 ? it.issuer : other.issuer,
            client,
            redemption(it, client, code),
          ),
        ),
      )
      const issued = responses.filter(({ status }) => status === 200)
      expect(issued).toHaveLength(1)
      for (const response of responses.filter(({ status }) => status !== 200))
        expectJson(response, 400, 'invalid_grant')
      expect(await pingAt(it, it.issuer, issued[0]?.body.access_token)).toBe(401)
    }
  })

  test('applies a logout immediately at the other node', async () => {
    const { onA, onB } = await somebody()
    expect([await isLoggedIn(onA), await isLoggedIn(onB)]).toEqual([true, true])
    // Node B accepts the CSRF token of node A.
    expect((await onB.post('/logout')).status).toBe(303)
    expect([await isLoggedIn(onA), await isLoggedIn(onB)]).toEqual([false, false])
  })

  test('applies the revocation of an application immediately at the other node', async () => {
    const { onA } = await somebody()
    const { accessToken, refreshToken } = await grantBy(onA)
    const code = await it.code({ scope }, { client, agent: onA.session.agent })
    expect(await pingAt(it, other.issuer, accessToken)).toBe(200)
    expect((await onA.post(at.revokeApplication(client.clientId))).status).toBe(303)
    expect(await pingAt(it, other.issuer, accessToken)).toBe(401)
    const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken }
    expectJson(await tokenAt(it, other.issuer, client, refresh), 400, 'invalid_grant')
    const late = await tokenAt(it, other.issuer, client, redemption(it, client, code))
    expectJson(late, 400, 'invalid_grant')
  })

  test('applies the reset of a secret immediately at the other node', async () => {
    const { onA, user } = await somebody()
    client = await it.client({ userId: user.id, defaultScopes: [scope] })
    expect((await tokenAt(it, other.issuer, client, machine)).status).toBe(200)
    expect((await onA.post(at.reset(client.clientId))).status).toBe(303)
    expectJson(await tokenAt(it, other.issuer, client, machine), 401, 'invalid_client')
    const page = await onA.get(at.client(client.clientId))
    const clientSecret = page.copied('client-secret') ?? page.copied('client_secret') ?? ''
    it.saw(clientSecret)
    expect(clientSecret).not.toBe('')
    expect((await tokenAt(it, other.issuer, { ...client, clientSecret }, machine)).status).toBe(200)
  })

  test('applies the change and deletion of a personal token immediately at the other node', async () => {
    const { onA, user } = await somebody()
    const made = await it.server.server.tokens.createPersonal('Laptop', user.id, {
      scopes: [scope, 'notes:write'],
    })
    it.saw(made.accessToken)
    const headers = {
      authorization: `Bearer ${made.accessToken}`,
      'content-type': 'application/json',
    }
    const write = async () =>
      (
        await it.request(`${other.issuer}/api/notes`, {
          method: 'POST',
          headers,
          body: '{"text":"x"}',
        })
      ).status
    expect(await write()).toBe(201)
    expect((await onA.fill(at.token(made.id), { scopes: scope })).status).toBe(303)
    expect(await write()).toBe(403)
    expect((await onA.fill(at.token(made.id), { scopes: [scope, 'notes:write'] })).status).toBe(303)
    expect(await write()).toBe(201)
    expect((await onA.post(at.token(made.id), { delete: 'yes' })).status).toBe(303)
    expect(await write()).toBe(401)
  })

  test('applies the deactivation, password change and deletion of a user immediately at the other node', async () => {
    const { users } = it.server.server
    const { onA, onB, user } = await somebody()
    const { accessToken } = await grantBy(onA)
    const state = async () => [await pingAt(it, other.issuer, accessToken), await isLoggedIn(onB)]
    expect(await state()).toEqual([200, true])
    await users.setActive(user.id, false)
    expect(await state()).toEqual([401, false])
    await users.setActive(user.id, true)
    expect((await state())[0]).toBe(200)
    const again = await Person.logIn(it.server, { user })
    const atB = new Person(other, again.session, user)
    expect(await isLoggedIn(atB)).toBe(true)
    await users.setPassword(user.id, 'another password of the tests')
    expect(await isLoggedIn(atB)).toBe(false)
    await users.delete(user.id)
    expect(await pingAt(it, other.issuer, accessToken)).toBe(401)
  })

  test('applies the change, deactivation and deletion of a client immediately at the other node', async () => {
    const { clients } = it.server.server
    const { accessToken } = await it.grant({ scope: 'notes:read notes:write' }, { client })
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' }
    const write = async () =>
      (
        await it.request(`${other.issuer}/api/notes`, {
          method: 'POST',
          headers,
          body: '{"text":"x"}',
        })
      ).status
    expect(await write()).toBe(201)
    await clients.update(client.clientId, { allowedScopes: [scope] })
    expect(await write()).toBe(403)
    await clients.update(client.clientId, { allowedScopes: null })
    expect(await write()).toBe(201)
    await clients.mark(client.clientId, { isDisabled: true })
    expect(await write()).toBe(401)
    expectJson(await tokenAt(it, other.issuer, client, machine), 401, 'invalid_client')
    await clients.mark(client.clientId, { isDisabled: false })
    expect(await write()).toBe(201)
    await clients.delete(client.clientId)
    expect(await write()).toBe(401)
  })

  test('counts requests to both nodes together for a limit', async () => {
    const device = await Device.register(it.server)
    const from = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`
    const headers = { 'x-forwarded-for': from }
    const statuses: number[] = []
    for (let sent = 0; sent < 104; sent += 1) {
      const { issuer } = sent % 2 === 0 ? it : other
      statuses.push((await device.ask({}, { headers, issuer })).status)
    }
    expect(statuses.slice(0, 100).every((status) => status === 200)).toBe(true)
    expect(statuses.slice(100)).toEqual([429, 429, 429, 429])
  })
})

describe('FT-08 Clock skew and time jumps', () => {
  let it: AttackServer
  let other: TestServer
  /** Milliseconds by which the clock of the second node is ahead. */
  let skew = 0
  beforeAll(async () => {
    it = await startAttackServer()
    const { server } = it
    other = await startServer({
      beside: server,
      issuer: server.issuer,
      clock: () => server.now() + skew,
    })
  })
  afterAll(async () => {
    await other?.close()
    await it?.close()
  })
  afterEach(() => {
    skew = 0
  })

  const newClient = () => it.client()
  const refreshAt = (node: string, client: AttackClient, refresh_token: string) =>
    tokenAt(it, node, client, { grant_type: 'refresh_token', refresh_token })

  test.each([-4, 4])(
    'accepts a code until its expiry on a node whose clock differs by %i s',
    async (seconds) => {
      skew = seconds * 1000
      const client = await newClient()
      const redeemAfter = async (wait: number) => {
        const code = await it.code({ scope }, { client })
        it.server.advance(wait)
        return (await tokenAt(it, other.issuer, client, redemption(it, client, code))).status
      }
      expect(await redeemAfter(0)).toBe(200)
      expect(await redeemAfter(55)).toBe(200)
      expect(await redeemAfter(60 + Math.abs(seconds))).toBe(400)
    },
  )

  // These servers have a clock in their options. Without this option, nodes on PostgreSQL use the database's clock:
  // test/full/nodes/clocks.test.ts.
  test('rejects codes early on a node whose clock is 120 s ahead, but accepts tokens and sessions', async () => {
    const client = await newClient()
    const { accessToken, refreshToken } = await it.grant({ scope }, { client })
    const code = await it.code({ scope }, { client })
    const { agent } = await it.browser('a')
    skew = 120_000
    const early = await tokenAt(it, other.issuer, client, redemption(it, client, code))
    expectJson(early, 400, 'invalid_grant')
    expect(await pingAt(it, other.issuer, accessToken)).toBe(200)
    const home = await (await agent.fetch(`${other.issuer}/`)).text()
    expect(home).toContain(it.users.a.email)
    const refreshed = await refreshAt(other.issuer, client, refreshToken)
    expect(refreshed.status).toBe(200)
    // The rejection did not consume the code: a node with the right time still accepts it.
    expect((await it.token({ code }, { client })).status).toBe(200)
    expect(await pingAt(it, it.issuer, refreshed.body.access_token)).toBe(200)
  })

  test.each([-3_600, -120, 120, 3_600])(
    'rejects consumed, rotated and revoked values on a node whose clock differs by %i s',
    async (seconds) => {
      const client = await newClient()
      const code = await it.code({ scope }, { client })
      const spent = await it.token({ code }, { client })
      skew = seconds * 1000
      // The node also rejects a replay if the token seems to be issued in the future.
      expectJson(
        await tokenAt(it, other.issuer, client, redemption(it, client, code)),
        400,
        'invalid_grant',
      )
      skew = 0
      const family = await it.grant({ scope }, { client })
      const next = await it.refresh(family.refreshToken, {}, { client })
      const last = await it.refresh(String(next.body.refresh_token), {}, { client })
      skew = seconds * 1000
      // The successor of this refresh token was redeemed, so the request is a replay at any time.
      expectJson(await refreshAt(other.issuer, client, family.refreshToken), 400, 'invalid_grant')
      for (const node of [it.issuer, other.issuer])
        for (const { body } of [next, last, spent])
          expect(await pingAt(it, node, body.access_token)).toBe(401)
    },
  )

  test('does not accept a rotated token again after the clock was set back by an hour', async () => {
    const client = await newClient()
    const { accessToken, refreshToken } = await it.grant({ scope }, { client })
    const personal = await it.personalToken('a', [])
    const { agent } = await it.newBrowser('b')
    skew = 3_600_000
    expect(await pingAt(it, other.issuer, accessToken)).toBe(401)
    // Long-lived values are still valid.
    expect(await pingAt(it, other.issuer, personal.value)).toBe(200)
    expect(await (await agent.fetch(`${other.issuer}/`)).text()).toContain(it.users.b.email)
    const refreshed = await refreshAt(other.issuer, client, refreshToken)
    expect(refreshed.status).toBe(200)
    skew = 0
    expect(await pingAt(it, other.issuer, refreshed.body.access_token)).toBe(200)
    expect(await pingAt(it, other.issuer, accessToken)).toBe(401)
    expect(await (await agent.fetch(`${other.issuer}/`)).text()).toContain(it.users.b.email)
    const next = await refreshAt(other.issuer, client, String(refreshed.body.refresh_token))
    expect(next.status).toBe(200)
    expect(next.body.expires_in).toBe(3_600)
  })

  // An option of this server is a function, which cannot be sent to other processes. So the server has only one node.
  test('runs background tasks at the usual rate after the clock jumps', async () => {
    let jump = 0
    const sweeps = { jumping: 0, control: 0 }
    const start = (name: keyof typeof sweeps, clock: () => number) => {
      const aroundStore: AroundStore = (operation, run) => {
        if (operation.name === 'tokens.deleteExpired') sweeps[name] += 1
        return run()
      }
      return startServer({ sweepInterval: 1, clock, aroundStore })
    }
    const now = Date.UTC(2026, 10, 21)
    // A sweep takes a lease for most of an interval, so the clock of the control must move.
    const begun = Date.now()
    await using _control = await start('control', () => now + Date.now() - begun)
    await using jumping = await start('jumping', () => now + jump)
    for (const hours of [1, -1, 24, -24, 24 * 365]) {
      const before = sweeps.control
      await vi.waitFor(() => expect(sweeps.control).toBeGreaterThan(before))
      jump += hours * 3_600_000
    }
    await vi.waitFor(() => expect(sweeps.jumping).toBeGreaterThan(0))
    // A run that removed rows calls the operation again.
    expect(sweeps.jumping).toBeLessThanOrEqual(2 * sweeps.control + 2)
    expect(jumping.log.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('FT-09 Client disconnects', () => {
  /** Milliseconds after which an abandoned request has completed. */
  const settled = isOnNodes ? 600 : 200

  /** Sends a request and disconnects the given number of milliseconds after its last byte. */
  const abandon = (
    { issuer }: AttackServer,
    path: string,
    headers: Record<string, string>,
    body: string,
    wait: number,
  ): Promise<void> =>
    new Promise((resolve) => {
      const { port, host } = new URL(issuer)
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined).once('close', () => resolve())
      const lines = [
        `POST ${path} HTTP/1.1`,
        `Host: ${host}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        `Content-Type: ${form}`,
        `Content-Length: ${body.length}`,
      ]
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, () => {
        // Fixed time: the client disconnects at any moment of the request.
        setTimeout(() => socket.destroy(), wait)
      })
    })

  let it: AttackServer
  let pause = 0
  /** Delays writes, so that the client disconnects during a write. Several nodes are slower, and need no delay. */
  const slowly: AroundStore = async ({ name }, run) => {
    // Fixed time: the client disconnects during an operation.
    if (pause > 0 && /insert|rotate|grant|put|take/.test(name)) await delay(pause)
    return run()
  }
  beforeAll(async () => {
    it = await startAttackServer(isOnNodes ? {} : { aroundStore: slowly })
  })
  afterAll(() => it?.close())
  afterEach(() => {
    pause = 0
  })

  const familiesOf = async ({ clientId }: AttackClient) => {
    const [row] = await it.server.query(
      `select count(distinct a.id) as families, count(t.id) as tokens
       from oauth2server_authorization a left join oauth2server_token t on t.authorization_id = a.id
       where a.client_key = (select client_key from oauth2server_client where client_id = '${clientId}')`,
    )
    return { families: Number(row?.families), tokens: Number(row?.tokens) }
  }

  test.each([0, 1, 3, 6, 10, 15, 25, 40])(
    'completes or discards a token request whose client disconnects after %i ms',
    async (wait) => {
      const client = await it.client()
      const { clientId, clientSecret } = client
      const code = await it.code({ scope }, { client })
      const authorization = basic(clientId, clientSecret)
      pause = 6
      await abandon(
        it,
        '/oauth/token',
        { authorization },
        formOf(redemption(it, client, code)),
        wait,
      )
      // Fixed time: the server completes the request.
      await delay(settled)
      pause = 0
      expect([
        { families: 0, tokens: 0 },
        { families: 1, tokens: 1 },
      ]).toContainEqual(await familiesOf(client))
      const retry = await it.token({ code }, { client })
      const isFirst = retry.status === 200
      // If the code was redeemed, the client's retry is a replay, which revokes the tokens.
      if (!isFirst) expectJson(retry, 400, 'invalid_grant')
      expect(await familiesOf(client)).toEqual({ families: 1, tokens: isFirst ? 1 : 0 })
    },
  )

  test.each([0, 3, 8, 20])(
    'allows a retry of a refresh whose client disconnects after %i ms',
    async (wait) => {
      const client = await it.client()
      const { refreshToken } = await it.grant({ scope }, { client })
      const authorization = basic(client.clientId, client.clientSecret)
      const body = formOf({ grant_type: 'refresh_token', refresh_token: refreshToken })
      pause = 6
      await abandon(it, '/oauth/token', { authorization }, body, wait)
      // Fixed time: the server completes the request.
      await delay(settled)
      pause = 0
      const again = await it.refresh(refreshToken, {}, { client })
      expect(again.status).toBe(200)
      expect(await familiesOf(client)).toEqual({ families: 1, tokens: 1 })
      expect((await it.ping(String(again.body.access_token))).status).toBe(200)
    },
  )

  test.each([0, 3, 8, 20])(
    'processes a decision at most once if the user disconnects after %i ms',
    async (wait) => {
      const client = await it.client()
      const { agent, cookie } = await it.newBrowser('b')
      const page = await it.authorize({ scope }, { client, agent, submit: null })
      const { hidden } = formIn(page.text)
      const headers = { Cookie: cookie, 'User-Agent': 'Mozilla/5.0 (a browser of the tests)' }
      pause = 6
      const body = formOf({ ...hidden, confirm: 'yes' })
      await abandon(it, '/oauth/authorize', headers, body, wait)
      // Fixed time: the server completes the request.
      await delay(settled)
      pause = 0
      const again = await it.submit(page, agent, { confirm: 'yes' })
      if (again.query.code === undefined) expect(again.status).toBe(400)
      else expect((await it.token({ code: again.query.code }, { client })).status).toBe(200)
      // The user can start a new authorization in both cases.
      expect((await it.code({ scope }, { client, agent })).length).toBeGreaterThan(20)
    },
  )

  test('responds to other requests, and logs no error, despite incomplete requests', async () => {
    const { port, host } = new URL(it.issuer)
    const sockets = Array.from({ length: 50 }, () => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      const lines = ['POST /oauth/token HTTP/1.1', `Host: ${host}`, `Content-Type: ${form}`]
      socket.write(`${lines.join('\r\n')}\r\nContent-Length: 100\r\n\r\ngrant_type=`)
      return socket
    })
    // Fixed time: the server receives the heads.
    await delay(50)
    // The incomplete requests remain open until this request is answered.
    expect((await it.token({ grant_type: 'client_credentials' }, { client: 'm2m' })).status).toBe(
      200,
    )
    for (const socket of sockets) socket.destroy()
    // Fixed time: an error could be logged.
    await delay(100)
    const faults = it.server.log.filter(({ event }) => event === 'request.failed')
    expect(faults).toEqual([])
    expect((await it.token({ grant_type: 'client_credentials' }, { client: 'm2m' })).status).toBe(
      200,
    )
  })
})
