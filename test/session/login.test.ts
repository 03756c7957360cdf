import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { rawHttp } from '../support/raw-http.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { en } from '../support/texts.ts'
import { authorizeUrl, formIn, UserAgent } from '../support/user-agent.ts'

let app: TestServer
/** A logged-in browser, for requests that must not change its session. */
let session: LoggedIn
beforeAll(async () => {
  app = await startServer()
  session = await logIn(app)
})
afterAll(() => app.close())

const sessionRows = (): readonly { id: string; user_id: number }[] => {
  const db = new DatabaseSync(app.database, { readOnly: true })
  try {
    return db.prepare('select id, user_id from oauth2server_session').all() as never
  } finally {
    db.close()
  }
}

const post = (
  agent: UserAgent,
  path: string,
  fields: Record<string, string> | URLSearchParams,
  headers: Record<string, string> = {},
) =>
  agent.fetch(`${app.issuer}${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
  })

/** Returns the hidden fields and the URL of the login form in a new browser. */
const loginForm = async (agent: UserAgent, query = '') => {
  const page = await agent.fetch(`${app.issuer}/login${query}`)
  const text = await page.text()
  return { page, text, ...formIn(text) }
}

describe('a login page after an expired session', () => {
  test('says that the session has expired, only to the browser of the session [T2056]', async () => {
    await using own = await startServer({ sessionExpiresIn: 600, sessionIdleExpiresIn: 60 })
    const { agent } = await logIn(own)
    const shown = async (as: UserAgent, headers = {}) =>
      (await (await as.fetch(`${own.issuer}/login`, { headers })).text()).includes(en.login.expired)
    own.advance(61)
    expect(await shown(new UserAgent())).toBe(false)
    expect(await shown(agent, { 'user-agent': 'another browser' })).toBe(false)
    expect(await shown(agent)).toBe(true)
    await own.server.users.setActive(own.user.id, false)
    expect(await shown(agent)).toBe(false)
  })
})

const credentials = () => ({ email: app.user.email, password: app.password })

const isSignedIn = async ({ agent }: Pick<LoggedIn, 'agent'>): Promise<boolean> =>
  (await (await agent.fetch(`${app.issuer}/`)).text()).includes('You are logged in')

describe('decision §2 the login form', () => {
  test('has fields for e-mail and password, and contains next and a CSRF token', async () => {
    const { page, text, action, hidden } = await loginForm(new UserAgent(), '?next=%2Fx%3Fa%3Db')
    expect(page.status).toBe(200)
    expect(action).toBe('/login')
    expect(hidden).toEqual({ csrf_token: expect.stringMatching(/^[\w-]{43}$/), next: '/x?a=b' })
    expect(text).toMatch(/<input [^>]*name="email" type="text" inputmode="email"/)
    expect(text).toMatch(/<input [^>]*name="password" type="password"/)
  })

  test('redirects to next, or to / without next', async () => {
    for (const [next, target] of [
      ['/x?a=b#c', '/x?a=b#c'],
      ['', '/'],
    ] as const) {
      const agent = new UserAgent()
      const { hidden } = await loginForm(agent, `?next=${encodeURIComponent(next)}`)
      const response = await post(agent, '/login', { ...hidden, ...credentials() })
      expect(response.status).toBe(303)
      expect(response.headers.get('location')).toBe(target)
      expect(await isSignedIn({ agent })).toBe(true)
    }
  })

  test('redirects a logged-in user immediately, but not with prompt=login', async () => {
    const { agent } = session
    const on = await agent.fetch(`${app.issuer}/login?next=%2Fx`)
    expect(on.status).toBe(303)
    expect(on.headers.get('location')).toBe('/x')
    expect((await agent.fetch(`${app.issuer}/login?next=%2Fx&prompt=login`)).status).toBe(200)
  })

  test.each<[string, Record<string, string>]>([
    ['a wrong password', { password: 'wrong' }],
    ['a missing password', { password: '' }],
    ['a password of more than 1024 bytes', { password: 'é'.repeat(513) }],
    ['a trailing space in the password', { password: 'correct horse battery staple ' }],
    ['an unknown user', { email: 'nobody@example.org' }],
    ['a missing e-mail address', { email: '' }],
    ['an inactive user', { email: 'inactive@example.org' }],
    ['a user without a password', { email: 'passwordless@example.org', password: 'null' }],
    ['SQL', { email: "' or 1=1 --", password: "' or 1=1 --" }],
  ])(
    'returns 403 with the form, the typed e-mail address and the same message for %s',
    async (_, typed) => {
      const { server, password } = app
      if ((await server.users.findByEmail('inactive@example.org')) === undefined) {
        await server.users.create({ email: 'inactive@example.org', password, active: false })
        await server.users.create({ email: 'passwordless@example.org', password: null })
      }
      const before = sessionRows().length
      const agent = new UserAgent()
      const { hidden } = await loginForm(agent, '?next=%2Fx')
      const fields = { ...credentials(), ...typed }
      const response = await post(agent, '/login', { ...hidden, ...fields })
      expect(response.status).toBe(403)
      const text = await response.text()
      expect(text).toContain('The e-mail address or the password is wrong.')
      expect(formIn(text).hidden).toEqual(hidden)
      expect(text).toContain(
        `name="email" type="text" inputmode="email" value="${fields.email.replaceAll("'", '&#39;')}"`,
      )
      expect(text).not.toContain(app.password)
      expect(text).toMatch(/<input id="password" name="password" type="password"(?![^>]*value)/)
      expect(response.headers.getSetCookie()).toEqual([])
      expect(sessionRows()).toHaveLength(before)
    },
  )

  test('accepts the form in the response to a failed login', async () => {
    const agent = new UserAgent()
    const { hidden } = await loginForm(agent, '?next=%2Fx')
    const failed = await post(agent, '/login', { ...hidden, ...credentials(), password: 'wrong' })
    const again = { ...formIn(await failed.text()).hidden, ...credentials() }
    expect((await post(agent, '/login', again)).headers.get('location')).toBe('/x')
  })

  test('accepts the e-mail address in any case, and the password in any Unicode normalization', async () => {
    await app.server.users.create({ email: 'nfc@example.org', password: 'pässword' })
    const agent = new UserAgent()
    const { hidden } = await loginForm(agent)
    const typed = { email: ' NFC@Example.org', password: 'pässword'.normalize('NFD') }
    expect((await post(agent, '/login', { ...hidden, ...typed })).status).toBe(303)
  })

  test.each<[string, RequestInit]>([
    ['JSON', { body: '{}', headers: { 'content-type': 'application/json' } }],
    ['a missing content type', { body: new Uint8Array([97]) }],
    ['multipart', { body: new FormData() }],
    ['a repeated field', { body: new URLSearchParams('email=a&email=b&csrf_token=c') }],
    ['a control character', { body: new URLSearchParams({ email: 'a\u0000b' }) }],
  ])('returns 400 with a page for %s', async (_, init) => {
    const response = await fetch(`${app.issuer}/login`, { method: 'POST', ...init })
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})

describe('SS-07 login CSRF', () => {
  const attempts: readonly [
    string,
    (own: { csrf_token?: string }) => Promise<Record<string, string>>,
  ][] = [
    ['a missing token', async () => ({})],
    ['an empty token', async () => ({ csrf_token: '' })],
    [
      'a token of another anonymous browser',
      async () => ({ csrf_token: (await loginForm(new UserAgent())).hidden.csrf_token ?? '' }),
    ],
    ["a token of somebody's session", async () => ({ csrf_token: session.csrfToken })],
    [
      'a part of the token',
      async ({ csrf_token = '' }) => ({ csrf_token: csrf_token.slice(0, -1) }),
    ],
    ['the token and more', async ({ csrf_token }) => ({ csrf_token: `${csrf_token}A` })],
  ]
  test.each(attempts)('returns 403 with the form and logs no one in for %s', async (_, forge) => {
    const agent = new UserAgent()
    const { hidden } = await loginForm(agent, '?next=%2Fx')
    const { csrf_token: _own, ...rest } = hidden
    const before = sessionRows().length
    const response = await post(agent, '/login', {
      ...rest,
      ...credentials(),
      ...(await forge(hidden)),
    })
    expect(response.status).toBe(403)
    const text = await response.text()
    expect(text).toContain(en.login.stale)
    expect(formIn(text).hidden).toEqual(hidden)
    expect(await isSignedIn({ agent })).toBe(false)
    expect(sessionRows()).toHaveLength(before)
  })

  test('returns 403 with the form and a new cookie for a token without its cookie', async () => {
    const { hidden } = await loginForm(new UserAgent())
    const bare = new UserAgent()
    const response = await post(bare, '/login', { ...hidden, ...credentials() })
    expect(response.status).toBe(403)
    expect(response.headers.getSetCookie()).toHaveLength(1)
    // As the page says, a second attempt succeeds.
    const again = await post(bare, '/login', {
      ...formIn(await response.text()).hidden,
      ...credentials(),
    })
    expect(again.status).toBe(303)
  })

  test('returns 403 for a token from a page that was loaded before the login', async () => {
    const agent = new UserAgent()
    const { hidden } = await loginForm(agent)
    expect((await post(agent, '/login', { ...hidden, ...credentials() })).status).toBe(303)
    const other = { ...hidden, ...credentials(), next: '/other' }
    expect((await post(agent, '/login', other)).status).toBe(403)
    expect((await post(agent, '/logout', { csrf_token: hidden.csrf_token ?? '' })).status).toBe(403)
    expect(await isSignedIn({ agent })).toBe(true)
  })

  test('does not complete a pending authorization request after a login that another site started', async () => {
    const { clientId } = await app.client()
    const agent = new UserAgent()
    const page = await agent.browse(
      authorizeUrl(app.issuer, { client_id: clientId, redirect_uri: redirectUri }),
    )
    expect(page.address).toContain('/login?next=')
    const { next } = formIn(await page.text()).hidden
    const response = await post(agent, '/login', { next: next ?? '', ...credentials() })
    expect(response.status).toBe(403)
    expect(response.headers.get('location')).toBeNull()
  })
})

describe('decision §6.3 forms from other sites', () => {
  const foreign: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'something new' },
    { 'sec-fetch-site': 'cross-site', origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:1' },
    { origin: 'https://localhost' },
    { origin: 'http://localhost.evil.example' },
  ]
  const own = (): readonly Record<string, string>[] => [
    {},
    { origin: app.issuer },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-origin', origin: 'null' },
    { 'sec-fetch-site': 'none' },
  ]

  test('rejects the login even with a valid token, and returns the form', async () => {
    for (const headers of foreign) {
      const agent = new UserAgent()
      const { hidden } = await loginForm(agent)
      const response = await post(agent, '/login', { ...hidden, ...credentials() }, headers)
      expect(response.status, JSON.stringify(headers)).toBe(403)
      expect(formIn(await response.text()).hidden).toEqual(hidden)
      expect(await isSignedIn({ agent })).toBe(false)
    }
  })

  test('sets no cookie in a browser that sent no cookie because of SameSite=Lax', async () => {
    for (const headers of foreign) {
      const response = await fetch(`${app.issuer}/login`, {
        method: 'POST',
        body: new URLSearchParams(credentials()),
        headers,
      })
      expect(response.status).toBe(403)
      expect(response.headers.getSetCookie()).toEqual([])
    }
  })

  test('rejects the logout even with a valid token', async () => {
    const { agent, csrfToken } = session
    for (const headers of foreign) {
      const response = await post(agent, '/logout', { csrf_token: csrfToken }, headers)
      expect(response.status, JSON.stringify(headers)).toBe(403)
    }
    expect(await isSignedIn({ agent })).toBe(true)
  })

  test('rejects the decision on an authorization request even with a valid token', async () => {
    const { clientId } = await app.client()
    const { agent } = session
    const page = await agent.browse(
      authorizeUrl(app.issuer, { client_id: clientId, redirect_uri: redirectUri }),
    )
    const { hidden } = formIn(await page.text())
    for (const headers of foreign) {
      const response = await post(agent, '/oauth/authorize', { ...hidden, confirm: 'yes' }, headers)
      expect(response.status, JSON.stringify(headers)).toBe(403)
      expect(response.headers.get('location')).toBeNull()
    }
    const decided = await post(agent, '/oauth/authorize', { ...hidden, confirm: 'no' })
    expect(decided.headers.get('location')).toContain('error=access_denied')
  })

  test('accepts forms of this server', async () => {
    for (const headers of own()) {
      const agent = new UserAgent()
      const { hidden } = await loginForm(agent)
      const response = await post(agent, '/login', { ...hidden, ...credentials() }, headers)
      expect(response.status, JSON.stringify(headers)).toBe(303)
    }
  })
})

describe('LR-01 the redirect after a login', () => {
  const unsafe = [
    'https://evil.example',
    '//evil.example',
    '///evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    'https:evil.example',
    'http:///evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '%2f%2fevil.example',
    '@evil.example',
    '.evil.example',
    'evil.example',
    '?x',
    '/\u0000/evil.example',
    '/\r\nLocation: https://evil.example',
    '/\u2028/evil.example',
    '/\uFF0Fevil.example',
    '"><script>alert(1)</script>',
    `/${'a'.repeat(20_000)}`,
  ]
  /** Returns the target for `next` after a failed login, in the login form, and for a logged-in user. */
  const leadTo = async (
    next: readonly string[],
  ): Promise<readonly (string | null | undefined)[]> => {
    const params = new URLSearchParams(next.map((value): [string, string] => ['next', value]))
    const failed = await fetch(`${app.issuer}/login`, { method: 'POST', body: params })
    expect(failed.status).toBe(403)
    const afterFailure = formIn(await failed.text()).hidden.next
    // Node rejects longer URLs.
    if (params.toString().length > 15_000) return [afterFailure]
    const { hidden } = await loginForm(new UserAgent(), `?${params}`)
    const on = await session.agent.fetch(`${app.issuer}/login?${params}`)
    expect(on.status).toBe(303)
    return [afterFailure, hidden.next, on.headers.get('location')]
  }

  test.each(unsafe.map((next) => [next.slice(0, 60), next]))(
    '%j redirects to the start page',
    async (_, next) => {
      expect(new Set(await leadTo([next]))).toEqual(new Set(['/']))
    },
  )

  test('redirects to the start page if next is repeated', async () => {
    expect(await leadTo(['/a', '/b'])).toEqual(['/', '/', '/'])
  })

  test.each([
    '/%0d%0aLocation:%20https://evil.example',
    '/%2f%2fevil.example',
    '/.//evil.example',
    '/@evil.example',
    '/%09/evil.example',
    '/%5cevil.example',
    '/x?next=//evil.example',
    `/${'a'.repeat(10_000)}`,
  ])('keeps the local path %s unchanged', async (next) => {
    expect(await leadTo([next])).toEqual([next, next, next])
    expect(new URL(next, app.issuer).origin).toBe(app.issuer)
  })

  test('redirects to a modified value of next only if the target is on this server', async () => {
    for (const [next, target] of [
      ['https://evil.example', '/'],
      ['/\\evil.example', '/'],
      ['/x', '/x'],
    ] as const) {
      const agent = new UserAgent()
      const { hidden } = await loginForm(agent)
      const response = await post(agent, '/login', { ...hidden, ...credentials(), next })
      expect(response.headers.get('location')).toBe(target)
    }
  })

  test('LR-03 the logout and the error view never redirect to another origin', async () => {
    const { agent, csrfToken } = await logIn(app)
    const errors = await agent.fetch(
      `${app.issuer}/oauth/errors?error=x&redirect_uri=https://evil.example&next=//evil.example`,
    )
    expect(errors.status).toBe(400)
    expect(errors.headers.get('location')).toBeNull()
    const path = '/logout?post_logout_redirect_uri=https://evil.example&next=//evil.example'
    const evil = 'https://evil.example'
    const fields = {
      csrf_token: csrfToken,
      next: evil,
      post_logout_redirect_uri: evil,
      redirect_uri: evil,
    }
    const out = await post(agent, path, fields)
    expect(out.status).toBe(303)
    expect(out.headers.get('location')).toBe('/')
  })
})

describe('LR-03 an authorization request after the login', () => {
  test.each<[string, string, string?]>([
    ['encoded separators', 'a%26b%3Dc%23d'],
    ['characters that are encoded twice', 'a%2526%252B%2523'],
    ['a plus and a space', 'a+b%2Bc%20d'],
    ['lower case', '%c3%a9%f0%9f%98%80'],
    ['a line break', '%0D%0ASet-Cookie:x=1'],
    ['a byte that is not UTF-8', '%ff'],
    // The URL Standard encodes a quotation mark in a query. The encoded URL is equivalent.
    ['all characters that RFC 3986 allows', "AZaz09-._~!$'()*,;:@/?", 'AZaz09-._~!$%27()*,;:@/?'],
    ['characters that browsers do not encode', 'a\\b|c^d`e{f}g[h]', 'a%5Cb|c^d`e{f}g[h]'],
    ['2 KiB', 'x'.repeat(2048)],
    ['2 KiB of encoded bytes', '%C3%A9'.repeat(1024)],
  ])('has the same state: %s [T653]', async (_, state, back = state) => {
    const { clientId } = await app.client()
    const before = `response_type=code&client_id=${clientId}&scope=&redirect_uri=${encodeURIComponent(redirectUri)}&state=`
    const toLogin = await rawHttp(app, { target: `/oauth/authorize?${before}${state}` })
    const target = `/oauth/authorize?${before}${back}`
    expect(toLogin.status).toBe(303)
    const login = `${app.issuer}${toLogin.headers.get('location')}`
    const { hidden } = formIn(await (await fetch(login)).text())
    expect(hidden.next).toBe(target)
    const failed = await fetch(`${app.issuer}/login`, {
      method: 'POST',
      body: new URLSearchParams(hidden),
    })
    expect(formIn(await failed.text()).hidden.next).toBe(target)
    const on = await session.agent.fetch(login)
    expect(on.headers.get('location')).toBe(target)
  })

  test('decision §4.3 has no client secret', async () => {
    const { clientId, clientSecret } = await app.client()
    for (const name of ['client_secret', '%63lient_secret', 'client%5Fsecret']) {
      const target = `/oauth/authorize?client_id=${clientId}&${name}=${clientSecret}&response_type=code`
      const response = await rawHttp(app, { target })
      expect(response.headers.get('location')).toContain(clientId)
      expect(response.headers.get('location')).not.toContain(clientSecret)
    }
    expect(JSON.stringify(app.log)).not.toContain(clientSecret)
  })
})

describe('SS-06 session fixation', () => {
  const planted = 'A'.repeat(43)
  const name = 'oauth2server_session'

  test('never adopts a session identifier chosen by a client', async () => {
    const agent = new UserAgent()
    await agent.jar.setCookie(`${name}=${planted}; Path=/`, app.issuer)
    const { page, hidden } = await loginForm(agent)
    expect(page.headers.getSetCookie()).toEqual([])
    const response = await post(agent, '/login', { ...hidden, ...credentials() })
    expect(response.status).toBe(303)
    expect(await agent.jar.getCookieString(app.issuer)).not.toContain(planted)
    expect(sessionRows().map(({ id }) => id)).not.toContain(digestOf('session', planted))
    const attacker = new UserAgent()
    await attacker.jar.setCookie(`${name}=${planted}; Path=/`, app.issuer)
    expect(await isSignedIn({ agent: attacker })).toBe(false)
  })

  test.each([
    'x',
    'A'.repeat(42),
    'A'.repeat(44),
    `${'A'.repeat(42)}%`,
    '',
    '__proto__',
    '"'.padEnd(43, 'A'),
  ])('replaces the invalid cookie value "%s"', async (value) => {
    const response = await rawHttp(app, { target: '/login', headers: [`Cookie: ${name}=${value}`] })
    expect(response.status).toBe(200)
    expect(response.headers.get('set-cookie')).toMatch(/^oauth2server_session=[A-Za-z0-9]{43};/)
  })

  test('creates a new identifier at each login, and ends the previous session', async () => {
    const { agent, identifier, jwt } = await logIn(app)
    const other = await app.server.users.create({
      email: 'user-e@example.org',
      password: app.password,
    })
    const { hidden } = await loginForm(agent, '?prompt=login')
    await post(agent, '/login', { ...hidden, email: other.email, password: app.password })
    const cookie = await agent.jar.getCookieString(app.issuer)
    expect(cookie).not.toContain(identifier)
    const ids = sessionRows().map(({ id }) => id)
    expect(ids).not.toContain(digestOf('session', identifier))
    const headers = { authorization: `Bearer ${jwt}` }
    // The old JWT is invalid with the old cookie and with the new cookie.
    const old = { ...headers, cookie: `${name}=${identifier}` }
    expect((await fetch(`${app.issuer}/api/me`, { headers: old })).status).toBe(401)
    expect((await agent.fetch(`${app.issuer}/api/me`, { headers })).status).toBe(403)
  })

  test('does not end a session after a failed login', async () => {
    const { hidden } = await loginForm(session.agent, '?prompt=login')
    const wrong = await post(session.agent, '/login', {
      ...hidden,
      ...credentials(),
      password: 'wrong',
    })
    expect(wrong.status).toBe(403)
    expect(await isSignedIn(session)).toBe(true)
    expect(await session.agent.jar.getCookieString(app.issuer)).toBe(session.cookie)
  })

  test('treats a request with two session cookies as anonymous, for pages and forms', async () => {
    const [one, two] = [session, await logIn(app)]
    const headers = { cookie: `${one.cookie}; ${two.cookie}`, 'user-agent': browser }
    const page = await fetch(`${app.issuer}/`, { headers })
    expect(await page.text()).toContain('Nobody is logged in.')
    for (const csrf_token of [one.csrfToken, two.csrfToken]) {
      for (const path of ['/logout', '/login']) {
        const body = new URLSearchParams({ csrf_token, ...credentials() })
        const response = await fetch(`${app.issuer}${path}`, { method: 'POST', body, headers })
        expect(response.status).toBe(403)
      }
    }
    expect(await isSignedIn(one)).toBe(true)
    expect(await isSignedIn(two)).toBe(true)
  })
})

describe('decision §2 /logout', () => {
  test('ends only this session after a POST with the CSRF token of the page', async () => {
    const left = await logIn(app)
    const response = await post(left.agent, '/logout', { csrf_token: left.csrfToken })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe('/')
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^oauth2server_session=; Max-Age=0; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ])
    // The browser remains known for the account.
    expect(await left.agent.jar.getCookieString(app.issuer)).toMatch(/^oauth2server_known=[^;]+$/)
    expect(sessionRows().map(({ id }) => id)).not.toContain(digestOf('session', left.identifier))
    // SS-10: a copied cookie and JWT are invalid.
    const headers = { cookie: left.cookie, authorization: `Bearer ${left.jwt}` }
    expect((await left.agent.fetch(`${app.issuer}/api/me`, { headers })).status).toBe(401)
    expect(await isSignedIn(session)).toBe(true)
  })

  test.each<[string, Record<string, string>]>([
    ['a missing token', {}],
    ['a wrong token', { csrf_token: 'A'.repeat(43) }],
    ['a token in another field', { authorized_token: 'x' }],
  ])('returns 403 and keeps the session for a POST with %s', async (_, fields) => {
    const response = await post(session.agent, '/logout', fields)
    expect(response.status).toBe(403)
    expect(response.headers.getSetCookie()).toEqual([])
    expect(await isSignedIn(session)).toBe(true)
  })

  test('returns 403 for the token of another session, and for the token in the query', async () => {
    const other = await logIn(app)
    expect((await post(session.agent, '/logout', { csrf_token: other.csrfToken })).status).toBe(403)
    const path = `/logout?csrf_token=${session.csrfToken}`
    expect((await post(session.agent, path, {})).status).toBe(403)
    expect(await isSignedIn(session)).toBe(true)
  })
})
