import type { User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, Person } from '../pages/settings/support.ts'
import { Device, decideOn, enterCode, postToDevicePage } from '../support/device.ts'
import { startServer, type TestServer, testScopes } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'
import {
  type Asking,
  type AttackServer,
  expectBearer,
  expectLocal400,
  type HttpResponse,
  isLoginPage,
  type Over,
  startAttackServer,
  type UserName,
} from './support/attack-server.ts'

let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

/** Opens the consent page for a user, and returns the hidden fields of the form. */
const shown = async (over: Over = {}, asking: Asking = {}): Promise<Record<string, string>> => {
  const page = await attack.authorize({ prompt: 'consent', ...over }, { ...asking, submit: null })
  const { action, hidden } = formIn(page.text)
  expect(action).toBe('/oauth/authorize')
  return hidden
}

/** Sends a form from a page in the browser of a user. */
const post = (
  path: string,
  fields: Record<string, string> | string,
  {
    agent,
    headers = {},
  }: { readonly agent?: UserAgent; readonly headers?: Record<string, string> } = {},
): Promise<HttpResponse> =>
  attack.request(path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
    ...(agent && { agent }),
  })

const isSignedIn = async (
  agent: UserAgent,
  { email }: { readonly email: string } = attack.users.a.user,
): Promise<boolean> => (await attack.request('/', { agent })).text.includes(email)

/** The headers of requests from another site: each entry belongs to one request. */
const foreign: readonly Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'http://localhost:1' },
  { origin: 'http://localhost.evil.example' },
  { 'sec-fetch-site': 'cross-site', origin: 'null' },
  { 'sec-fetch-site': 'same-site', origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
]

describe('SS-01 Forged consent decisions [T091]', () => {
  test.each([{}, { origin: 'null' }, ...foreign])(
    'returns 403 for a decision by a user who was not shown the consent page, with the headers %j',
    async (headers) => {
      const { agent } = await attack.browser('a')
      const theirs = await attack.browser('m')
      const before = await attack.state()
      const { search } = new URL(attack.authorizeUrl({}, { client: 'evil' }))
      const whole = Object.fromEntries(new URLSearchParams(search))
      const hidden = await shown({}, { as: 'm', client: 'evil' })
      for (const fields of [
        { confirm: 'yes' },
        { ...whole, confirm: 'yes' },
        { confirm: 'yes', csrf_token: 'A'.repeat(43) },
        { confirm: 'yes', csrf_token: theirs.csrfToken },
        { ...hidden, confirm: 'yes' },
        { ...hidden, csrf_token: '', confirm: 'yes' },
      ]) {
        const response = await post(`/oauth/authorize${search}`, fields, { agent, headers })
        expect([response.status, response.location], JSON.stringify(fields)).toEqual([
          403,
          undefined,
        ])
      }
      expect(await attack.state()).toEqual(before)
    },
  )

  test('grants nothing for a body without a decision', async () => {
    const { agent } = await attack.browser('a')
    const before = await attack.state()
    const { search } = new URL(attack.authorizeUrl({}, { client: 'evil' }))
    for (const body of ['', '&', 'confirm', 'confirm=', 'confirm=&confirm=']) {
      const response = await post(`/oauth/authorize${search}`, body, { agent })
      const page = await attack.follow(response, agent)
      if (page.status !== 403) expectLocal400(page)
    }
    expect(await attack.state()).toEqual(before)
  })

  test.each<[string, (hidden: Record<string, string>) => Promise<Record<string, string>>]>([
    ['without a CSRF token', async ({ csrf_token, ...rest }) => rest],
    ['with a forged CSRF token', async (hidden) => ({ ...hidden, csrf_token: 'A'.repeat(43) })],
    [
      'with the CSRF token of another user',
      async (hidden) => ({ ...hidden, csrf_token: (await attack.browser('m')).csrfToken }),
    ],
    [
      'with the CSRF token of another browser of the user',
      async (hidden) => ({ ...hidden, csrf_token: (await attack.newBrowser('a')).csrfToken }),
    ],
  ])(
    'returns 403 for a decision %s, and accepts a correct decision afterwards',
    async (_, changed) => {
      const { agent } = await attack.browser('a')
      const hidden = await shown()
      const refused = await post(
        '/oauth/authorize',
        { ...(await changed(hidden)), confirm: 'yes' },
        { agent },
      )
      expect([refused.status, refused.location]).toEqual([403, undefined])
      const response = await post('/oauth/authorize', { ...hidden, confirm: 'yes' }, { agent })
      expect(response.query.code).toBeDefined()
    },
  )

  test.each(foreign)('returns 403 for a decision with the headers %j', async (headers) => {
    const { agent } = await attack.browser('a')
    const hidden = await shown()
    const fields = { ...hidden, confirm: 'yes' }
    const refused = await post('/oauth/authorize', fields, { agent, headers })
    expect([refused.status, refused.location]).toEqual([403, undefined])
    // Browsers send the origin null with forms of this server, because of its referrer policy.
    const ours = { 'sec-fetch-site': 'same-origin', origin: 'null' }
    const response = await post('/oauth/authorize', fields, { agent, headers: ours })
    expect(response.query.code).toBeDefined()
  })
})

describe('SS-02 HEAD and method overrides', () => {
  test('issues no code for a HEAD request', async () => {
    const { agent } = await attack.browser('a')
    await attack.code()
    const before = await attack.state()
    const head = await attack.request(attack.authorizeUrl(), { agent, method: 'HEAD' })
    expect([head.status, head.location, head.text]).toEqual([200, undefined, ''])
    expect(await attack.state()).toEqual(before)
    const get = await attack.request(attack.authorizeUrl(), { agent })
    expect(get.query.code).toBeDefined()
    expect(await attack.state()).not.toEqual(before)
  })

  test('ignores method overrides and decisions by GET', async () => {
    const { agent } = await attack.browser('a')
    const hidden = await shown()
    const before = await attack.state()
    const decision = new URLSearchParams({ ...hidden, confirm: 'yes' })
    const url = attack.authorizeUrl({ prompt: 'consent' })
    for (const headers of [
      {},
      { 'x-http-method-override': 'POST' },
      { 'x-method-override': 'POST' },
    ]) {
      const got = await attack.request(`${url}&${decision}&_method=POST`, { agent, headers })
      expect([got.status, got.location]).toEqual([200, undefined])
    }
    const { id } = await attack.personalToken()
    const user = new Person(attack.server, await attack.browser('a'), attack.users.a.user)
    const asDelete = { 'x-http-method-override': 'DELETE' }
    await user.post(`${at.token(id)}?_method=DELETE`, { _method: 'DELETE' }, asDelete)
    expect(
      (await attack.server.query(`select 1 from oauth2server_token where id = ${id}`)).length,
    ).toBe(1)
    expect((await attack.state()).codes).toEqual(before.codes)
    const response = await post('/oauth/authorize', { ...hidden, confirm: 'yes' }, { agent })
    expect(response.query.code).toBeDefined()
  })
})

describe('SS-03 State changes by GET', () => {
  test('changes nothing for GET and HEAD requests', async () => {
    const { agent, csrfToken } = await attack.newBrowser('a')
    const { accessToken } = await attack.grant()
    const { id } = await attack.personalToken()
    const [{ id: device } = {}] = await attack.server.query(
      'select id from oauth2server_token where authorization_id is not null order by id desc limit 1',
    )
    const { clientId } = attack.clients.conf
    const before = await attack.state()
    const forms = [
      at.revoke(Number(device)),
      at.rotate(id),
      at.reset(clientId),
      at.revokeApplication(clientId),
      at.revokeAll,
      '/logout',
    ]
    const shownToo = [at.token(id), at.client(clientId), at.newToken, at.sessions, at.admin]
    const fields = new URLSearchParams({
      csrf_token: csrfToken,
      delete: 'yes',
      confirm: 'yes',
      confirm_name: 'Conf',
      name: 'Other',
      others: 'yes',
    })
    for (const method of ['GET', 'HEAD']) {
      for (const path of forms) {
        const response = await attack.request(`${path}?${fields}`, { agent, method })
        expect([response.status, response.headers.get('allow')], path).toEqual([405, 'POST'])
      }
      for (const path of shownToo) {
        const response = await attack.request(`${path}?${fields}&delete=1`, { agent, method })
        // The administration page returns 404 to users who are not administrators.
        expect(response.status, path).toBe(path === at.admin ? 404 : 200)
      }
    }
    expect(await attack.state()).toEqual(before)
    expect(await isSignedIn(agent)).toBe(true)
    expect((await attack.ping(accessToken)).status).toBe(200)
  })
})

describe('SS-05 Forms of other users, and repeated decisions', () => {
  test('rejects a form of another user or another browser', async () => {
    const mine = await attack.browser('a')
    const twin = await attack.newBrowser('a')
    const theirs = await shown({}, { as: 'm' })
    const own = await shown()
    const before = await attack.state()
    for (const [agent, fields] of [
      [mine.agent, theirs],
      [mine.agent, { ...theirs, csrf_token: mine.csrfToken }],
      [twin.agent, { ...own, csrf_token: twin.csrfToken }],
      [new UserAgent(), own],
    ] as const) {
      const response = await post('/oauth/authorize', { ...fields, confirm: 'yes' }, { agent })
      expect([response.status, response.location]).toEqual([403, undefined])
    }
    expect(await attack.state()).toEqual(before)
    const { agent } = await attack.browser('m')
    const response = await post('/oauth/authorize', { ...theirs, confirm: 'yes' }, { agent })
    expect(response.query.code).toBeDefined()
  })

  test('rejects a form after another user has logged in with the same browser', async () => {
    const { agent } = await attack.newBrowser('a')
    const hidden = await shown({}, { agent })
    const login = await attack.request('/login?prompt=login', { agent })
    const { user, password } = attack.users.m
    const fields = { ...formIn(login.text).hidden, email: user.email, password }
    expect((await post('/login', fields, { agent })).status).toBe(303)
    const [csrf_token = ''] = Object.values(
      formIn((await attack.request('/', { agent })).text).hidden,
    )
    for (const given of [hidden, { ...hidden, csrf_token }]) {
      const response = await post('/oauth/authorize', { ...given, confirm: 'yes' }, { agent })
      expect([response.status, response.location]).toEqual([403, undefined])
    }
  })

  test('executes one of two concurrent decisions, and answers both with the same code', async () => {
    const { agent } = await attack.browser('a')
    for (let round = 0; round < 5; round += 1) {
      const hidden = await shown()
      const decision = { ...hidden, confirm: 'yes' }
      const responses = await Promise.all([
        post('/oauth/authorize', decision, { agent }),
        post('/oauth/authorize', decision, { agent }),
      ])
      expect(responses.map(({ status }) => status)).toEqual([303, 303])
      expect(responses[0]?.query.code).toBeDefined()
      expect(responses[1]?.location).toBe(responses[0]?.location)
    }
  })

  test.each([
    ['yes', 'yes'],
    ['yes', 'no'],
    ['no', 'yes'],
    ['no', 'no'],
  ] as const)(
    'keeps the first decision (%s) if the same form is sent again (%s)',
    async (first, second) => {
      const { agent } = await attack.browser('a')
      const hidden = await shown()
      const decided = await post('/oauth/authorize', { ...hidden, confirm: first }, { agent })
      expect(decided.query.error).toBe(first === 'no' ? 'access_denied' : undefined)
      const before = await attack.state()
      const again = await post('/oauth/authorize', { ...hidden, confirm: second }, { agent })
      // A repetition receives the first response. Another decision is refused.
      const expected = first === second ? [303, decided.location] : [400, undefined]
      expect([again.status, again.location]).toEqual(expected)
      expect(await attack.state()).toEqual(before)
    },
  )

  test('creates a new form ID for each page, and accepts each form', async () => {
    const { agent } = await attack.browser('a')
    const [one, other] = [await shown(), await shown()]
    expect(one.authorization_request).not.toBe(other.authorization_request)
    for (const hidden of [one, other]) {
      const response = await post('/oauth/authorize', { ...hidden, confirm: 'yes' }, { agent })
      expect(response.query.code).toBeDefined()
    }
  })

  test('rejects a forged or second decision on a device code', async () => {
    const device = await Device.register(attack.server, {})
    const codes = await device.codes({ scope: 'r' })
    attack.saw(codes.device_code)
    const [mine, theirs] = [await attack.browser('a'), await attack.browser('m')]
    const { hidden } = await enterCode(attack.server, theirs, codes.user_code)
    for (const fields of [hidden, { ...hidden, csrf_token: mine.csrfToken }]) {
      const page = await postToDevicePage(attack.server, mine, { ...fields, confirm: 'yes' })
      expect(page.status).toBe(403)
    }
    expect((await device.poll(codes)).body.error).toBe('authorization_pending')
    expect((await decideOn(attack.server, theirs, codes, 'no')).status).toBe(200)
    const late = await postToDevicePage(attack.server, theirs, { ...hidden, confirm: 'yes' })
    expect(late.status).toBe(400)
    attack.server.advance(10)
    expect((await device.poll(codes)).body.error).toBe('access_denied')
  })
})

describe('SS-06 Session fixation', () => {
  const name = 'oauth2server_session'
  const identifierIn = async (agent: UserAgent): Promise<string> =>
    /oauth2server_session=([^;]*)/.exec(await agent.jar.getCookieString(attack.issuer))?.[1] ?? ''
  const withCookie = async (value: string): Promise<UserAgent> => {
    const agent = new UserAgent({ 'user-agent': browser })
    await agent.jar.setCookie(`${name}=${value}; Path=/`, attack.issuer)
    return agent
  }
  const logInAs = async (agent: UserAgent, who: UserName): Promise<HttpResponse> => {
    const page = await attack.request('/login?prompt=login', { agent })
    const { user, password } = attack.users[who]
    const fields = { ...formIn(page.text).hidden, email: user.email, password }
    return post('/login', fields, { agent })
  }

  test('replaces a planted cookie at the login', async () => {
    const planted = 'A'.repeat(43)
    const [victim, attacker] = [await withCookie(planted), await withCookie(planted)]
    expect((await logInAs(victim, 'a')).status).toBe(303)
    expect(await isSignedIn(victim)).toBe(true)
    const identifier = await identifierIn(victim)
    expect(identifier).toMatch(/^[A-Za-z0-9]{43}$/)
    expect(identifier).not.toBe(planted)
    expect(await isSignedIn(attacker)).toBe(false)
  })

  test('replaces the anonymous cookie of another browser at the login', async () => {
    const anonymous = new UserAgent({ 'user-agent': browser })
    await attack.request('/login', { agent: anonymous })
    const planted = await identifierIn(anonymous)
    const victim = await withCookie(planted)
    expect((await logInAs(victim, 'a')).status).toBe(303)
    expect(await identifierIn(victim)).not.toBe(planted)
    expect(await isSignedIn(anonymous)).toBe(false)
  })

  test('creates a new identifier at each login, and ends the previous session', async () => {
    const { agent, identifier, jwt } = await attack.newBrowser('a')
    const seen = [identifier]
    for (const who of ['a', 'm', 'a'] as const) {
      expect((await logInAs(agent, who)).status).toBe(303)
      const now = await identifierIn(agent)
      for (const before of seen) {
        expect(now).not.toBe(before)
        expect(await isSignedIn(await withCookie(before), attack.users[who].user)).toBe(false)
      }
      seen.push(now)
    }
    const old = { authorization: `Bearer ${jwt}` }
    expectBearer(
      await attack.request('/api/me', { agent: await withCookie(identifier), headers: old }),
    )
    // The JWT belongs to an earlier session of the same user.
    expect((await attack.request('/api/me', { agent, headers: old })).status).toBe(403)
  })

  test('ends the session at the logout, and creates a new identifier at the next login', async () => {
    const { agent, identifier, csrfToken } = await attack.newBrowser('a')
    expect((await post('/logout', { csrf_token: csrfToken }, { agent })).status).toBe(303)
    expect(await isSignedIn(await withCookie(identifier))).toBe(false)
    const again = await withCookie(identifier)
    expect((await logInAs(again, 'a')).status).toBe(303)
    expect(await identifierIn(again)).not.toBe(identifier)
  })

  test('treats a request with two session cookies as anonymous', async () => {
    const [one, two] = [await attack.browser('a'), await attack.browser('m')]
    const headers = { cookie: `${one.cookie}; ${two.cookie}`, 'user-agent': browser }
    const page = await attack.request('/', { headers })
    expect(page.text).toContain('Nobody is logged in.')
    const asked = await attack.request(attack.authorizeUrl(), { headers })
    expect(asked.location).toMatch(/^\/login\?/)
    for (const { csrfToken, jwt } of [one, two]) {
      expect((await post('/logout', { csrf_token: csrfToken }, { headers })).status).toBe(403)
      expectBearer(
        await attack.request('/api/me', {
          headers: { ...headers, authorization: `Bearer ${jwt}` },
        }),
      )
    }
  })
})

describe('SS-07 Login CSRF', () => {
  test('rejects a login that another site sent or that has no valid CSRF token', async () => {
    const { user, password } = attack.users.m
    const credentials = { email: user.email, password }
    const victim = new UserAgent({ 'user-agent': browser })
    const login = await attack.authorize({}, { agent: victim, submit: null })
    expect(isLoginPage(login)).toBe(true)
    const { hidden } = formIn(login.text)
    const other = new UserAgent({ 'user-agent': browser })
    const theirs = formIn((await attack.request('/login', { agent: other })).text).hidden
    const before = await attack.state()
    const { csrf_token, ...tokenless } = hidden
    const attempts: readonly (readonly [Record<string, string>, Record<string, string>])[] = [
      [{ ...tokenless, ...credentials }, {}],
      [{ ...hidden, csrf_token: '', ...credentials }, {}],
      [{ ...hidden, csrf_token: theirs.csrf_token ?? '', ...credentials }, {}],
      ...foreign.map((headers) => [{ ...hidden, ...credentials }, headers] as const),
    ]
    for (const [fields, headers] of attempts) {
      const response = await post('/login', fields, { agent: victim, headers })
      expect([response.status, response.location]).toEqual([403, undefined])
      expect(await isSignedIn(victim, user)).toBe(false)
    }
    // The browser sends no cookie with this request (SameSite=Lax). The response must not replace the cookie.
    const bare = await post('/login', { ...hidden, ...credentials }, { headers: foreign[0] ?? {} })
    expect([bare.status, bare.headers.getSetCookie()]).toEqual([403, []])
    expect(await attack.state()).toEqual(before)
    const again = await attack.authorize({}, { agent: victim, submit: null })
    expect(isLoginPage(again)).toBe(true)
  })

  test('does not replace the session of a logged-in user', async () => {
    const { agent, cookie, csrfToken } = await attack.newBrowser('a')
    const { user, password } = attack.users.m
    const theirs = await attack.browser('m')
    for (const [csrf_token, headers] of [
      ['', {}],
      [theirs.csrfToken, {}],
      ...foreign.map((from) => [csrfToken, from] as const),
    ] as const) {
      const fields = { csrf_token, email: user.email, password }
      expect((await post('/login', fields, { agent, headers })).status).toBe(403)
    }
    expect(await agent.jar.getCookieString(attack.issuer)).toBe(cookie)
    expect(await isSignedIn(agent)).toBe(true)
    expect(await isSignedIn(agent, user)).toBe(false)
  })
})

/** Returns the header with which a proxy reports the sender of a request. */
const from = (forwardedFor: string): Record<string, string> => ({ 'x-forwarded-for': forwardedFor })

/** Returns whether pages and the API accept a session with these headers. */
const isAccepted = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  { cookie, jwt }: Pick<LoggedIn, 'cookie' | 'jwt'>,
  headers: Record<string, string>,
): Promise<boolean> => {
  const sent = { cookie, 'user-agent': browser, ...headers }
  const page = await fetch(`${issuer}/account/settings/applications/`, {
    headers: sent,
    redirect: 'manual',
  })
  await page.body?.cancel()
  const api = await fetch(`${issuer}/api/me`, {
    headers: { ...sent, authorization: `Bearer ${jwt}` },
  })
  await api.body?.cancel()
  if (page.status === 200) {
    expect(api.status).toBe(200)
    return true
  }
  expect([page.status, api.status]).toEqual([303, 401])
  expect(page.headers.get('location')).toMatch(/^\/login\?/)
  expect(api.headers.get('www-authenticate')).not.toContain('error=')
  return false
}

describe('SS-09 Binding to the IP address and the browser', () => {
  const owner = '198.51.100.7'
  let proxied: AttackServer
  let session: LoggedIn
  const account = () => ({ issuer: proxied.issuer, ...proxied.users.a })
  beforeAll(async () => {
    proxied = await startAttackServer({ trustedProxies: ['127.0.0.1', '10.0.0.0/8'] })
    session = await logIn(account(), from(owner))
    proxied.saw(session.identifier, session.jwt)
  })
  afterAll(() => proxied.close())

  test.each<[string, Record<string, string>]>([
    ['another address', from('203.0.113.9')],
    ['a neighbouring address', from('198.51.100.8')],
    ['another user agent', { ...from(owner), 'user-agent': `${browser} x` }],
    ['an empty user agent', { ...from(owner), 'user-agent': '' }],
    ['another address and another user agent', { ...from('203.0.113.9'), 'user-agent': 'curl/8' }],
    ['the owner’s address forged at the start of X-Forwarded-For', from(`${owner}, 203.0.113.9`)],
    [
      'the owner’s address forged at the start of X-Forwarded-For behind two proxies',
      from(`${owner}, 203.0.113.9, 10.0.0.1`),
    ],
    ['the address of the proxy', {}],
    ['an IPv6 address', from('2001:db8::7')],
    ['an invalid forwarded address', from(`${owner}, junk`)],
    [
      'the owner’s address forged in other headers',
      { ...from('203.0.113.9'), 'x-real-ip': owner, forwarded: `for=${owner}` },
    ],
  ])(
    'rejects a stolen cookie with %s, logs it, and does not end the session',
    async (_, headers) => {
      const before = proxied.server.log.length
      const page = await fetch(`${proxied.issuer}/`, {
        headers: { cookie: session.cookie, 'user-agent': browser, ...headers },
      })
      expect(await page.text()).toContain('Nobody is logged in.')
      const lines = proxied.server.log.slice(before).filter(({ level }) => level === 'warn')
      expect(lines).toEqual([
        expect.objectContaining({ event: 'session.moved', userId: proxied.users.a.user.id }),
      ])
      expect(await isAccepted(proxied.server, session, headers)).toBe(false)
      expect(await isAccepted(proxied.server, session, from(owner))).toBe(true)
    },
  )

  test.each([
    ['the same address', owner],
    ['the same address behind two trusted proxies', `${owner}, 10.1.2.3`],
    ['the same address after forged addresses', `203.0.113.9, 127.0.0.1, ${owner}`],
    ['the same address as a mapped IPv6 address', `::ffff:${owner}`],
  ])('accepts the session from %s', async (_, forwardedFor) => {
    expect(await isAccepted(proxied.server, session, from(forwardedFor))).toBe(true)
  })

  test('ignores X-Forwarded-For of a peer that is not a trusted proxy', async () => {
    const mine = await attack.browser('a')
    for (const headers of [from(owner), from('127.0.0.1'), { 'x-real-ip': owner }])
      expect(await isAccepted(attack.server, mine, headers)).toBe(true)
    const claimed = await logIn({ issuer: attack.issuer, ...attack.users.a }, from(owner))
    // The session has the address of the connection, not the forged address.
    expect(await isAccepted(attack.server, claimed, {})).toBe(true)
  })

  test('compares long user agents completely', async () => {
    const long = { ...from(owner), 'user-agent': 'x'.repeat(3_000) }
    const odd = await logIn(account(), long)
    expect(await isAccepted(proxied.server, odd, long)).toBe(true)
    expect(await isAccepted(proxied.server, odd, { ...long, 'user-agent': 'x'.repeat(300) })).toBe(
      false,
    )
    const none = { ...from(owner), 'user-agent': '' }
    const nameless = await logIn(account(), none)
    expect(await isAccepted(proxied.server, nameless, none)).toBe(true)
    expect(await isAccepted(proxied.server, nameless, from(owner))).toBe(false)
  })

  test('accepts other addresses of the configured /24 and /64 networks', async () => {
    await using app = await startServer({
      trustedProxies: ['127.0.0.1'],
      sessionIpv4Prefix: 24,
      sessionIpv6Prefix: 64,
    })
    const old = await logIn(app, from(owner))
    expect(await isAccepted(app, old, from('198.51.100.200'))).toBe(true)
    expect(await isAccepted(app, old, from('198.51.101.7'))).toBe(false)
    const six = await logIn(app, from('2001:db8:0:1::7'))
    expect(await isAccepted(app, six, from('2001:db8:0:1:ffff::1'))).toBe(true)
    expect(await isAccepted(app, six, from('2001:db8:0:2::7'))).toBe(false)
    expect(await isAccepted(app, six, from(owner))).toBe(false)
  })
})

describe('SS-10 End of sessions', () => {
  let twin: TestServer
  beforeAll(async () => {
    twin = await startServer({ beside: attack.server, issuer: attack.issuer, scopes: testScopes })
  })
  afterAll(() => twin.close())

  const nodes = (): readonly TestServer[] => [attack.server, twin]
  const alive = async (sessions: readonly LoggedIn[]): Promise<readonly boolean[]> =>
    Promise.all(sessions.flatMap((session) => nodes().map((node) => isAccepted(node, session, {}))))

  type End = (sessions: readonly [LoggedIn, LoggedIn], user: Pick<User, 'id'>) => Promise<unknown>
  test.each<[string, End, boolean]>([
    [
      'logging out',
      ([one]) => post('/logout', { csrf_token: one.csrfToken }, { agent: one.agent }),
      true,
    ],
    [
      'ending all other sessions from another browser',
      ([, other]) =>
        post(at.sessions, { csrf_token: other.csrfToken, others: 'yes' }, { agent: other.agent }),
      true,
    ],
    [
      'changing the password',
      (_, { id }) => attack.server.server.users.setPassword(id, 'another good password'),
      false,
    ],
    [
      'deactivating the user',
      (_, { id }) => attack.server.server.users.setActive(id, false),
      false,
    ],
    ['deleting the user', (_, { id }) => attack.server.server.users.delete(id), false],
  ])('ends a session immediately on every node by %s', async (what, end, otherLives) => {
    const { password } = attack.users.a
    const email = `${what.replaceAll(' ', '-')}@example.org`
    const user = await attack.server.server.users.create({ email, password })
    const enter = () => logIn({ issuer: attack.issuer, user, password })
    const sessions = [await enter(), await enter()] as const
    attack.saw(...sessions.flatMap(({ identifier, jwt }) => [identifier, jwt]))
    // Use the sessions on both nodes first, to fill a possible cache of each node.
    expect(await alive(sessions)).toEqual([true, true, true, true])
    await end(sessions, user)
    expect(await alive(sessions)).toEqual([false, false, otherLives, otherLives])
  })
})

describe('SS-11 Clickjacking and content security policy [T093]', () => {
  const strict = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  const directives = ({ headers }: HttpResponse): readonly string[] =>
    (headers.get('content-security-policy') ?? '').split('; ')

  test.each<[string, () => Promise<HttpResponse>]>([
    ['the consent page', () => attack.authorize({ prompt: 'consent' }, { submit: null })],
    ['the login page', () => attack.request('/login')],
    ['a failed login', () => post('/login', { email: 'x' })],
    ['the device page', async () => asUser('/oauth/device')],
    ['a wrong user code', async () => asUser('/oauth/device', { user_code: 'BCDF-GHJK' })],
    ['the list of applications', () => asUser(at.list)],
    ['a new application', () => asUser(at.newClient)],
    ['an application', () => asUser(at.client(attack.clients.conf.clientId))],
    ['a new personal token', () => asUser(at.newToken)],
    ['an invalid form', () => asUser(at.newToken, { name: '' })],
    ['the sessions', () => asUser(at.sessions)],
    ['the error view', () => attack.request('/oauth/errors?error=x')],
    ['an authorization error', () => attack.authorize({ client_id: 'nope' })],
    ['an unknown path', () => attack.request('/oauth/absent')],
    ['a 405 page', () => attack.request('/logout', { headers: { accept: 'text/html' } })],
    ['the page of the notes application', () => asUser('/')],
  ])('forbids framing and inline scripts on %s', async (what, open) => {
    const response = await open()
    const isHosts = what === 'the page of the notes application'
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = directives(response)
    expect(policy).toEqual(
      expect.arrayContaining(isHosts ? ["frame-ancestors 'none'", "default-src 'none'"] : strict),
    )
    expect(policy.join()).not.toMatch(/unsafe|\*|data:.*script|http:\/\/(?!127|localhost)/)
    if (!isHosts) {
      expect(response.headers.get('x-frame-options')).toBe('DENY')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect(response.text).not.toMatch(
      /<script(?![^>]* src="\/)|<style|\sstyle=|\son[a-z]+=|javascript:/,
    )
  })

  const asUser = async (path: string, fields?: Record<string, string>): Promise<HttpResponse> => {
    const { agent, csrfToken } = await attack.browser('a')
    return fields
      ? post(path, { csrf_token: csrfToken, ...fields }, { agent })
      : attack.request(path, { agent })
  }

  test.each<[string, Asking['client'] | undefined]>([
    ['https://client.example/cb', undefined],
    ['http://127.0.0.1:9/cb', 'pub'],
    ['http://[::1]:9/cb', 'pub'],
    ['com.example.app:/cb', 'pub'],
  ])('does not limit the redirect to %s after a form', async (redirect_uri, client) => {
    const asking = client ? { client } : {}
    const over = { redirect_uri, prompt: 'consent' }
    const login = await attack.authorize(over, { ...asking, as: null })
    expect(isLoginPage(login)).toBe(true)
    for (const page of [login, await attack.authorize(over, { ...asking, submit: null })])
      expect(directives(page).some((one) => one.startsWith('form-action'))).toBe(false)
    const { query, location } = await attack.authorize(over, asking)
    expect(location?.startsWith(redirect_uri)).toBe(true)
    expect(query.code ?? location).toMatch(/./)
  })

  test.each([
    "https://client.example/cb;script-src='unsafe-inline'",
    'https://client.example/cb,x?a=b;c=d',
    'https://xn--bcher-kva.example:8443/cb',
    'https://my_app.example/cb',
  ])('does not write %s into the policy', async (redirectUri) => {
    const client = await attack.client({ redirectUris: [redirectUri] })
    const page = await attack.authorize({}, { client, submit: null })
    expect(directives(page)).toEqual(directives(await attack.request('/login')))
  })
})
