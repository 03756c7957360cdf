import { randomInt } from 'node:crypto'
import type { User } from 'svc-oauth2server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { userCodeAlphabet } from '../../src/model/user-code.ts'
import {
  Device,
  type DeviceCodes,
  decideOn,
  enterCode,
  openDevicePage,
  postToDevicePage,
} from '../support/device.ts'
import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn } from '../support/session.ts'
import { newPkce, ping, refusal, UserAgent } from '../support/user-agent.ts'
import { type AttackServer, isOnNodes, startAttackServer } from './support/attack-server.ts'

let it: AttackServer
let app: TestServer
let person: Person
let pub: Device
let conf: Device

// Use a random address, because limits count by address, and other tests may use the same Redis.
const address = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`
const start = async (options: TestOptions = {}): Promise<AttackServer> => {
  const attack = await startAttackServer({ trustedProxies: ['127.0.0.1'], ...options })
  const { server } = attack
  if (isOnNodes) {
    const sequence = "pg_get_serial_sequence('oauth2server_user', 'id')"
    await server.query(`select setval(${sequence}, ${randomInt(1_000, 2_000_000_000)})`)
  }
  return attack
}

type Person = Pick<LoggedIn, 'agent' | 'csrfToken'> & { readonly user: User }

let made = 0
/** Creates a user with a session at a new address. The user has no password, because hashing is slow. */
const somebody = async (
  { issuer, server }: TestServer,
  { from = address(), user: given }: { from?: string; user?: User } = {},
): Promise<Person> => {
  made += 1
  const email = `somebody-${made}@example.org`
  const user = given ?? (await server.users.create({ email, password: null }))
  const headers = { 'user-agent': browser, 'x-forwarded-for': from }
  const agent = new UserAgent(headers)
  const at = { cookie: null, address: from, userAgent: browser }
  await agent.jar.setCookie(await server.sessions.signIn(user.id, at), issuer)
  const html = await (await agent.fetch(`${issuer}/`)).text()
  const [, csrfToken = ''] = /name="csrf_token" value="([^"]+)"/.exec(html) ?? []
  return { agent, csrfToken, user }
}

beforeAll(async () => {
  it = await start()
  app = it.server
})
afterAll(() => it?.close())
beforeEach(async () => {
  // Advance to a random time, at which no counter of an earlier test exists.
  app.advance(randomInt(1, 1_000) * 3_600)
  person = await somebody(app)
  pub = await Device.register(app)
  conf = await Device.register(app, { isConfidential: true, name: 'Set-top Box' })
})

/** Creates device codes on which the user has decided. */
const decided = async (device: Device, confirm: 'yes' | 'no' = 'yes'): Promise<DeviceCodes> => {
  const codes = await device.codes()
  expect((await decideOn(app, person, codes, confirm)).status).toBe(200)
  return codes
}

const families = async ({ client }: Device): Promise<number> => {
  const [row] = await app.query(
    `select count(*) as n from oauth2server_authorization join oauth2server_client using (client_key) where client_id = '${client.clientId}'`,
  )
  return Number(row?.n)
}

describe('DV-01 Polling', () => {
  test('returns authorization_pending, and increases the interval by 5 seconds for each early poll', async () => {
    const codes = await pub.codes()
    expect(codes.interval).toBe(5)
    const poll = async () => refusal(await pub.poll(codes))
    const pollAfter = async (seconds: number) => {
      app.advance(seconds)
      return poll()
    }
    expect(await poll()).toBe('400 authorization_pending')
    expect(await pollAfter(5)).toBe('400 authorization_pending')
    for (const tooEarly of [4, 9, 14]) expect(await pollAfter(tooEarly)).toBe('400 slow_down')
    // The interval is now 20 seconds.
    expect(await pollAfter(19)).toBe('400 slow_down')
    expect(await pollAfter(25)).toBe('400 authorization_pending')
    expect(await pollAfter(24)).toBe('400 slow_down')
  })

  test('returns access_denied after a refusal, expired_token after the expiry, and the tokens only once', async () => {
    const denied = await decided(pub, 'no')
    for (const _ of [1, 2]) expect(refusal(await pub.poll(denied))).toBe('400 access_denied')

    const codes = await pub.codes()
    app.advance(codes.expires_in)
    expect(refusal(await pub.poll(codes))).toBe('400 expired_token')
    app.advance(codes.expires_in)
    expect(refusal(await pub.poll(codes))).toBe('400 invalid_grant')

    person = await somebody(app)
    const allowed = await decided(pub)
    const { status, body } = await pub.poll(allowed)
    expect([status, await ping(app, body.access_token)]).toEqual([200, 200])
    expect(refusal(await pub.poll(allowed))).toBe('400 invalid_grant')
    // The second request with the redeemed code is a replay, which revokes the tokens.
    expect(await ping(app, body.access_token)).toBe(401)
  })

  test('shares the polling state between two nodes', async () => {
    await using other = await startServer({ beside: app, deviceAuthorization: true })
    const codes = await pub.codes()
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    app.advance(3)
    expect(refusal(await pub.poll(codes, {}, other))).toBe('400 slow_down')
    app.advance(8)
    expect(refusal(await pub.poll(codes))).toBe('400 slow_down')
    await decideOn(app, person, codes)
    expect((await pub.poll(codes, {}, other)).status).toBe(200)
    for (const node of [app, other])
      expect(refusal(await pub.poll(codes, {}, node))).toBe('400 invalid_grant')
  })
})

describe('DV-02 Guessed user codes', () => {
  const wrong = ['BBBB-BBBB', 'CCCC-CCCC', 'DDDD-DDDD', 'FFFF-FFFF', 'GGGG-GGGG']

  test('allows five wrong codes per user, even if the user changes the session or address or enters correct codes', async () => {
    const ada = await somebody(app)
    for (const code of wrong) {
      expect((await enterCode(app, ada, code)).status).toBe(400)
      const { user_code } = await pub.codes()
      if (code !== wrong.at(-1)) expect((await decideOn(app, ada, { user_code })).status).toBe(200)
    }
    const { user_code } = await pub.codes()
    const blocked = await enterCode(app, ada, user_code)
    expect(blocked.status).toBe(429)
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
    const again = await somebody(app, { user: ada.user })
    expect((await enterCode(app, again, user_code)).status).toBe(429)
    // Other users can still enter the code.
    expect((await enterCode(app, await somebody(app), user_code)).status).toBe(200)
    app.advance(600)
    const later = await somebody(app, { user: ada.user })
    const { user_code: fresh } = await pub.codes()
    expect((await enterCode(app, later, fresh)).status).toBe(200)
  })

  test('allows five wrong codes per address, even if they are sent by different users', async () => {
    const from = address()
    for (const code of wrong)
      expect((await enterCode(app, await somebody(app, { from }), code)).status).toBe(400)
    const { user_code } = await pub.codes()
    const next = await somebody(app, { from })
    expect((await enterCode(app, next, user_code)).status).toBe(429)
    const elsewhere = await somebody(app, { user: next.user })
    expect((await enterCode(app, elsewhere, user_code)).status).toBe(200)
  })

  test('allows five wrong codes that are sent concurrently', async () => {
    const ada = await somebody(app)
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        enterCode(app, ada, `BBBB-BBB${userCodeAlphabet[index % 20]}`),
      ),
    )
    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter((status) => status === 400)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(25)
  })

  test('redirects an anonymous user to the login instead of checking the code', async () => {
    const { user_code } = await pub.codes()
    const guest = { agent: new UserAgent(), csrfToken: 'x' }
    for (const code of [user_code, ...wrong, ...wrong]) {
      const { status, headers } = await enterCode(app, guest, code)
      expect(status).toBe(303)
      expect(headers.get('location')).toMatch(/^\/login\?/)
    }
    const decision = { user_code, confirm: 'yes', csrf_token: 'x' }
    expect((await postToDevicePage(app, guest, decision)).status).toBe(403)
    expect(refusal(await pub.poll(await pub.codes()))).toBe('400 authorization_pending')
  })

  test('returns the same response for malformed, unknown, expired and used codes', async () => {
    const expired = await pub.codes()
    app.advance(600)
    person = await somebody(app)
    const used = await decided(pub)
    await pub.poll(used)
    const refused = await decided(pub, 'no')
    const pages = []
    for (const code of [
      'nonsense',
      'WWWW-WWWW',
      expired.user_code,
      used.user_code,
      refused.user_code,
    ]) {
      // Use a new user for each code, because the number of wrong codes per user is limited.
      const { status, html } = await enterCode(app, await somebody(app), code)
      const said = html
        .replaceAll(/ value="[^"]*"/g, '')
        .replaceAll(/somebody-\d+@example\.org/g, '')
      pages.push(`${status} ${said}`)
    }
    expect(new Set(pages).size).toBe(1)
  })

  test('creates different codes of eight consonants, and ignores case and dashes', async () => {
    expect(new Set(userCodeAlphabet).size).toBe(20)
    expect(userCodeAlphabet).not.toMatch(/[AEIOUY]/)
    // A user can enter five wrong codes within the lifetime of a code.
    expect(5 / 20 ** 8).toBeLessThan(2 ** -32)
    const codes = []
    for (let count = 0; count < 30; count += 1) codes.push((await pub.codes()).user_code)
    expect(new Set(codes).size).toBe(30)
    for (const code of codes)
      expect(code).toMatch(new RegExp(`^[${userCodeAlphabet}]{4}-[${userCodeAlphabet}]{4}$`))
    const [first = '', second = '', third = ''] = codes
    for (const typed of [
      first.toLowerCase(),
      second.replace('-', ''),
      ` ${third.replace('-', ' ').toLowerCase()} `,
    ])
      expect((await enterCode(app, person, typed)).status).toBe(200)
  })

  test('counts wrong codes of all nodes together, and logs one alarm', async () => {
    await using other = await startServer({
      beside: app,
      issuer: app.issuer,
      deviceAuthorization: true,
      trustedProxies: ['127.0.0.1'],
    })
    const heard = () =>
      [...app.log, ...other.log].filter(({ event }) => event === 'user_code.guessed').length
    // Advance to the start of a counting period.
    app.advance(600 - ((app.now() / 1000) % 600))
    for (let guest = 0; guest < 11; guest += 1) {
      const stranger = await somebody(app)
      for (const [index, code] of wrong.entries())
        expect((await enterCode(index % 2 === 0 ? app : other, stranger, code)).status).toBe(400)
      for (const node of [app, other])
        expect((await enterCode(node, stranger, 'HHHH-HHHH')).status).toBe(429)
      if (guest < 9) expect(heard()).toBe(0)
    }
    await expect.poll(heard).toBe(1)
  })
})

describe('DV-04 Binding and phishing', () => {
  test('rejects other and unauthenticated clients without consuming the code', async () => {
    const stranger = await Device.register(app)
    for (const device of [pub, conf]) {
      const codes = await decided(device)
      expect(refusal(await stranger.poll(codes))).toBe('400 invalid_grant')
      const { clientId } = conf.client
      const unproven = new Device(app, { clientId, clientSecret: '' }, false)
      expect(refusal(await unproven.poll(codes))).toBe('401 invalid_client')
      const wrong = new Device(app, { clientId, clientSecret: 'wrong' }, true)
      expect(refusal(await wrong.poll(codes))).toBe('401 invalid_client')
      expect((await device.poll(codes)).status).toBe(200)
    }
  })

  test('requires the user’s decision even if the URI contains the user code', async () => {
    const codes = await pub.codes()
    const { search } = new URL(codes.verification_uri_complete)
    for (const query of [
      search,
      `${search}&confirm=yes`,
      `${search}&confirm=yes&csrf_token=${person.csrfToken}`,
    ]) {
      const opened = await openDevicePage(app, person, query)
      expect(opened.status).toBe(200)
      expect(opened.html).toContain(codes.user_code)
      expect(opened.html).not.toContain('name="confirm"')
    }
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    const asked = await enterCode(app, person, codes.user_code)
    expect(asked.html).toContain('name="confirm"')
    for (const shown of [codes.user_code, 'Photo Frame', 'notes:read'])
      expect(asked.html).toContain(shown)
    app.advance(5)
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    // The page also requires a decision if the user consented earlier.
    await decideOn(app, person, codes)
    expect((await pub.poll(codes)).status).toBe(200)
    const next = await pub.codes()
    expect((await enterCode(app, person, next.user_code)).html).toContain('name="confirm"')
    expect(refusal(await pub.poll(next))).toBe('400 authorization_pending')
  })

  test('forbids framing of every page', async () => {
    const { user_code } = await pub.codes()
    for (const { headers } of [
      await openDevicePage(app, person),
      await openDevicePage(app, person, `?user_code=${user_code}`),
      await enterCode(app, person, user_code),
      await enterCode(app, person, 'WWWW-WWWW'),
    ]) {
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })

  test('rejects a decision from another site, from another session or with a forged CSRF token', async () => {
    const codes = await pub.codes()
    const { hidden } = await enterCode(app, person, codes.user_code)
    const decision = { ...hidden, confirm: 'yes' }
    const victim = await somebody(app)
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    for (const response of [
      await postToDevicePage(app, person, decision, foreign),
      await postToDevicePage(app, person, { ...decision, csrf_token: 'x' }),
      await postToDevicePage(app, person, { ...decision, csrf_token: victim.csrfToken }),
      await postToDevicePage(app, victim, { ...decision, csrf_token: victim.csrfToken }),
    ])
      expect([400, 403]).toContain(response.status)
    expect(refusal(await pub.poll(codes))).toBe('400 authorization_pending')
    expect((await postToDevicePage(app, person, decision)).status).toBe(200)
    // The first decision is final.
    expect((await postToDevicePage(app, person, { ...hidden, confirm: 'no' })).status).toBe(400)
    expect((await pub.poll(codes)).status).toBe(200)
  })

  test('warns on the page that a client registered itself', async () => {
    const { clientId } = it.clients.evil
    const asked = await new Device(app, { clientId, clientSecret: '' }, false).ask()
    // A client that did not register the grant cannot use the device flow.
    expect([asked.status, asked.body.error]).toEqual([401, 'invalid_client'])
    const proven = await new Device(app, it.clients.evil, true).ask()
    expect([proven.status, proven.body.error]).toEqual([400, 'unauthorized_client'])
    const registered = await it.request('/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address() },
      body: JSON.stringify({
        client_name: 'Photo Frame',
        token_endpoint_auth_method: 'none',
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
        response_types: [],
      }),
    })
    expect(registered.status, registered.text).toBe(201)
    const client = { clientId: String(registered.body.client_id), clientSecret: '' }
    const device = new Device(app, client, false)
    const { user_code } = await device.codes()
    const page = await enterCode(app, person, user_code)
    const known = await enterCode(app, person, (await pub.codes()).user_code)
    expect(page.html).toMatch(/registered itself\. .* has not verified it/)
    expect(known.html).not.toContain('registered itself')
  })

  test('rejects an invalid PKCE challenge, and requires the verifier of a valid challenge', async () => {
    const { challenge, verifier } = newPkce()
    const given = { code_challenge: challenge, code_challenge_method: 'S256' }
    for (const device of [pub, conf]) {
      const codes = await device.codes(given)
      await decideOn(app, person, codes)
      for (const code_verifier of [undefined, '', 'x'.repeat(43), challenge])
        expect(refusal(await device.poll(codes, { code_verifier }))).toBe('400 invalid_grant')
      expect(await families(device)).toBe(0)
      expect((await device.poll(codes, { code_verifier: verifier })).status).toBe(200)
    }
    for (const bad of [
      { code_challenge: challenge },
      { code_challenge: challenge, code_challenge_method: 'plain' },
      { code_challenge: 'short', code_challenge_method: 'S256' },
      { code_challenge_method: 'S256' },
    ])
      expect(refusal(await pub.ask(bad))).toBe('400 invalid_request')
    const bare = await decided(pub)
    expect(refusal(await pub.poll(bare, { code_verifier: verifier }))).toBe('400 invalid_grant')
  })
})

describe('DV-05 Races and changes before redemption', () => {
  test('issues tokens for one of several concurrent polls, and revokes them because of the replays', async () => {
    await using other = await startServer({ beside: app, deviceAuthorization: true })
    for (let round = 0; round < 3; round += 1) {
      const device = await Device.register(app, { isConfidential: round % 2 === 0 })
      const codes = await decided(device)
      const responses = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          device.poll(codes, {}, index % 2 === 0 ? app : other),
        ),
      )
      const succeeded = responses.filter(({ status }) => status === 200)
      expect(succeeded).toHaveLength(1)
      for (const response of responses.filter(({ status }) => status !== 200))
        expect(refusal(response)).toBe('400 invalid_grant')
      expect(await families(device)).toBe(1)
      // Each further request is a replay, which revokes the tokens.
      expect(await ping(app, succeeded[0]?.body.access_token ?? '')).toBe(401)
    }
  })

  test('rejects an approval after the expiry, and a poll after the expiry of an approved code', async () => {
    const codes = await pub.codes()
    const { hidden } = await enterCode(app, person, codes.user_code)
    app.advance(600)
    expect((await postToDevicePage(app, person, { ...hidden, confirm: 'yes' })).status).toBe(400)
    expect(refusal(await pub.poll(codes))).toBe('400 expired_token')

    person = await somebody(app)
    const approved = await decided(pub)
    app.advance(600)
    expect(refusal(await pub.poll(approved))).toBe('400 expired_token')
    expect(await families(pub)).toBe(0)
  })

  type Change = (device: Device, id: User['id']) => Promise<unknown>
  test.each<[string, Change, string]>([
    [
      'the user was deactivated',
      (_, id) => app.server.users.setActive(id, false),
      '400 invalid_grant',
    ],
    ['the user was deleted', (_, id) => app.server.users.delete(id), '400 invalid_grant'],
    [
      'the consent was withdrawn',
      ({ client }, id) => app.server.authorizedApplications.revoke(id, client.clientId),
      '400 invalid_grant',
    ],
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
      'a scope was removed',
      ({ client }) => app.server.clients.update(client.clientId, { allowedScopes: [] }),
      '400 invalid_grant',
    ],
    [
      'the client may no longer use the grant',
      ({ client }) => app.server.clients.update(client.clientId, { grantTypes: ['password'] }),
      '400 unauthorized_client',
    ],
  ])('issues no tokens if %s between approval and poll', async (_what, change, expected) => {
    for (const device of [pub, conf]) {
      const ada = await somebody(app)
      const codes = await device.codes()
      expect((await decideOn(app, ada, codes)).status).toBe(200)
      await change(device, ada.user.id)
      expect(refusal(await device.poll(codes))).toBe(expected)
      expect(await families(device)).toBe(0)
    }
  })
})

describe('DV-06 Flood', () => {
  test('returns 429 only to the flooding address, and deletes expired codes', async () => {
    await using flooded = await start()
    const { server } = flooded
    const device = await Device.register(server)
    const from = (one: string) => ({ headers: { 'x-forwarded-for': one } })
    const [flooding, other] = [address(), address()]
    const statuses: number[] = []
    for (let sent = 0; sent < 120; sent += 1)
      statuses.push((await device.ask({}, from(flooding))).status)
    expect(statuses.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 200))
    expect(new Set(statuses.slice(100))).toEqual(new Set([429]))
    const refused = await device.ask({}, from(flooding))
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    // The proxy appends the address of the sender on the right. The server ignores the forged address on the left.
    expect((await device.ask({}, from(`${other}, ${flooding}`))).status).toBe(429)
    expect((await device.ask({}, from(other))).status).toBe(200)
    server.advance(60)
    expect((await device.ask({}, from(flooding))).status).toBe(200)
    if (isOnNodes) return
    const rows = async () =>
      Number((await server.query('select count(*) as n from oauth2server_transient'))[0]?.n)
    expect(await rows()).toBeLessThan(250)
    server.advance(2_000)
    await server.server.sweep()
    expect(await rows()).toBe(0)
  })

  test('rejects a scope list of 10 kB and an unknown client', async () => {
    const scope = Array.from({ length: 1_000 }, (_, index) => `scope:${index}`).join(' ')
    expect(refusal(await pub.ask({ scope }))).toBe('400 invalid_scope')
    const nobody = new Device(app, { clientId: 'nobody', clientSecret: '' }, false)
    expect(refusal(await nobody.ask({ scope }))).toBe('401 invalid_client')
  })

  // This server has one node, because the function `random` cannot be sent to other processes.
  test('creates another user code if the first one is in use', async () => {
    let isPoor = false
    let draws = 0
    await using poor = await start({
      // A user code needs 24 random bytes. Return the same bytes for the first two codes.
      random: (bytes) => {
        const random = crypto.getRandomValues(new Uint8Array(bytes))
        if (!isPoor || bytes !== 24) return random
        draws += 1
        return draws < 3 ? new Uint8Array(bytes) : random
      },
    })
    const { server } = poor
    const device = await Device.register(server)
    isPoor = true
    const [first, second] = [await device.codes(), await device.codes()]
    expect([first.user_code, draws]).toEqual(['BBBB-BBBB', 3])
    expect(second.user_code).not.toBe(first.user_code)
    await decideOn(server, await somebody(server), second)
    expect(refusal(await device.poll(first))).toBe('400 authorization_pending')
    expect((await device.poll(second)).status).toBe(200)
  })
})
