import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { basicOf, postForm } from '../support/form.ts'
import { push, pushed, referenceUrl, requestOf } from '../support/pushed-request.ts'
import {
  isOnNodes,
  redirectUri,
  secretKey,
  startServer,
  type TestServer,
} from '../support/server.ts'
import { en } from '../support/texts.ts'
import { formIn, refusal, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

let app: TestServer
/** A browser whose user is logged in, for all tests of this file. */
let agent: UserAgent
let conf: TestClient
let pub: TestClient

beforeAll(async () => {
  app = await startServer()
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent, { allowedScopes: ['notes:read'] })
  pub = await TestClient.register(app, agent, { isConfidential: false })
})
afterAll(() => app.close())

const endpoint = () => `${app.issuer}/oauth/par`
const asPublic = { isPublic: true }
const post = (fields: Parameters<typeof postForm>[1], headers = basicOf(conf)) =>
  postForm(endpoint(), fields, headers)
const refusalOf = async (answer: ReturnType<typeof push>) => refusal((await answer) as never)

/** Asserts that the server redirects a request to the error view. Returns the `error` parameter. */
const localError = async (url: string, browser = agent): Promise<string> => {
  const response = await browser.fetch(url)
  expect(response.status).toBe(303)
  const target = new URL(response.headers.get('location') ?? '', app.issuer)
  expect(target.origin + target.pathname).toBe(`${app.issuer}/oauth/errors`)
  return target.searchParams.get('error') ?? ''
}

const metadataOf = async ({ issuer }: TestServer) => {
  const response = await fetch(`${issuer}/.well-known/oauth-authorization-server`)
  return (await response.json()) as Record<string, unknown>
}

describe('RFC 9126 §2.1 the pushed authorization request endpoint', () => {
  test('§2.1 supports the whole flow of a confidential client', async () => {
    const url = referenceUrl(conf, await pushed(conf))
    const answer = responseTo(conf, await agent.authorize(app, url))
    expect(answer).toEqual({ code: expect.any(String), state: 'xyz', iss: app.issuer })
    const { status, body } = await conf.redeem(answer.code ?? '')
    expect([status, body.scope]).toEqual([200, 'notes:read'])
  })

  test('§2.1 accepts a public client with its client_id [T374]', async () => {
    const url = referenceUrl(pub, await pushed(pub, {}, asPublic))
    const { code = '' } = responseTo(pub, await agent.authorize(app, url))
    expect((await pub.redeem(code)).status).toBe(200)
  })

  test('§2.2 returns 201 with a random URN and its lifetime, and forbids caching [T379]', async () => {
    const { status, headers, body } = await push(conf)
    expect(status).toBe(201)
    expect(body.request_uri).toMatch(/^urn:ietf:params:oauth:request_uri:[A-Za-z0-9]{43}$/)
    expect(body.expires_in).toBe(540)
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect((await push(conf)).body.request_uri).not.toBe(body.request_uri)
  })

  test.each([
    ['missing authentication', () => post(requestOf(conf), {} as never), '401 invalid_client'],
    [
      'a wrong secret',
      () => post(requestOf(conf), basicOf({ ...conf, clientSecret: 'x' })),
      '401 invalid_client',
    ],
    [
      'an unknown client',
      () =>
        post({ ...requestOf(conf), client_id: 'x' }, basicOf({ clientId: 'x', clientSecret: 'x' })),
      '401 invalid_client',
    ],
    [
      'a public client that sends a secret',
      () => post({ ...requestOf(pub), client_secret: 'x' }, {} as never),
      '401 invalid_client',
    ],
    [
      'two authentication methods',
      () => post({ ...requestOf(conf), client_secret: conf.clientSecret }),
      '400 invalid_request',
    ],
    ['a client_id of another client', () => post(requestOf(pub)), '400 invalid_request'],
  ])(
    'PA-01 rejects invalid client authentication like the token endpoint: %s [T373]',
    async (_what, ask, expected) => {
      const answer = await ask()
      expect(refusal(answer as never)).toBe(expected)
    },
  )

  test('§2.1 uses the authenticated client if the request has no client_id', async () => {
    const { client_id: _, ...rest } = requestOf(conf)
    const { status, body } = await post(rest)
    expect(status).toBe(201)
    const url = referenceUrl(conf, String(body.request_uri))
    expect(responseTo(conf, await agent.authorize(app, url)).code).toBeDefined()
  })

  test.each(['urn:ietf:params:oauth:request_uri:x', 'https://client.example/request', ''])(
    'PA-01 §2.1 rejects the parameter request_uri: "%s" [T375]',
    async (request_uri) => {
      expect(await refusalOf(post({ ...requestOf(conf), request_uri }))).toBe('400 invalid_request')
    },
  )

  test('§3 rejects a request object [T385]', async () => {
    expect(await refusalOf(push(conf, { request: 'e30.e30.' }))).toBe('400 request_not_supported')
  })

  test('PA-01 §2.1 rejects a JSON body, and ignores parameters in the query', async () => {
    const headers = basicOf(conf)
    const json = await fetch(endpoint(), {
      method: 'POST',
      body: JSON.stringify(requestOf(conf)),
      headers: { ...headers, 'content-type': 'application/json' },
    })
    expect(json.status).toBe(400)
    const query = new URLSearchParams(requestOf(conf))
    expect(await refusalOf(postForm(`${endpoint()}?${query}`, {}, headers))).toBe(
      '400 invalid_request',
    )
  })

  test.each<[string, Record<string, string | undefined>, string]>([
    [
      'a redirect URI that is not registered',
      { redirect_uri: 'https://evil.example/cb' },
      'invalid_request',
    ],
    ['a malformed redirect URI', { redirect_uri: 'https://' }, 'invalid_request'],
    ['a redirect URI with a slash added', { redirect_uri: `${redirectUri}/` }, 'invalid_request'],
    [
      'a redirect URI in capitals',
      { redirect_uri: redirectUri.replace('client', 'CLIENT') },
      'invalid_request',
    ],
    ['a challenge without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['a missing response type', { response_type: undefined }, 'invalid_request'],
    ['an unknown response type', { response_type: 'bogus' }, 'unsupported_response_type'],
    ['a scope outside allowed_scopes', { scope: 'notes:write' }, 'invalid_scope'],
    ['an unknown scope', { scope: 'bogus' }, 'invalid_scope'],
    ['an internal scope', { scope: 'test:scope' }, 'invalid_scope'],
    ['code_challenge_method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a malformed challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['a response mode of another response type', { response_mode: 'fragment' }, 'invalid_request'],
    ['contradicting prompts', { prompt: 'none login' }, 'invalid_request'],
    ['a state that is too long', { state: 'x'.repeat(5_000) }, 'invalid_request'],
    ['a control character', { redirect_uri: `${redirectUri}\0` }, 'invalid_request'],
    ['a malformed key thumbprint', { dpop_jkt: 'x' }, 'invalid_request'],
  ])(
    'PA-01 §2.1 rejects an invalid request like the authorization endpoint: %s [T376]',
    async (_what, given, code) => {
      expect(await refusalOf(push(conf, given))).toBe(`400 ${code}`)
    },
  )

  test('PK-01 §2.1 requires a challenge from a public client [T377]', async () => {
    const without = { code_challenge: undefined, code_challenge_method: undefined }
    expect(await refusalOf(push(pub, without, asPublic))).toBe('400 invalid_request')
  })

  test('PA-01 §2.1 rejects a client that may not use the grant or the response type', async () => {
    const machine = await TestClient.register(app, agent, { grantTypes: ['client_credentials'] })
    expect(await refusalOf(push(machine))).toBe('400 unauthorized_client')
    const web = await TestClient.register(app, agent, { responseTypes: ['code'] })
    const implicit = { response_type: 'token' }
    expect(await refusalOf(push(web, implicit))).toBe('400 unauthorized_client')
  })

  test('PA-01 does not store a rejected request', async () => {
    const count = async () => (await app.shortLived('pushed')).length
    const before = await count()
    await push(conf, { scope: 'bogus' })
    await post({ ...requestOf(conf), request_uri: 'x' })
    expect(await count()).toBe(before)
  })

  test('§2.1 stores the request in sealed form and without client credentials', async () => {
    const client = await TestClient.register(app, agent)
    const fields = { ...requestOf(client), client_secret: client.clientSecret }
    const { status, body } = await postForm(endpoint(), fields)
    expect(status).toBe(201)
    const rows = await app.shortLived('pushed')
    expect(JSON.stringify(rows)).not.toContain(String(body.request_uri).slice(-43))
    const values = rows.map((row) =>
      new KeyRing([secretKey]).open('transient', row.value, [row.key]),
    )
    expect(values.filter((text) => text?.includes(client.clientId))).toHaveLength(1)
    expect(JSON.stringify([rows, values])).not.toContain(client.clientSecret)
    const page = await agent.browse(referenceUrl(client, String(body.request_uri)))
    expect(await page.text()).not.toContain(client.clientSecret)
  })
})

describe('RFC 9126 §4 the authorization request with a reference', () => {
  test('PA-02 §2.2 accepts a reference only from the client that pushed the request [T380]', async () => {
    const requestUri = await pushed(conf)
    expect(await localError(referenceUrl(pub, requestUri))).toBe('invalid_request')
    expect(
      responseTo(conf, await agent.authorize(app, referenceUrl(conf, requestUri))).code,
    ).toBeDefined()
  })

  test('PA-02 §4 rejects a request without client_id', async () => {
    const requestUri = await pushed(conf)
    for (const client_id of [undefined, ''])
      expect(await localError(referenceUrl(conf, requestUri, { client_id }))).toBe(
        'invalid_request',
      )
  })

  test('PA-02 §7.3 ignores parameters that are added to the URL [T393]', async () => {
    const requestUri = await pushed(conf)
    const url = referenceUrl(conf, requestUri, {
      scope: 'user:email',
      redirect_uri: 'https://evil.example/cb',
      code_challenge: 'x'.repeat(43),
      state: 'other',
      response_type: 'token',
      prompt: 'none',
      iss: 'https://evil.example',
    })
    const answer = responseTo(conf, await agent.authorize(app, `${url}&state=twice`))
    expect(answer).toEqual({ code: expect.any(String), state: 'xyz', iss: app.issuer })
    expect((await conf.redeem(answer.code ?? '')).body.scope).toBe('notes:read')
  })

  test.each([
    ['a URL', 'https://evil.example/x'],
    ['an address of the network', 'http://169.254.169.254/latest'],
    ['a file', 'file:///etc/passwd'],
    ['an encoded NUL', 'urn:ietf:params:oauth:request_uri:%00'],
    ['a path with ..', 'urn:ietf:params:oauth:request_uri:../../x'],
    ['SQL', "urn:ietf:params:oauth:request_uri:' or 1=1 --"],
    ['NUL', 'urn:ietf:params:oauth:request_uri:\0'],
    ['a guessed reference', `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`],
    ['a long reference', `urn:ietf:params:oauth:request_uri:${'x'.repeat(5_000)}`],
    ['the prefix without an ID', 'urn:ietf:params:oauth:request_uri:'],
    ['a word', 'x'],
  ])('PA-04 rejects an unknown reference without fetching it: %s', async (_what, requestUri) => {
    const resolved: string[] = []
    const resolve = async (host: string) => {
      resolved.push(host)
      return []
    }
    await using node = await startServer({ beside: app, outbound: { resolve } })
    const response = await agent.fetch(
      referenceUrl(conf, requestUri).replace(app.issuer, node.issuer),
    )
    expect(new URL(response.headers.get('location') ?? '', node.issuer).pathname).toBe(
      '/oauth/errors',
    )
    expect(resolved).toEqual([])
  })

  test('OpenID Connect Core §3.1.2.6 sends the error for the URL of a request object to the client [T2740]', async () => {
    const url = referenceUrl(conf, 'https://client.example/request', {
      redirect_uri: conf.redirectUri,
      response_type: 'code',
      state: 'xyz',
    })
    const answer = responseTo(conf, new URL((await agent.fetch(url)).headers.get('location') ?? ''))
    expect(answer).toMatchObject({ error: 'request_uri_not_supported', state: 'xyz' })
    const unregistered = referenceUrl(conf, 'https://client.example/request', {
      redirect_uri: 'https://evil.example/cb',
    })
    expect(await localError(unregistered)).toBe('invalid_request')
    const without = referenceUrl(conf, 'https://client.example/request')
    expect(await (await agent.browse(without)).text()).toContain(
      'the reference of a pushed request',
    )
  })

  test('AZ-12 rejects a repeated reference', async () => {
    const requestUri = await pushed(conf)
    const url = `${referenceUrl(conf, requestUri)}&request_uri=${encodeURIComponent(requestUri)}`
    expect(await localError(url)).toBe('invalid_request')
  })

  test('PA-03 §4 accepts the reference again after the login and at reloads of the consent page [T388]', async () => {
    const browser = new UserAgent()
    const url = referenceUrl(conf, await pushed(conf, { prompt: 'consent' }))
    const login = await browser.browse(url)
    expect(login.address).toContain('/login')
    const back = await browser.submit(login, { email: app.user.email, password: app.password })
    const consent = new URL(back.headers.get('location') ?? '', app.issuer)
    for (const _ of [1, 2, 3]) expect((await browser.fetch(consent)).status).toBe(200)
    const decided = await browser.submit(await browser.browse(consent), { confirm: 'yes' })
    expect(decided.headers.get('location')).toContain('code=')
  })

  test.each(['yes', 'no'] as const)(
    'PA-03 §7.3 rejects a reference after the decision %s [T386]',
    async (decision) => {
      const url = referenceUrl(conf, await pushed(conf, { prompt: 'consent' }))
      const answer = responseTo(conf, await agent.authorize(app, url, decision))
      expect(answer.error ?? 'granted').toBe(decision === 'yes' ? 'granted' : 'access_denied')
      expect(await localError(url)).toBe('invalid_request')
    },
  )

  test('PA-03 §7.3 rejects a reference after a remembered consent [T391]', async () => {
    const client = await TestClient.register(app, agent)
    await client.tokens()
    const url = referenceUrl(client, await pushed(client))
    expect((await agent.fetch(url)).headers.get('location')).toContain('code=')
    expect(await localError(url)).toBe('invalid_request')
  })

  test('PA-03 accepts only the first decision if several consent pages show the same request [T387]', async () => {
    const url = referenceUrl(conf, await pushed(conf, { prompt: 'consent' }))
    const pages = [await agent.browse(url), await agent.browse(url), await agent.browse(url)]
    const [first, second, third] = pages
    const yes = { confirm: 'yes' }
    const granted = await agent.submit(first as never, yes)
    expect(responseTo(conf, new URL(granted.headers.get('location') ?? '')).code).toBeDefined()
    const late = await agent.submit(second as never, yes)
    const answer = responseTo(conf, new URL(late.headers.get('location') ?? ''))
    expect([answer.code, answer.error]).toEqual([undefined, 'invalid_request'])
    expect((await agent.submit(third as never, { confirm: 'no' })).status).toBe(400)
  })

  test('PA-03 issues a code for only one of 20 concurrent decisions on two nodes [T392]', async () => {
    await using node = await startServer({ beside: app, issuer: app.issuer })
    const url = referenceUrl(conf, await pushed(conf, { prompt: 'consent' }))
    const forms = await Promise.all(
      Array.from({ length: 20 }, async () => formIn(await (await agent.browse(url)).text())),
    )
    const responses = await Promise.all(
      forms.map(({ hidden }, index) =>
        agent.fetch(`${index % 2 === 0 ? app.issuer : node.issuer}/oauth/authorize`, {
          method: 'POST',
          body: new URLSearchParams({ ...hidden, confirm: 'yes' }),
        }),
      ),
    )
    const codes = responses.filter((answer) => answer.headers.get('location')?.includes('code='))
    expect(codes).toHaveLength(1)
  })

  test('§2.2 rejects an expired reference', async () => {
    await using other = await startServer()
    const browser = new UserAgent()
    await browser.logIn(other)
    const client = await TestClient.register(other, browser)
    const early = referenceUrl(client, await pushed(client))
    const never = referenceUrl(client, await pushed(client))
    other.advance(539)
    expect((await browser.fetch(early)).status).toBe(200)
    other.advance(1)
    const late = await browser.fetch(never)
    expect(late.headers.get('location')).toContain('/oauth/errors')
  })

  test('§2.2 accepts a decision after the reference expired, if the page was shown before', async () => {
    await using other = await startServer()
    const browser = new UserAgent()
    await browser.logIn(other)
    const client = await TestClient.register(other, browser)
    const url = referenceUrl(client, await pushed(client))
    other.advance(530)
    const page = await browser.browse(url)
    other.advance(590)
    const decided = await browser.submit(page, { confirm: 'yes' })
    expect(decided.headers.get('location')).toContain('code=')
  })

  test('§4 continues with a request that the browser opened in time, however long the login takes [T3720]', async () => {
    await using other = await startServer()
    const client = await TestClient.register(other, new UserAgent())
    for (const seconds of [600, 3_600, 36_000]) {
      const browser = new UserAgent()
      const control = await browser.browse(client.url())
      const reference = await pushed(client)
      const late = referenceUrl(client, await pushed(client))
      const page = await new UserAgent().browse(referenceUrl(client, reference))
      const slow = new UserAgent()
      const opened = await slow.browse(referenceUrl(client, reference))
      expect([control.status, page.status, opened.status]).toEqual([200, 200, 200])
      other.advance(seconds)
      for (const [who, form] of [
        [browser, control],
        [slow, opened],
      ] as const) {
        const next = await who.submit(form, { email: other.user.email, password: other.password })
        const url = new URL(next.headers.get('location') ?? '', other.issuer)
        expect((await who.authorize(other, url)).searchParams.get('code')).toMatch(/^\w{43}$/)
      }
      // Nobody opened this request in time.
      const refused = await slow.fetch(late)
      expect(refused.headers.get('location')).toMatch(/\/oauth\/errors.*reason=expired/)
      const error = new URL(refused.headers.get('location') ?? '', other.issuer)
      expect(await (await slow.fetch(error)).text()).toContain(en.error.expired.what)
    }
  })

  test('§2.2 shows the consent page again when it is reloaded after the reference expired [T4270]', async () => {
    await using other = await startServer()
    const browser = new UserAgent()
    await browser.logIn(other)
    const client = await TestClient.register(other, browser)
    const url = referenceUrl(client, await pushed(client))
    await browser.browse(url)
    for (const seconds of [541, 3_600, 80_000]) {
      other.advance(seconds)
      const again = new UserAgent()
      await again.logIn(other)
      expect(formIn(await (await again.browse(url)).text()).action).toBe('/oauth/authorize')
    }
    other.advance(86_400)
    const late = await browser.fetch(url)
    expect(late.headers.get('location')).toMatch(/\/oauth\/errors.*reason=expired/)
  })

  test('§7.3 uses a request once, even if a browser opened it before [T3721]', async () => {
    await using other = await startServer()
    const browser = new UserAgent()
    const client = await TestClient.register(other, browser)
    const opened = await browser.browse(referenceUrl(client, await pushed(client)))
    const next = new URL(opened.address).searchParams.get('next') ?? ''
    await browser.submit(opened, { email: other.user.email, password: other.password })
    const url = new URL(next, other.issuer)
    expect((await browser.authorize(other, url)).searchParams.has('code')).toBe(true)
    for (const seconds of [0, 600, 86_400]) {
      other.advance(seconds)
      const again = await browser.fetch(url)
      expect(again.headers.get('location')).toMatch(/\/oauth\/errors|\/login/)
      expect((await browser.authorize(other, url)).searchParams.get('reason')).toBe('expired')
    }
  })

  test('PA-04 deletes expired requests', async ({ skip }) => {
    skip(isOnNodes, 'Redis deletes expired values itself, by its own clock')
    await using other = await startServer()
    const client = await TestClient.register(other, new UserAgent())
    await pushed(client)
    expect(await other.shortLived('pushed')).toHaveLength(1)
    other.advance(540 + 601)
    await other.server.sweep()
    expect(await other.shortLived('pushed')).toEqual([])
  })

  test('§4, §7.4 checks the redirect URI and the scopes of a pushed request again at the authorization endpoint [T378]', async () => {
    const client = await TestClient.register(app, agent)
    const requestUri = await pushed(client)
    await app.server.clients.update(client.clientId, { redirectUris: ['https://new.example/cb'] })
    expect(await localError(referenceUrl(client, requestUri))).toBe('invalid_request')
    const other = await TestClient.register(app, agent)
    const wide = await pushed(other, { scope: 'notes:write' })
    await app.server.clients.update(other.clientId, { allowedScopes: ['notes:read'] })
    const answer = responseTo(other, await agent.authorize(app, referenceUrl(other, wide)))
    expect(answer.error).toBe('invalid_scope')
  })

  test('§4 does not consume a request that fails at the authorization endpoint', async () => {
    const requestUri = await pushed(conf, { prompt: 'none' })
    const visitor = new UserAgent()
    const refused = await visitor.fetch(referenceUrl(conf, requestUri))
    expect(new URL(refused.headers.get('location') ?? '').searchParams.get('error')).toBe(
      'login_required',
    )
    const url = referenceUrl(conf, requestUri)
    expect(new URL((await agent.fetch(url)).headers.get('location') ?? '').origin).toBe(
      new URL(redirectUri).origin,
    )
  })

  test('§4 for "prompt=login consent", asks for one login and then for consent', async () => {
    const browser = new UserAgent()
    await browser.logIn(app)
    // Remember the consent, so that only the parameter prompt causes the pages.
    await app.server.consents.grant(app.user.id, conf.clientId, ['notes:read'])
    const url = referenceUrl(conf, await pushed(conf, { prompt: 'login consent' }))
    const login = await browser.browse(url)
    expect(login.address).toContain('/login')
    expect(login.status).toBe(200)
    const back = await browser.submit(login, { email: app.user.email, password: app.password })
    const consent = await browser.browse(new URL(back.headers.get('location') ?? '', app.issuer))
    expect(consent.address).toContain('/oauth/authorize')
    const decided = await browser.submit(consent, { confirm: 'yes' })
    expect(decided.headers.get('location')).toContain('code=')
  })

  describe('RFC 9126 §4, OpenID Connect Core §3.1.2.1 the prompt of a pushed request', () => {
    const asked = async (prompt = 'login') => {
      const browser = new UserAgent()
      await browser.logIn(app)
      await app.server.consents.grant(app.user.id, conf.clientId, ['notes:read'])
      return { browser, url: referenceUrl(conf, await pushed(conf, { prompt })) }
    }
    const shows = async (browser: UserAgent, url: string | URL): Promise<string> => {
      const page = await browser.browse(url)
      await page.body?.cancel()
      const location = page.headers.get('location')
      if (location !== null) return new URL(location).searchParams.get('error') ?? 'code'
      return page.address.includes('/login') ? 'login' : 'consent'
    }
    const nextOf = async (browser: UserAgent, url: string): Promise<URL> => {
      const login = new URL((await browser.fetch(url)).headers.get('location') ?? '', app.issuer)
      return new URL(login.searchParams.get('next') ?? '', app.issuer)
    }

    test('for prompt=login, asks for a login at each reload', async () => {
      const { browser, url } = await asked()
      for (let looks = 0; looks < 3; looks += 1) expect(await shows(browser, url)).toBe('login')
      expect(responseTo(conf, await browser.authorize(app, url))).toHaveProperty('code')
    })

    test('asks for a login even after another browser opened the same URL', async () => {
      const { browser, url } = await asked()
      expect(await shows(new UserAgent(), url)).toBe('login')
      expect(await shows(browser, url)).toBe('login')
    })

    test('asks for a login again if the user returns from the login page without a login', async () => {
      const { browser, url } = await asked()
      const next = await nextOf(browser, url)
      expect(await shows(browser, next)).toBe('login')
      // The return URL of another browser does not replace the login of this browser.
      app.advance(1)
      expect(await shows(browser, await nextOf(new UserAgent(), url))).toBe('login')
    })

    test('asks for a login again if the parameter login_again is invalid or belongs to another request', async () => {
      const { browser, url } = await asked()
      const login = await browser.browse((await asked()).url)
      const back = await browser.submit(login, { email: app.user.email, password: app.password })
      const other = new URL(back.headers.get('location') ?? '', app.issuer)
      for (const mark of [other.searchParams.get('login_again') ?? '', '', 'x', 'x.y']) {
        const mine = `${url}&login_again=${mark}`
        expect(await shows(browser, mine)).toBe('login')
        expect(await shows(browser, `${mine}&login_again=${mark}`)).toBe('login')
      }
      expect(await shows(browser, other)).toBe('code')
    })

    test('asks a user who is not logged in for only one login', async () => {
      const { url } = await asked()
      const visitor = new UserAgent()
      const login = await visitor.browse(url)
      const back = await visitor.submit(login, { email: app.user.email, password: app.password })
      const next = new URL(back.headers.get('location') ?? '', app.issuer)
      expect(await shows(visitor, next)).toBe('code')
    })

    test('for prompt=consent, shows the consent page at each request until the decision', async () => {
      const { browser, url } = await asked('consent')
      for (let looks = 0; looks < 3; looks += 1) expect(await shows(browser, url)).toBe('consent')
      const both = await asked('login consent')
      const login = await both.browser.browse(both.url)
      const back = await both.browser.submit(login, {
        email: app.user.email,
        password: app.password,
      })
      const next = new URL(back.headers.get('location') ?? '', app.issuer)
      for (let looks = 0; looks < 3; looks += 1)
        expect(await shows(both.browser, next)).toBe('consent')
    })
  })

  test('§4 accepts the reference in a POST to the authorization endpoint', async () => {
    const url = new URL(referenceUrl(conf, await pushed(conf, { prompt: 'consent' })))
    const page = await agent.fetch(`${app.issuer}/oauth/authorize`, {
      method: 'POST',
      body: url.searchParams,
    })
    expect(page.status).toBe(200)
  })

  test('MX-02 PA-02 ignores iss in the pushed request', async () => {
    const requestUri = await pushed(conf, { iss: 'https://evil.example' })
    expect(responseTo(conf, await agent.authorize(app, referenceUrl(conf, requestUri))).iss).toBe(
      app.issuer,
    )
  })

  test('§4 returns the response of the implicit grant in the fragment', async () => {
    const requestUri = await pushed(pub, { response_type: 'token' }, asPublic)
    const answer = responseTo(
      pub,
      await agent.authorize(app, referenceUrl(pub, requestUri)),
      'fragment',
    )
    expect(answer.access_token).toBeDefined()
  })
})

describe('PA-04 RFC 9126 §2.3 rate limits', () => {
  test('PA-04 §2.3 limits a confidential client to 600 requests per minute [T383]', async () => {
    await using other = await startServer()
    const client = await TestClient.register(other, new UserAgent())
    const statuses: number[] = []
    // Send invalid requests: the limit also counts them, and the server rejects them quickly.
    const ask = () => push(client, { request_uri: 'x' })
    for (let part = 0; part < 20; part += 1) {
      const responses = await Promise.all(Array.from({ length: 30 }, ask))
      statuses.push(...responses.map(({ status }) => status))
    }
    expect(new Set(statuses)).toEqual(new Set([400]))
    const { status, headers } = await push(client)
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    const another = await TestClient.register(other, new UserAgent())
    expect((await push(another)).status).toBe(201)
    other.advance(60)
    expect((await push(client)).status).toBe(201)
  })

  test('PA-04 §2.3 limits each IP address to 60 requests per minute for a public client [T384]', async () => {
    await using other = await startServer({ trustedProxies: ['127.0.0.1'] })
    const client = await TestClient.register(other, new UserAgent(), { isConfidential: false })
    const from = (address: string) =>
      push(client, {}, { ...asPublic, headers: { 'x-forwarded-for': address } })
    for (let count = 0; count < 60; count += 1) expect((await from('192.0.2.1')).status).toBe(201)
    expect((await from('192.0.2.1')).status).toBe(429)
    expect((await from('192.0.2.2')).status).toBe(201)
  })
})

describe('RFC 9126 §5, §6 metadata and required pushed requests', () => {
  test('§5 lists the endpoint URL with the path of the issuer in the metadata [T372]', async () => {
    await using other = await startServer({ basePath: '/app' })
    const metadata = await metadataOf(other)
    expect(metadata.pushed_authorization_request_endpoint).toBe(`${other.issuer}/oauth/par`)
    expect(metadata).not.toHaveProperty('require_pushed_authorization_requests')
    const client = await TestClient.register(other, new UserAgent())
    expect((await push(client)).status).toBe(201)
  })

  test('§5 returns 404 and rejects request_uri if pushed authorization requests are disabled', async () => {
    await using off = await startServer({ pushedAuthorizationRequests: 'off' })
    expect(await metadataOf(off)).not.toHaveProperty('pushed_authorization_request_endpoint')
    const browser = new UserAgent()
    const client = await TestClient.register(off, browser)
    expect((await push(client)).status).toBe(404)
    const answer = responseTo(client, await client.ask({ request_uri: 'urn:x' }))
    expect(answer.error).toBe('request_uri_not_supported')
  })

  test('PA-02 §4 rejects requests that were not pushed if the setting requires pushed requests [T389]', async () => {
    await using strict = await startServer({ pushedAuthorizationRequests: 'required' })
    expect((await metadataOf(strict)).require_pushed_authorization_requests).toBe(true)
    const browser = new UserAgent()
    const client = await TestClient.register(strict, browser)
    expect(new URL((await browser.browse(client.url())).address).pathname).toBe('/login')
    const answer = responseTo(client, await client.ask())
    expect([answer.error, answer.code]).toEqual(['invalid_request', undefined])
    const url = referenceUrl(client, await pushed(client))
    expect(responseTo(client, await browser.authorize(strict, url)).code).toBeDefined()
    const empty = responseTo(client, await client.ask({ request_uri: '' }))
    expect(empty.error).toBe('invalid_request')
  })

  test('§6 rejects a request that was not pushed if the client registered require_pushed_authorization_requests [T390]', async () => {
    const { client, clientSecret } = await app.server.clients.create(
      { name: 'Strict', userId: app.user.id, redirectUris: [redirectUri] },
      {
        origin: 'registration',
        registrationToken: null,
        metadata: JSON.stringify({ require_pushed_authorization_requests: true }),
      },
    )
    const registered = { clientId: client.clientId, clientSecret, redirectUri }
    const strict = new TestClient(app, agent, registered, 'basic')
    expect(responseTo(strict, await strict.ask()).error).toBe('invalid_request')
    const url = referenceUrl(strict, await pushed(strict))
    expect(responseTo(strict, await agent.authorize(app, url)).code).toBeDefined()
  })
})
