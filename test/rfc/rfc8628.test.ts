import type { ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { userCodeAlphabet, userCodeIn } from '../../src/model/user-code.ts'
import {
  Device,
  type DeviceCodes,
  decideOn,
  deviceGrant,
  enterCode,
  openDevicePage,
  postToDevicePage,
} from '../support/device.ts'
import { secretKey, startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { newPkce, ping, refusal, UserAgent } from '../support/user-agent.ts'

let app: TestServer
let person: LoggedIn
let pub: Device
let conf: Device

beforeAll(async () => {
  app = await startServer({ deviceAuthorization: true })
  person = await logIn(app)
  pub = await Device.register(app)
  conf = await Device.register(app, { isConfidential: true, name: 'Set-top Box' })
})
afterAll(() => app.close())

/** Requests codes for a device, and submits the decision of the user. */
const decided = async (
  device: Device,
  confirm: 'yes' | 'no' = 'yes',
  given: Record<string, string> = {},
): Promise<DeviceCodes> => {
  const codes = await device.codes(given)
  expect((await decideOn(app, person, codes, confirm)).status).toBe(200)
  return codes
}

const rowsOf = async (clientId: string) => {
  const [authorizations] = await app.query(
    `select count(*) as n from oauth2server_authorization join oauth2server_client using (client_key) where client_id = '${clientId}'`,
  )
  return Number(authorizations?.n)
}

/** Creates another user and logs the user in. `address` is the IP address that a trusted proxy reports. */
const somebody = async (at: TestServer, email: string, address?: string): Promise<LoggedIn> => {
  const user = await at.newUser({ email })
  const headers: Record<string, string> = address ? { 'x-forwarded-for': address } : {}
  return logIn({ issuer: at.issuer, password: at.password, user }, headers)
}

describe('RFC 8628 §3.1 the device authorization request', () => {
  test('§3.1 rejects a client that fails to authenticate [T299]', async () => {
    const { clientId } = conf.client
    for (const client of [
      new Device(app, { clientId, clientSecret: 'wrong' }, true),
      new Device(app, { clientId, clientSecret: '' }, false),
      new Device(app, { clientId: 'nobody', clientSecret: '' }, false),
      new Device(app, { clientId: '', clientSecret: '' }, false),
    ])
      expect(refusal(await client.ask())).toBe('401 invalid_client')
    const both = await conf.ask({ client_id: clientId, client_secret: conf.client.clientSecret })
    expect(refusal(both)).toBe('400 invalid_request')
  })

  test('§3.1 accepts the client_id of a public client, and the secret of a confidential client [T300]', async () => {
    for (const device of [pub, conf]) expect((await device.ask()).status).toBe(200)
  })

  test('§3.1 rejects a client that may not use the device grant [T309]', async () => {
    const other = await Device.register(app, { grantTypes: ['authorization_code'] })
    expect(refusal(await other.ask())).toBe('400 unauthorized_client')
    const codes = await pub.codes()
    expect(refusal(await other.poll(codes))).toBe('400 unauthorized_client')
    const own = await Device.register(app, { grantTypes: [deviceGrant] })
    expect((await own.ask()).status).toBe(200)
  })

  test.each<[string, string | undefined, string]>([
    ['an unknown scope', 'notes:read bogus', '400 invalid_scope'],
    ['an internal scope', 'test:scope', '400 invalid_scope'],
    ['a malformed scope', 'notes:"read', '400 invalid_scope'],
    ['a scope with a control character', 'notes:read\n', '400 invalid_scope'],
    ['a scope of 10 kB', 'x'.repeat(10_000), '400 invalid_scope'],
  ])('§3.1 returns invalid_scope for %s [T301]', async (_what, scope, expected) => {
    expect(refusal(await pub.ask({ scope }))).toBe(expected)
  })

  test('§3.1 rejects a scope outside allowed_scopes, and uses default_scopes if scope is omitted [T302]', async () => {
    const limited = await Device.register(app, {
      allowedScopes: ['notes:read'],
      defaultScopes: ['notes:read'],
    })
    expect(refusal(await limited.ask({ scope: 'notes:write' }))).toBe('400 invalid_scope')
    const codes = await decided(limited, 'yes', { scope: '' })
    expect((await limited.poll(codes)).body.scope).toBe('notes:read')
  })
})

describe('RFC 8628 §3.2 the device authorization response', () => {
  test('§3.2 returns exactly the expected members, and forbids caching [T308]', async () => {
    const { headers, body } = await pub.ask()
    const { user_code } = body as unknown as DeviceCodes
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${app.issuer}/oauth/device`,
      verification_uri_complete: `${app.issuer}/oauth/device?user_code=${user_code}`,
      expires_in: 600,
      interval: 5,
    })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  })

  test('§3.2 creates new codes for each request, and does not store them in plain text [T305]', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => pub.codes()))
    expect(new Set(all.map(({ device_code }) => device_code)).size).toBe(20)
    expect(new Set(all.map(({ user_code }) => user_code)).size).toBe(20)
    const rows = JSON.stringify(await app.query('select * from oauth2server_transient'))
    for (const { device_code, user_code } of all) {
      expect(rows).not.toContain(device_code)
      expect(rows).not.toContain(user_code)
      const letters = user_code.replace('-', '')
      expect(rows).not.toContain(letters)
      // The database must not contain a plain digest of the user code either: an attacker could try all codes within a
      // minute.
      for (const text of [letters, user_code])
        expect(rows).not.toContain(digestOf('user_code', text))
    }
  })

  test('§4 lists the endpoint and the grant in the metadata only if the setting enables them [T315]', async () => {
    const metadataOf = async ({ issuer }: TestServer) =>
      (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as {
        readonly grant_types_supported: readonly string[]
        readonly device_authorization_endpoint?: string
      }
    const metadata = await metadataOf(app)
    expect(metadata.device_authorization_endpoint).toBe(`${app.issuer}/oauth/device_authorization`)
    expect(metadata.grant_types_supported).toContain(deviceGrant)

    await using off = await startServer()
    const without = await metadataOf(off)
    expect(without).not.toHaveProperty('device_authorization_endpoint')
    expect(without.grant_types_supported).not.toContain(deviceGrant)
    const elsewhere = await Device.register(off)
    expect((await openDevicePage(off, { agent: new UserAgent() })).status).toBe(404)
    const url = `${off.issuer}/oauth/device_authorization`
    expect((await fetch(url, { method: 'POST', body: new URLSearchParams() })).status).toBe(404)
    expect(refusal(await elsewhere.poll({ device_code: 'x' }))).toBe('400 unsupported_grant_type')
  })
})

describe('RFC 8628 §3.3 the device page', () => {
  test('§3.3 redirects to the login page with a return URL that contains the user code [T310]', async () => {
    const agent = new UserAgent()
    const opened = await agent.fetch(`${app.issuer}/oauth/device?user_code=wdjb-mjht`)
    expect(opened.status).toBe(303)
    const next = '/oauth/device?user_code=WDJB-MJHT'
    const login = new URL(opened.headers.get('location') ?? '', app.issuer)
    expect([login.pathname, login.searchParams.get('next')]).toEqual(['/login', next])
    const sent = await postToDevicePage(app, { agent }, { user_code: 'WDJB-MJHT' })
    expect(sent.status).toBe(303)
    const decision = await postToDevicePage(app, { agent }, { confirm: 'yes' })
    expect(decision.status).toBe(403)
  })

  test.each([
    'WDJB-MJHT',
    'wdjb-mjht',
    'WdJbMjHt',
    ' w d j b  m j h t ',
    'WDJB\u2013MJHT',
    'WDJB_MJHT',
    'WDJB.MJHT',
    'ＷＤＪＢ－ＭＪＨＴ',
    'WDJB\u00a0MJHT\n',
    'WDJB-MJHT1',
  ])('§6.1 accepts a user code in any case and with any punctuation: %j [T325]', (typed) => {
    expect(userCodeIn(typed)).toBe('WDJBMJHT')
  })

  test.each([
    '',
    'WDJB-MJH',
    'WDJB-MJHTB',
    'WDJB-MJHA',
    'WDJB-MJH1',
    '☃',
    '\0WDJBMJH',
    'W'.repeat(1e6),
  ])('§6.1 rejects an input that is not a user code (%#) [T326]', (typed) => {
    expect(userCodeIn(typed)).toBeUndefined()
  })

  test('§3.3 shows the user code, the client and the scopes, and grants the scopes [T311]', async () => {
    const device = await Device.register(app, {
      name: 'Photo <b>Frame</b>',
      website: 'https://photo-frame.example',
      description: 'On the wall',
    })
    const codes = await device.codes({ scope: 'notes:read user:email' })
    const typed = codes.user_code.toLowerCase().replace('-', ' ')
    const asked = await enterCode(app, person, typed)
    expect(asked.status).toBe(200)
    for (const text of [
      codes.user_code,
      'Allow <bdi>Photo &lt;b&gt;Frame&lt;/b&gt;</bdi>?',
      'https://photo-frame.example/',
      'On the wall',
      app.user.email,
      'Read your notes',
      'Read your e-mail address',
      'has not verified this application',
      'refuse: they would get access to your account',
    ])
      expect(asked.html).toContain(text)
    expect(asked.hidden).toEqual({
      csrf_token: person.csrfToken,
      device_confirmation: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
    })
    const done = await postToDevicePage(app, person, { ...asked.hidden, confirm: 'yes' })
    expect(done.status).toBe(200)
    expect(done.html).toContain('Go back to your device')
    const { status, body } = await device.poll(codes)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'notes:read user:email',
      user: { id: app.user.id, email: app.user.email },
    })
    expect(await ping(app, body.access_token)).toBe(200)
  })

  test('§3.3 retains the requested language on all pages and after the login', async () => {
    const agent = new UserAgent()
    const login = await agent.browse(`${app.issuer}/oauth/device?ui_locales=de`)
    const { email } = app.user
    const back = await agent.submit(login, { email, password: app.password })
    const location = back.headers.get('location') ?? ''
    const opened = await agent.browse(new URL(location, app.issuer))
    expect(opened.headers.get('content-language')).toBe('de')
    const { user_code } = await pub.codes()
    const asked = await agent.submit(opened, { user_code })
    expect(asked.headers.get('content-language')).toBe('de')
    const done = await agent.submit(asked, { confirm: 'no' })
    expect([done.status, done.headers.get('content-language')]).toEqual([200, 'de'])
  })

  test('§3.3 lets the user untick optional scopes, but not add scopes', async () => {
    const device = await Device.register(app, { optionalScopes: ['notes:write'] })
    const codes = await device.codes({ scope: 'notes:read notes:write' })
    const { hidden, html } = await enterCode(app, person, codes.user_code)
    expect(html).toContain('name="optional_scope" value="notes:write" checked')
    const fields = { ...hidden, confirm: 'yes', optional_scope: 'user:email', scope: 'user:email' }
    expect((await postToDevicePage(app, person, fields)).status).toBe(200)
    expect((await device.poll(codes)).body.scope).toBe('notes:read')
    const consent = await app.server.consents.find(app.user.id, device.client.clientId)
    expect(consent).toMatchObject({ scopes: ['notes:read'], declinedScopes: ['notes:write'] })
  })

  test('§3.3.1 DV-04 pre-fills the user code of the complete URI, and accepts no decision by GET [T313]', async () => {
    const codes = await pub.codes()
    const query = new URL(codes.verification_uri_complete).search
    for (let times = 0; times < 10; times += 1) {
      const opened = await openDevicePage(app, person, query)
      expect(opened.status).toBe(200)
      expect(opened.html).toContain(`value="${codes.user_code}"`)
      expect(opened.html).not.toContain('name="confirm"')
      expect(opened.html).not.toContain('Photo Frame')
    }
    const confirming = await openDevicePage(app, person, `${query}&confirm=yes`)
    expect(confirming.html).not.toContain('Photo Frame')
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    // A remembered consent does not replace the decision of the user.
    await pub.poll(await decided(pub))
    const asked = await enterCode(app, person, codes.user_code)
    expect(asked.html).toContain('name="confirm"')
    app.advance(5)
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
  })

  test.each(['"><script>alert(1)</script>', '<svg onload=alert(1)>', 'x'.repeat(10_000), '%00'])(
    '§3.3.1 does not show an invalid user code of the URI (%#)',
    async (user_code) => {
      const query = `?${new URLSearchParams({ user_code })}`
      const { status, html } = await openDevicePage(app, person, query)
      expect(status).toBe(200)
      expect(html).not.toMatch(/alert\(1\)|x{100}/)
    },
  )

  test('§5.4 DV-04 forbids framing and caching of the pages', async () => {
    const { user_code } = await pub.codes()
    const pages = [
      await openDevicePage(app, person),
      await enterCode(app, person, user_code),
      await enterCode(app, person, 'WWWW-WWWW'),
    ]
    for (const { headers } of pages) {
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
  })

  test('§3.3 SS-01 rejects forms from another site or session, and forms with a wrong CSRF token', async () => {
    const codes = await pub.codes()
    const { hidden } = await enterCode(app, person, codes.user_code)
    const yes = { ...hidden, confirm: 'yes' }
    const send = (fields: Record<string, string>, headers = {}, by = person) =>
      postToDevicePage(app, by, fields, headers)
    expect((await send(yes, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await send(yes, { 'sec-fetch-site': 'same-site' })).status).toBe(403)
    expect((await send(yes, { origin: 'https://evil.example' })).status).toBe(403)
    const entered = { csrf_token: person.csrfToken, user_code: codes.user_code }
    expect((await send(entered, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await send({ ...entered, csrf_token: 'x' })).status).toBe(403)
    const stale = await send({ ...yes, csrf_token: 'x' })
    expect(stale.status).toBe(403)
    expect(stale.hidden.device_confirmation).toBe(hidden.device_confirmation)
    // Send the form in another browser of the same user, then in the browser of another user.
    const elsewhere = await logIn(app)
    const theirs = { ...yes, csrf_token: elsewhere.csrfToken }
    expect((await send(theirs, {}, elsewhere)).status).toBe(403)
    const other = await somebody(app, 'user-m@example.org')
    expect((await send({ ...yes, csrf_token: other.csrfToken }, {}, other)).status).toBe(403)
    expect((await send({ ...hidden, confirm: 'maybe' })).status).toBe(400)
    expect((await send({ ...yes, device_confirmation: 'x' })).status).toBe(400)
    expect((await send({ csrf_token: person.csrfToken, confirm: 'yes' })).status).toBe(400)
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    expect((await send(yes)).status).toBe(200)
    expect((await pub.poll(codes)).status).toBe(200)
  })

  test('§3.3 SS-05 accepts only the first decision, even if several decisions are sent concurrently [T312]', async () => {
    const denied = await pub.codes()
    const { hidden } = await enterCode(app, person, denied.user_code)
    expect((await postToDevicePage(app, person, { ...hidden, confirm: 'no' })).status).toBe(200)
    const again = await postToDevicePage(app, person, { ...hidden, confirm: 'yes' })
    expect(again.status).toBe(400)
    expect(refusal(await pub.poll(denied))).toBe('400 access_denied')

    const codes = await pub.codes()
    const one = await enterCode(app, person, codes.user_code)
    const two = await enterCode(app, person, codes.user_code)
    const responses = await Promise.all(
      [one, two, one, two].map((page, index) =>
        postToDevicePage(app, person, { ...page.hidden, confirm: index === 0 ? 'no' : 'yes' }),
      ),
    )
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
    const isDenied = responses[0]?.status === 200
    expect((await pub.poll(codes)).status).toBe(isDenied ? 400 : 200)
  })

  test('§3.3 rejects a decision if the client has changed since the page was shown', async () => {
    const device = await Device.register(app)
    const { clientId } = device.client
    const codes = await device.codes()
    const { hidden } = await enterCode(app, person, codes.user_code)
    await app.server.clients.update(clientId, { name: 'Something else' })
    const send = () => postToDevicePage(app, person, { ...hidden, confirm: 'yes' })
    expect((await send()).status).toBe(400)
    await app.server.clients.update(clientId, { name: 'Photo Frame', allowedScopes: [] })
    expect((await send()).status).toBe(400)
    await app.server.clients.update(clientId, { allowedScopes: null })
    await app.server.clients.mark(clientId, { isDisabled: true })
    expect((await send()).status).toBe(400)
    // After this time, the form is no repetition of the first one.
    app.advance(3)
    expect((await enterCode(app, person, codes.user_code)).status).toBe(400)
    await app.server.clients.mark(clientId, { isDisabled: false })
    expect((await send()).status).toBe(200)
  })

  test.each<[string, Partial<ClientInput>]>([
    ['became confidential', { isConfidential: true }],
    ['lost a grant type', { grantTypes: [deviceGrant] }],
    ['changed its description', { description: 'Something else' }],
  ])(
    '§3.3 rejects a decision about a client that %s after the page was shown',
    async (_what, changes) => {
      const device = await Device.register(app)
      const codes = await device.codes()
      const { hidden } = await enterCode(app, person, codes.user_code)
      await app.server.clients.update(device.client.clientId, changes)
      const response = await postToDevicePage(app, person, { ...hidden, confirm: 'yes' })
      expect(response.status).toBe(400)
    },
  )

  test('§3.3 returns 403 for an unknown request and a wrong CSRF token', async () => {
    const fields = { csrf_token: 'x', device_confirmation: 'x', confirm: 'yes' }
    expect((await postToDevicePage(app, person, fields)).status).toBe(403)
  })
})

describe('RFC 8628 §3.4 the token request of the device', () => {
  test.each<[string, Record<string, string | undefined>, string]>([
    ['a missing device code', { device_code: undefined }, '400 invalid_request'],
    ['an empty device code', { device_code: '' }, '400 invalid_request'],
    ['an unknown device code', { device_code: 'x'.repeat(43) }, '400 invalid_grant'],
    ['a device code of 50 kB', { device_code: 'x'.repeat(50_000) }, '400 invalid_grant'],
    ['a device code with NUL', { device_code: '\0' }, '400 invalid_request'],
  ])('§3.4 rejects %s [T314]', async (_what, given, expected) => {
    expect(refusal(await pub.poll({ device_code: '' }, given))).toBe(expected)
  })

  test('§3.4 rejects a repeated parameter device_code, and a device code with the suffix of an internal store key', async () => {
    const codes = await decided(pub)
    const form = new URLSearchParams({
      grant_type: deviceGrant,
      client_id: pub.client.clientId,
      device_code: codes.device_code,
    })
    form.append('device_code', codes.device_code)
    const response = await fetch(`${app.issuer}/oauth/token`, { method: 'POST', body: form })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'invalid_request' },
    ])
    for (const suffix of ['decision', 'interval', 'poll']) {
      const device_code = `${codes.device_code} ${suffix}`
      expect(refusal(await pub.poll({ device_code }))).toBe('400 invalid_grant')
    }
    expect((await pub.poll(codes)).status).toBe(200)
  })

  test('§3.4 DV-04 rejects other and unauthenticated clients without consuming the code [T316]', async () => {
    const codes = await decided(conf)
    const other = await Device.register(app, { isConfidential: true })
    const { clientId } = conf.client
    const posing = new Device(app, { clientId, clientSecret: '' }, false)
    const wrong = new Device(app, { clientId, clientSecret: 'wrong' }, true)
    expect(refusal(await other.poll(codes))).toBe('400 invalid_grant')
    expect(refusal(await pub.poll(codes))).toBe('400 invalid_grant')
    expect(refusal(await posing.poll(codes))).toBe('401 invalid_client')
    expect(refusal(await wrong.poll(codes))).toBe('401 invalid_client')
    expect((await conf.poll(codes)).status).toBe(200)
    // A replay by another client does not revoke the issued tokens.
    const { status, body } = await conf.poll(await decided(conf))
    expect(status).toBe(200)
    expect(refusal(await other.poll(codes))).toBe('400 invalid_grant')
    expect(await ping(app, body.access_token)).toBe(200)
  })

  test('§3.5 issues a refresh token if the client may use the grant type refresh_token [T317]', async () => {
    const { body } = await conf.poll(await decided(conf))
    expect(body.refresh_token).toMatch(/^[A-Za-z0-9]{43}$/)
    const without = await Device.register(app, { grantTypes: [deviceGrant] })
    expect((await without.poll(await decided(without))).body).not.toHaveProperty('refresh_token')
    const refreshed = await conf.poll(
      { device_code: '' },
      {
        grant_type: 'refresh_token',
        device_code: undefined,
        refresh_token: body.refresh_token,
      },
    )
    expect(refreshed.status).toBe(200)
    expect(refreshed.body.scope).toBe('notes:read')
  })
})

describe('RFC 8628 §3.5 the token responses to the device', () => {
  test('§3.5 DV-01 returns authorization_pending, slow_down, access_denied, expired_token, or tokens once [T307]', async () => {
    const codes = await pub.codes()
    const poll = async () => refusal(await pub.poll(codes))
    expect(await poll()).toBe('400 authorization_pending')
    app.advance(5)
    expect(await poll()).toBe('400 authorization_pending')
    app.advance(4)
    expect(await poll()).toBe('400 slow_down')
    app.advance(9)
    expect(await poll()).toBe('400 slow_down')
    app.advance(14)
    expect(await poll()).toBe('400 slow_down')
    // Each of the three early polls has increased the interval by 5 seconds, to 20 seconds.
    app.advance(20)
    expect(await poll()).toBe('400 authorization_pending')
    app.advance(19)
    expect(await poll()).toBe('400 slow_down')
    app.advance(25)
    expect(await poll()).toBe('400 authorization_pending')
    app.advance(600)
    expect(await poll()).toBe('400 expired_token')
    expect(refusal(await conf.poll(codes))).toBe('400 invalid_grant')
    app.advance(600)
    expect(await poll()).toBe('400 invalid_grant')

    const denied = await decided(pub, 'no')
    expect(refusal(await pub.poll(denied))).toBe('400 access_denied')
    expect(refusal(await pub.poll(denied))).toBe('400 access_denied')

    const allowed = await decided(pub)
    const { status, body } = await pub.poll(allowed)
    expect(status).toBe(200)
    expect(await ping(app, body.access_token)).toBe(200)
    expect(refusal(await pub.poll(allowed))).toBe('400 invalid_grant')
  })

  test('§3.5 DV-01 returns the tokens after the approval even if the device polls too early', async () => {
    const codes = await pub.codes()
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    await decideOn(app, person, codes)
    expect((await pub.poll(codes)).status).toBe(200)
  })

  test('§3.5 DV-01 enforces the poll interval for all nodes together, and for concurrent polls [T319]', async () => {
    await using other = await startServer({ beside: app, deviceAuthorization: true })
    const codes = await pub.codes()
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    app.advance(3)
    expect(refusal(await pub.poll(codes, {}, other))).toBe('400 slow_down')
    app.advance(8)
    expect(refusal(await pub.poll(codes))).toBe('400 slow_down')

    const fresh = await pub.codes()
    const nodes = [app, other, app, other, app, other]
    const responses = await Promise.all(nodes.map((node) => pub.poll(fresh, {}, node)))
    expect(responses.map(refusal).toSorted()).toEqual([
      '400 authorization_pending',
      ...Array.from({ length: 5 }, () => '400 slow_down'),
    ])
  })

  test('§3.5 DV-05 issues tokens to one of four concurrent polls, and revokes them because of the replays', async () => {
    await using other = await startServer({ beside: app, deviceAuthorization: true })
    for (let round = 0; round < 3; round += 1) {
      const device = await Device.register(app, { isConfidential: true })
      const codes = await decided(device)
      const nodes = [app, other, app, other]
      const responses = await Promise.all(nodes.map((node) => device.poll(codes, {}, node)))
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
      for (const response of responses.filter(({ status }) => status === 400))
        expect(refusal(response)).toBe('400 invalid_grant')
      expect(await rowsOf(device.client.clientId)).toBe(1)
      const token = responses.find(({ status }) => status === 200)?.body.access_token ?? ''
      expect(await ping(app, token)).toBe(401)
    }
    expect(app.log.filter(({ event }) => event === 'device_code.reused')).not.toEqual([])
  })

  test('§3.5 revokes the tokens after a replay by the client, even if the code has expired', async () => {
    for (const seconds of [0, 601, 1201]) {
      const codes = await decided(conf)
      const { body } = await conf.poll(codes)
      expect(await ping(app, body.access_token)).toBe(200)
      app.advance(seconds)
      expect(refusal(await conf.poll(codes))).toBe('400 invalid_grant')
      expect(await ping(app, body.access_token)).toBe(401)
      person = await logIn(app)
    }
  })

  test('§3.5 rejects a used code even after its short-lived tokens were swept', async () => {
    await using short = await startServer({
      deviceAuthorization: true,
      tokenExpiresIn: 1,
      refreshTokenExpiresIn: 1,
    })
    const device = await Device.register(short)
    const ada = await logIn(short)
    const codes = await device.codes()
    await decideOn(short, ada, codes)
    expect((await device.poll(codes)).status).toBe(200)
    short.advance(120)
    await short.server.sweep()
    expect(refusal(await device.poll(codes))).toBe('400 invalid_grant')
  })

  test('§3.5 DV-05 rejects an approval of an expired code, and a poll with an approved code that has expired [T324]', async () => {
    const codes = await pub.codes()
    const { hidden } = await enterCode(app, person, codes.user_code)
    app.advance(600)
    const late = await postToDevicePage(app, person, { ...hidden, confirm: 'yes' })
    expect(late.status).toBe(400)
    expect(refusal(await pub.poll(codes))).toBe('400 expired_token')

    const approved = await decided(pub)
    app.advance(600)
    expect(refusal(await pub.poll(approved))).toBe('400 expired_token')
    person = await logIn(app)
  })

  test.each<[string, (device: Device, userId: never) => Promise<unknown>, string]>([
    ['the consent was withdrawn', revokeApplication, '400 invalid_grant'],
    [
      'the client was deleted',
      ({ client }) => app.server.clients.delete(client.clientId),
      '401 invalid_client',
    ],
    [
      'the client was disabled',
      ({ client }) => app.server.clients.mark(client.clientId, { isDisabled: true }),
      '401 invalid_client',
    ],
    [
      'the client lost a scope',
      ({ client }) => app.server.clients.update(client.clientId, { allowedScopes: [] }),
      '400 invalid_grant',
    ],
    [
      'the client lost the grant type',
      ({ client }) => app.server.clients.update(client.clientId, { grantTypes: ['password'] }),
      '400 unauthorized_client',
    ],
    [
      'the client ID was reset',
      ({ client }) => app.server.clients.resetClientId(client.clientId),
      '401 invalid_client',
    ],
    [
      'the user was deactivated',
      (_, id) => app.server.users.setActive(id, false),
      '400 invalid_grant',
    ],
    ['the user was deleted', (_, id) => app.server.users.delete(id), '400 invalid_grant'],
  ])('§3.5 DV-05 issues no tokens if %s before the poll [T318]', async (what, change, expected) => {
    const ada = await somebody(app, `${what.replaceAll(' ', '-')}@example.org`)
    const user = await app.server.users.findByEmail(`${what.replaceAll(' ', '-')}@example.org`)
    const device = await Device.register(app)
    const codes = await device.codes()
    await decideOn(app, ada, codes)
    await change(device, user?.id as never)
    expect(refusal(await device.poll(codes))).toBe(expected)
    expect(await rowsOf(device.client.clientId)).toBe(0)
  })

  test('§3.5 issues tokens even if the user has logged out of the browser', async () => {
    const ada = await somebody(app, 'logged-out@example.org')
    const codes = await pub.codes()
    await decideOn(app, ada, codes)
    const logout = { method: 'POST', body: new URLSearchParams({ csrf_token: ada.csrfToken }) }
    expect((await ada.agent.fetch(`${app.issuer}/logout`, logout)).status).toBe(303)
    expect((await pub.poll(codes)).status).toBe(200)
  })
})

function revokeApplication({ client }: Device, userId: never): Promise<unknown> {
  return app.server.authorizedApplications.revoke(userId, client.clientId)
}

describe('DV-04 a code challenge in the device authorization request', () => {
  const { challenge, verifier } = newPkce()
  const given = { code_challenge: challenge, code_challenge_method: 'S256' }

  test('DV-04 requires the verifier from the client, and does not consume the code for a wrong verifier', async () => {
    for (const device of [pub, conf]) {
      const codes = await device.codes(given)
      expect(refusal(await device.poll(codes))).toBe('400 invalid_grant')
      const right = { code_verifier: verifier }
      expect(refusal(await device.poll(codes, right))).toBe('400 authorization_pending')
      await decideOn(app, person, codes)
      for (const code_verifier of [undefined, '', 'x'.repeat(43), challenge])
        expect(refusal(await device.poll(codes, { code_verifier }))).toBe('400 invalid_grant')
      const { status, body } = await device.poll(codes, right)
      expect(status).toBe(200)
      // Without the verifier, the request does not count as a replay and does not revoke the tokens.
      expect(refusal(await device.poll(codes))).toBe('400 invalid_grant')
      expect(await ping(app, body.access_token)).toBe(200)
      app.advance(1201)
      expect(refusal(await device.poll(codes))).toBe('400 invalid_grant')
      expect(await ping(app, body.access_token)).toBe(200)
      expect(refusal(await device.poll(codes, right))).toBe('400 invalid_grant')
      expect(await ping(app, body.access_token)).toBe(401)
      person = await logIn(app)
    }
  })

  test.each([
    { code_challenge: challenge },
    { code_challenge: challenge, code_challenge_method: 'plain' },
    { code_challenge: 'short', code_challenge_method: 'S256' },
    { code_challenge_method: 'S256' },
  ])(
    'DV-04 rejects an invalid challenge in the device authorization request (%#)',
    async (wrong) => {
      expect(refusal(await pub.ask(wrong))).toBe('400 invalid_request')
    },
  )

  test('DV-04 does not require a challenge even if requirePkce is "always", but rejects a verifier without a challenge', async () => {
    await using strict = await startServer({ deviceAuthorization: true, requirePkce: 'always' })
    const device = await Device.register(strict)
    const codes = await device.codes()
    expect(refusal(await device.poll(codes))).toBe('400 authorization_pending')
    expect(refusal(await device.poll(codes, { code_verifier: verifier }))).toBe('400 invalid_grant')
  })

  test('DV-04 rejects the code after 20 wrong verifiers', async () => {
    const codes = await pub.codes(given)
    await decideOn(app, person, codes)
    for (let tries = 0; tries < 20; tries += 1) await pub.poll(codes, { code_verifier: 'x' })
    expect(refusal(await pub.poll(codes, { code_verifier: verifier }))).toBe('400 invalid_grant')
  })
})

describe('RFC 8628 §3.1 parameters of other standards', () => {
  test('§3.1 RFC 8707 restricts the tokens to the requested resource, and rejects an unknown resource', async () => {
    const basePath = '/app'
    await using site = await startServer({ basePath, deviceAuthorization: true })
    const device = await Device.register(site)
    const ada = await logIn(site)
    const unknown = await device.ask({ resource: 'https://other.example/' })
    expect(refusal(unknown)).toBe('400 invalid_target')
    const codes = await device.codes({ resource: site.issuer })
    await decideOn(site, ada, codes)
    const { status, body } = await device.poll(codes)
    expect(status).toBe(200)
    const found = await site.server.tokens.find({ accessToken: body.access_token })
    expect(found?.token.resources).toEqual([site.issuer])
  })

  test('§3.1 RFC 9449 requires a DPoP proof if the device sent dpop_jkt', async () => {
    expect(refusal(await pub.ask({ dpop_jkt: 'short' }))).toBe('400 invalid_request')
    const codes = await pub.codes({ dpop_jkt: newPkce().challenge })
    await decideOn(app, person, codes)
    expect(refusal(await pub.poll(codes))).toBe('400 invalid_dpop_proof')
  })

  test('§3.1 RFC 9126 does not require a pushed authorization request', async () => {
    const pushedAuthorizationRequests = 'required'
    await using site = await startServer({ deviceAuthorization: true, pushedAuthorizationRequests })
    expect((await (await Device.register(site)).ask()).status).toBe(200)
  })
})

describe('RFC 8628 §5.1 brute force of user codes', () => {
  const proxies = { deviceAuthorization: true, trustedProxies: ['127.0.0.1'] }
  const wrong = ['BBBB-BBBB', 'CCCC-CCCC', 'DDDD-DDDD', 'FFFF-FFFF', 'GGGG-GGGG']

  test('§5.1 DV-02 blocks a user after five wrong codes, even with correct codes between them [T321]', async () => {
    await using site = await startServer(proxies)
    const device = await Device.register(site)
    const ada = await somebody(site, 'ada@example.org', '192.0.2.1')
    for (const code of wrong) {
      const refused = await enterCode(site, ada, code)
      expect(refused.status).toBe(400)
      expect(refused.html).toContain('This code is not valid.')
      // Correct codes between the guesses do not reset the count.
      if (code !== wrong.at(-1)) {
        const { user_code } = await device.codes()
        expect((await decideOn(site, ada, { user_code })).status).toBe(200)
      }
    }
    const codes = await device.codes()
    const blocked = await enterCode(site, ada, codes.user_code)
    expect(blocked.status).toBe(429)
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(blocked.headers.get('retry-after'))).toBeLessThanOrEqual(600)
    expect(blocked.html).toContain('Too many wrong codes')
    // The limit also applies to a new session of the user from another IP address.
    const again = await logIn(
      { ...site, user: { ...site.user, email: 'ada@example.org' } },
      { 'x-forwarded-for': '192.0.2.2' },
    )
    expect((await enterCode(site, again, codes.user_code)).status).toBe(429)
    // The limit does not apply to other users.
    const grace = await somebody(site, 'grace@example.org', '192.0.2.3')
    expect((await enterCode(site, grace, codes.user_code)).status).toBe(200)
    site.advance(600)
    const ada2 = await logIn(
      { ...site, user: { ...site.user, email: 'ada@example.org' } },
      { 'x-forwarded-for': '192.0.2.1' },
    )
    const { user_code } = await device.codes()
    expect((await enterCode(site, ada2, user_code)).status).toBe(200)
  })

  test('§5.1 DV-02 blocks an IP address after five wrong codes of different users [T322]', async () => {
    await using site = await startServer(proxies)
    const device = await Device.register(site)
    const address = '192.0.2.9'
    for (const [index, code] of wrong.entries()) {
      const guest = await somebody(site, `guest-${index}@example.org`, address)
      expect((await enterCode(site, guest, code)).status).toBe(400)
    }
    const { user_code } = await device.codes()
    const next = await somebody(site, 'next@example.org', address)
    for (let tries = 0; tries < 6; tries += 1)
      expect((await enterCode(site, next, user_code)).status).toBe(429)
    // The refused attempts do not count for the user, who can enter the code at another IP address.
    const elsewhere = await logIn(
      { ...site, user: { ...site.user, email: 'next@example.org' } },
      { 'x-forwarded-for': '192.0.2.10' },
    )
    expect((await enterCode(site, elsewhere, user_code)).status).toBe(200)
  })

  test('§5.1 DV-02 allows at most five concurrent guesses [T323]', async () => {
    await using site = await startServer({ deviceAuthorization: true })
    const ada = await logIn(site)
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        enterCode(site, ada, `BBBB-BBB${userCodeAlphabet[index % 20]}`),
      ),
    )
    const tried = responses.filter(({ status }) => status === 400)
    expect(tried).toHaveLength(5)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(25)
  })

  test('§5.1 DV-02 returns the same page for mistyped, unknown, expired and used codes', async () => {
    const codes = await decided(pub)
    const expired = await pub.codes()
    app.advance(600)
    person = await logIn(app)
    const pages = []
    for (const code of ['nonsense', 'WWWW-WWWW', codes.user_code, expired.user_code]) {
      const { status, html } = await enterCode(app, person, code)
      const plain = html.replace(/ value="[^"]*"/g, '')
      pages.push(`${status} ${plain}`)
    }
    expect(new Set(pages).size).toBe(1)
    app.advance(600)
    person = await logIn(app)
  })

  test('§5.1 DV-02 logs one warning after 50 wrong codes', async () => {
    await using site = await startServer(proxies)
    for (let guest = 0; guest < 12; guest += 1) {
      const guesser = await somebody(site, `g${guest}@example.org`, `192.0.2.${guest + 1}`)
      for (const code of wrong) await enterCode(site, guesser, code)
      const warnings = site.log.filter(({ event }) => event === 'user_code.guessed')
      expect(warnings.length).toBe(guest < 9 ? 0 : 1)
    }
  })

  test('§5.1 DV-02 counts wrong codes for all nodes together', async () => {
    await using site = await startServer(proxies)
    await using other = await startServer({ ...proxies, beside: site, issuer: site.issuer })
    const ada = await somebody(site, 'ada@example.org', '192.0.2.1')
    for (const [index, code] of wrong.entries())
      expect((await enterCode(index % 2 === 0 ? site : other, ada, code)).status).toBe(400)
    for (const node of [site, other])
      expect((await enterCode(node, ada, 'HHHH-HHHH')).status).toBe(429)
  })

  test('§5.1 does not count an empty code', async () => {
    await using site = await startServer({ deviceAuthorization: true })
    const ada = await logIn(site)
    for (let tries = 0; tries < 8; tries += 1)
      expect((await enterCode(site, ada, '')).status).toBe(400)
  })
})

describe('RFC 8628 §6.1 user codes', () => {
  test('§6.1 DV-02 generates codes from an alphabet of 20 letters without vowels [T320]', async () => {
    expect(userCodeAlphabet).toHaveLength(20)
    expect(new Set(userCodeAlphabet).size).toBe(20)
    expect(userCodeAlphabet).not.toMatch(/[AEIOUY]/)
    // With eight letters and five attempts, the probability of a correct guess is below 2^-32 (§5.1).
    expect(5 / 20 ** 8).toBeLessThan(2 ** -32)
  })

  test('§6.1 DV-06 generates another code if a code is already in use [T306]', async () => {
    let isPoor = false
    let draws = 0
    await using site = await startServer({
      deviceAuthorization: true,
      // A user code needs 24 random bytes. Return the same bytes twice, so that the second code collides.
      random: (bytes) => {
        const random = crypto.getRandomValues(new Uint8Array(bytes))
        if (!isPoor || bytes !== 24) return random
        draws += 1
        return draws < 3 ? new Uint8Array(bytes) : random
      },
    })
    const device = await Device.register(site)
    isPoor = true
    const first = await device.codes()
    const second = await device.codes()
    expect(first.user_code).toBe('BBBB-BBBB')
    expect(second.user_code).not.toBe(first.user_code)
    expect(draws).toBe(3)
    const ada = await logIn(site)
    await decideOn(site, ada, second)
    expect(refusal(await device.poll(first))).toBe('400 authorization_pending')
    expect((await device.poll(second)).status).toBe(200)
  })

  test('§5.1 accepts a code that was created with an earlier secret key', async () => {
    const codes = await pub.codes()
    const secretKeys = ['another test secret key of more than 32 bytes', secretKey]
    await using rotated = await startServer({ beside: app, deviceAuthorization: true, secretKeys })
    const ada = await logIn({ issuer: rotated.issuer, user: app.user, password: app.password })
    expect((await decideOn(rotated, ada, codes)).status).toBe(200)
    expect((await pub.poll(codes, {}, rotated)).status).toBe(200)
  })
})

describe('DV-06 the rate limit of device authorization requests', () => {
  test('DV-06 returns 429 with Retry-After after 100 requests of one IP address in a minute', async () => {
    await using site = await startServer({
      deviceAuthorization: true,
      trustedProxies: ['127.0.0.1'],
    })
    const device = await Device.register(site)
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const statuses: number[] = []
    for (let sent = 0; sent < 130; sent += 1)
      statuses.push((await device.ask({}, from('192.0.2.1'))).status)
    expect(statuses.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 200))
    expect(new Set(statuses.slice(100))).toEqual(new Set([429]))
    const refused = await device.ask({}, from('192.0.2.1'))
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await device.ask({}, from('192.0.2.2'))).status).toBe(200)
    const [rows] = await site.query('select count(*) as n from oauth2server_transient')
    expect(Number(rows?.n)).toBeLessThan(250)
    site.advance(60)
    expect((await device.ask({}, from('192.0.2.1'))).status).toBe(200)
    // The sweeper removes all transient values.
    site.advance(2_000)
    await site.server.sweep()
    const [remaining] = await site.query('select count(*) as n from oauth2server_transient')
    expect(Number(remaining?.n)).toBe(0)
  })

  test('DV-06 returns invalid_client for an unknown client', async () => {
    const nobody = new Device(app, { clientId: 'nobody', clientSecret: '' }, false)
    expect(refusal(await nobody.ask({ scope: 'x'.repeat(10_000) }))).toBe('401 invalid_client')
  })
})

describe('the device flow of an issuer with a path', () => {
  test('§3.2, §3.3 supports the whole flow below the path', async () => {
    await using site = await startServer({ basePath: '/app', deviceAuthorization: true })
    const device = await Device.register(site)
    const ada = await logIn(site)
    const codes = await device.codes()
    expect(codes.verification_uri).toBe(`${site.issuer}/oauth/device`)
    await decideOn(site, ada, codes)
    expect((await device.poll(codes)).status).toBe(200)
  })
})
