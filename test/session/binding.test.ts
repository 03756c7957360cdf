import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientAddress } from '../../src/protocol/session/client-address.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { formIn } from '../support/user-agent.ts'

/** The headers with which a trusted proxy reports the sender of a request. */
const from = (forwardedFor: string): Record<string, string> => ({ 'x-forwarded-for': forwardedFor })

/** Returns whether the server accepts the cookie and the JWT of a session with these headers. */
const counts = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  { cookie, jwt }: LoggedIn,
  headers: Record<string, string>,
): Promise<boolean> => {
  const sent = { cookie, 'user-agent': browser, ...headers }
  const page = await (await fetch(`${issuer}/`, { headers: sent })).text()
  const api = await fetch(`${issuer}/api/me`, {
    headers: { ...sent, authorization: `Bearer ${jwt}` },
  })
  const onPage = page.includes('You are logged in')
  expect(api.status).toBe(onPage ? 200 : 401)
  if (!onPage) expect(api.headers.get('www-authenticate')).not.toContain('error=')
  return onPage
}

describe('SS-09 the IP address of a session', () => {
  const owner = '198.51.100.7'
  let app: TestServer
  let session: LoggedIn
  beforeAll(async () => {
    app = await startServer({ trustedProxies: ['127.0.0.1', '10.0.0.0/8'] })
    session = await logIn(app, from(owner))
  })
  afterAll(() => app.close())

  test.each([
    ['alone', owner],
    ['behind two trusted proxies', `${owner}, 10.1.2.3`],
    ['after a spoofed address', `203.0.113.9, ${owner}`],
    ['after many spoofed addresses', `127.0.0.1, 10.0.0.1, ::1, ${owner}, 10.0.0.1, 10.0.0.2`],
    ['after junk', `unknown, <script>, ${owner}`],
    ['as a mapped IPv6 address', `::ffff:${owner}`],
    ['as a mapped IPv6 address in upper case', `::FFFF:${owner}`],
    ['without spaces', `203.0.113.9,${owner}`],
  ])('accepts the session from its address: %s', async (_, forwardedFor) => {
    expect(await counts(app, session, from(forwardedFor))).toBe(true)
  })

  test.each([
    ['another address', '203.0.113.9'],
    ['a neighbouring address', '198.51.100.8'],
    ["the owner's address as a spoofed left-most entry", `${owner}, 203.0.113.9`],
    [
      "the owner's address before an untrusted and a trusted proxy",
      `${owner}, 203.0.113.9, 10.0.0.1`,
    ],
    ['an IPv6 address', '2001:db8::7'],
    ['the proxy itself', ''],
    ['another trusted proxy', '10.0.0.1'],
    ["the owner's address with an invalid port", `${owner}:x`],
    ["the owner's address with zeros", '198.051.100.007'],
    ['junk', 'unknown'],
    ["the owner's address before junk", `${owner}, unknown`],
    ['IPv6 with a zone', 'fe80::1%eth0'],
    ['commas', ',,,'],
  ])(
    'rejects a replay from %s, and does not end the session of its owner [T643]',
    async (_, forwardedFor) => {
      expect(await counts(app, session, from(forwardedFor))).toBe(false)
      expect(await counts(app, session, from(owner))).toBe(true)
    },
  )

  test('logs a replay without the session identifier', async () => {
    const before = app.log.length
    const response = await fetch(`${app.issuer}/`, {
      headers: { cookie: session.cookie, 'user-agent': browser, ...from('203.0.113.9') },
    })
    await response.body?.cancel()
    const lines = app.log.slice(before)
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        event: 'session.moved',
        userId: app.user.id,
        address: '203.0.113.9',
      }),
    ])
    expect(JSON.stringify(lines)).not.toContain(session.identifier)
  })

  test('reads several X-Forwarded-For headers as one list', async () => {
    const two = (first: string, second: string): [string, string][] => [
      ['x-forwarded-for', first],
      ['x-forwarded-for', second],
      ['cookie', session.cookie],
      ['user-agent', browser],
    ]
    const page = async (headers: [string, string][]) =>
      (await fetch(`${app.issuer}/`, { headers })).text()
    expect(await page(two('203.0.113.9', owner))).toContain('You are logged in')
    expect(await page(two(owner, '203.0.113.9'))).toContain('Nobody is logged in')
  })

  test('ignores other headers that contain an address', async () => {
    const names = [
      'forwarded',
      'x-real-ip',
      'client-ip',
      'true-client-ip',
      'cf-connecting-ip',
      'x-client-ip',
    ]
    const headers = Object.fromEntries(names.map((name) => [name, owner]))
    expect(await counts(app, session, headers)).toBe(false)
    expect(await counts(app, session, { ...headers, ...from('203.0.113.9') })).toBe(false)
  })
})

describe('SS-09 X-Forwarded-For from a peer that is not a trusted proxy [T557]', () => {
  test.each([{}, { trustedProxies: ['10.0.0.0/8'] }])('is ignored with %j', async (options) => {
    await using app = await startServer(options)
    const session = await logIn(app, from('198.51.100.7'))
    for (const headers of [{}, from('203.0.113.9'), from('10.0.0.1'), from('junk')])
      expect(await counts(app, session, headers)).toBe(true)
  })
})

describe('TRUSTED_PROXIES affects only client addresses', () => {
  test('builds URLs without X-Forwarded-Host and X-Forwarded-Proto [T558]', async () => {
    await using app = await startServer({ trustedProxies: ['127.0.0.1'] })
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/evil',
      'x-forwarded-port': '9',
      forwarded: 'host=evil.example;proto=https',
    }
    for (const path of [
      '/login',
      '/',
      '/oauth/errors',
      '/.well-known/oauth-authorization-server',
      '/api/me',
    ]) {
      const response = await fetch(`${app.issuer}${path}`, { headers })
      expect(`${await response.text()} ${JSON.stringify([...response.headers])}`).not.toContain(
        'evil',
      )
    }
    const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`, {
      headers,
    })
    expect(await metadata.json()).toMatchObject({ issuer: app.issuer })
  })
})

describe('SS-09 the browser of a session', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const long = 'x'.repeat(600)
  test.each<[string, string, string, boolean]>([
    ['accepts the same user agent', browser, browser, true],
    ['rejects another user agent', browser, 'curl/8', false],
    ['rejects another version', browser, `${browser}2`, false],
    ['rejects another case', browser, browser.toUpperCase(), false],
    ['rejects a missing user agent', browser, '', false],
    ['rejects a user agent if the login sent none', '', browser, false],
    ['accepts a missing user agent if the login sent none', '', '', true],
    ['accepts the same long user agent', long, long, true],
    ['rejects another long user agent', long, `y${long}`, false],
    ['accepts the same 8-bit characters', 'caf\xE9', 'caf\xE9', true],
    ['rejects other 8-bit characters', 'caf\xE9', 'caf\xE8', false],
  ])('%s, and keeps the session of its owner valid [T644]', async (_, atLogin, later, expected) => {
    const session = await logIn(app, { 'user-agent': atLogin })
    expect(await counts(app, session, { 'user-agent': later })).toBe(expected)
    expect(await counts(app, session, { 'user-agent': atLogin })).toBe(true)
  })

  test('rejects cookie and JWT from another browser on another machine', async () => {
    await using proxied = await startServer({ trustedProxies: ['127.0.0.1'] })
    const session = await logIn(proxied, from('198.51.100.7'))
    const headers = { ...from('203.0.113.9'), 'user-agent': 'curl/8' }
    expect(await counts(proxied, session, headers)).toBe(false)
    expect(await counts(proxied, session, from('198.51.100.7'))).toBe(true)
  })
})

describe('SS-09 an attacker with the cookie on another machine', () => {
  test('cannot end the session of its owner with a logout or a login', async () => {
    await using app = await startServer()
    const session = await logIn(app)
    const { email } = await app.server.users.create({
      email: 'thief@example.org',
      password: app.password,
    })
    const thief = { cookie: session.cookie, 'user-agent': 'curl/8' }
    const form = await (await fetch(`${app.issuer}/login`, { headers: thief })).text()
    const { csrf_token = '' } = formIn(form).hidden
    const post = (path: string, fields: Record<string, string>) =>
      fetch(`${app.issuer}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: thief,
        body: new URLSearchParams({ csrf_token, ...fields }),
      })
    await post('/logout', {})
    expect(await counts(app, session, {})).toBe(true)
    await post('/login', { email, password: app.password })
    expect(await counts(app, session, {})).toBe(true)
    expect(await counts(app, session, { 'user-agent': 'curl/8' })).toBe(false)
  })
})

describe('SS-09 sessions bound to a network instead of an address', () => {
  const at24 = '198.51.100.7'
  const at64 = '2001:db8:0:1::7'
  test.each<
    [
      string,
      { sessionIpv4Prefix?: number; sessionIpv6Prefix?: number },
      string,
      readonly string[],
      readonly string[],
    ]
  >([
    [
      'IPv4 /24',
      { sessionIpv4Prefix: 24 },
      at24,
      ['198.51.100.0', '198.51.100.255', '::ffff:198.51.100.9'],
      ['198.51.101.7', '199.51.100.7', '2001:db8::7'],
    ],
    ['IPv4 /31', { sessionIpv4Prefix: 31 }, at24, ['198.51.100.6'], ['198.51.100.8']],
    ['IPv4 /24 does not widen IPv6', { sessionIpv4Prefix: 24 }, at64, [at64], ['2001:db8:0:1::8']],
    [
      'IPv6 /64',
      { sessionIpv6Prefix: 64 },
      at64,
      ['2001:db8:0:1::', '2001:DB8:0:1:ffff:ffff:ffff:ffff'],
      ['2001:db8:0:2::7', at24],
    ],
    [
      'IPv6 in full',
      {},
      at64,
      ['2001:0db8:0000:0001:0000:0000:0000:0007', '2001:DB8:0:1:0::7'],
      ['2001:db8:0:1::8'],
    ],
    [
      'both 0: not bound',
      { sessionIpv4Prefix: 0, sessionIpv6Prefix: 0 },
      at24,
      ['203.0.113.9', at64],
      [],
    ],
    ['IPv4 0 alone', { sessionIpv4Prefix: 0 }, at24, ['203.0.113.9'], [at64]],
  ])(
    'accepts addresses in the network of the login, and rejects others: %s',
    async (_, options, home, same, other) => {
      await using app = await startServer({ trustedProxies: ['127.0.0.1'], ...options })
      const session = await logIn(app, from(home))
      for (const address of same)
        expect(await counts(app, session, from(address)), address).toBe(true)
      for (const address of other)
        expect(await counts(app, session, from(address)), address).toBe(false)
    },
  )
})

describe('the client address', () => {
  test.each<[readonly string[], string | undefined, string | null, string]>([
    [[], '127.0.0.1', null, '127.0.0.1'],
    [[], '::1', null, '127.0.0.1'],
    [[], '::ffff:127.0.0.1', null, '127.0.0.1'],
    [[], '::FFFF:198.51.100.7', null, '198.51.100.7'],
    [[], '2001:DB8::7', null, '2001:db8::7'],
    [[], undefined, null, ''],
    [[], 'junk', null, ''],
    [['::1'], '::1', '198.51.100.7', '198.51.100.7'],
    [['::1/128'], '127.0.0.1', '198.51.100.7', '198.51.100.7'],
    [['127.0.0.0/8'], '::1', '198.51.100.7', '198.51.100.7'],
    [['10.0.0.0/8'], '::ffff:10.1.1.1', '198.51.100.7', '198.51.100.7'],
    [['fd00::/8'], 'fd00::1', '2001:db8::7, fd12::1', '2001:db8::7'],
    [['fd00::/8'], 'fe00::1', '2001:db8::7', 'fe00::1'],
    [['10.0.0.0/8'], undefined, '198.51.100.7', ''],
    [['10.0.0.0/8'], '10.0.0.1', '198.51.100.7:50123', '198.51.100.7'],
    [['10.0.0.0/8'], '10.0.0.1', '[2001:db8::7]:50123', '2001:db8::7'],
    [['10.0.0.0/8'], '10.0.0.1', '203.0.113.9, 198.51.100.7:1, [2001:db8::7]', '2001:db8::7'],
    [['10.0.0.0/8'], '10.0.0.1', '198.51.100.7:x', '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '[198.51.100.7', '10.0.0.1'],
  ])(
    'with the trusted proxies %j, the peer %s and X-Forwarded-For %s, is "%s"',
    (trustedProxies, peer, forwardedFor, expected) => {
      expect(clientAddress(trustedProxies)(peer, forwardedFor)).toBe(expected)
    },
  )
})
