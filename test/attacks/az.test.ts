import type { ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'
import { manage, register, registered } from '../support/registration.ts'
import { UserAgent } from '../support/user-agent.ts'
import {
  type AttackClient,
  type AttackServer,
  expectJson,
  expectLocal400,
  expectNoChange,
  expectRedirect,
  formOf,
  isConsentPage,
  isLoginPage,
  type Over,
  startAttackServer,
} from './support/attack-server.ts'

let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

const cb = 'https://client.example/cb'
const evilCb = 'https://evil.example/cb'
const conf = (): AttackClient => attack.clients.conf
const client = (input: Partial<ClientInput>): Promise<AttackClient> =>
  attack.client({ name: 'Another', ...input })

/**
 * Sends the request by GET for a logged-in user and by POST for an anonymous user. Expects a local error page with
 * status 400, and no change of the database.
 */
const refusedEverywhere = (over: Over, append = ''): Promise<void> =>
  expectNoChange(attack, async () => {
    for (const [as, method] of [
      ['a', 'GET'],
      [null, 'POST'],
    ] as const)
      expectLocal400(await attack.authorize(over, { as, method, append, submit: null }))
  })

describe('AZ-01 Unknown or missing client', () => {
  test.each([
    ['an unknown client ID', 'nope'],
    ['an empty client ID', ''],
    ['a missing client ID', undefined],
    ['a client ID with markup', '"><script>alert(1)</script>'],
    ['the client ID __proto__', '__proto__'],
    ['a URL as client ID', 'https://evil.example/client.json'],
    ['a client ID of 10,000 characters', 'x'.repeat(10_000)],
  ])('rejects %s on a local error page', async (_, client_id) => {
    await refusedEverywhere({ client_id, redirect_uri: evilCb })
    const response = await attack.authorize({ client_id, redirect_uri: evilCb })
    expect(response.text).toContain('invalid_request')
    expect(response.text).not.toMatch(/<script>|evil\.example|\bat .*\.ts:/)
  })

  test('rejects the hidden client of a personal token', async () => {
    const [row] = await attack.server.query(
      'select client_id from oauth2server_client where is_personal = 1',
    )
    await refusedEverywhere({ client_id: String(row?.client_id), redirect_uri: undefined })
  })
})

describe('AZ-02 Unregistered redirect URI at the authorization endpoint', () => {
  test('rejects the URI in a GET, POST and pushed request', async () => {
    await refusedEverywhere({ redirect_uri: evilCb })
    await expectNoChange(attack, async () => {
      expectJson(await attack.push({ redirect_uri: evilCb }), 400, 'invalid_request')
    })
  })

  test('rejects the URI of another client', async () => {
    await refusedEverywhere({ redirect_uri: attack.clients.spa.redirectUri })
    await refusedEverywhere({ redirect_uri: cb, client_id: attack.clients.evil.clientId })
  })

  test('checks the URI before consent and again when the code is issued', async () => {
    const own = await client({ redirectUris: [cb, `${cb}2`] })
    const { agent } = await attack.browser('a')
    const page = await attack.authorize({}, { client: own, submit: null })
    expect(isConsentPage(page)).toBe(true)
    await attack.server.server.clients.update(own.clientId, { redirectUris: [`${cb}2`] })
    await expectNoChange(attack, async () => {
      expectLocal400(await attack.submit(page, agent, { confirm: 'yes' }))
    })
  })

  test('rejects the URI even if the user has already consented', async () => {
    const own = await client({ redirectUris: [cb, `${cb}2`] })
    await attack.grant({}, { client: own })
    await attack.server.server.clients.update(own.clientId, { redirectUris: [`${cb}2`] })
    await expectNoChange(attack, async () => {
      expectLocal400(await attack.authorize({}, { client: own, submit: null }))
    })
  })

  test('rejects a pushed request whose URI was removed later', async () => {
    const own = await client({ redirectUris: [cb, `${cb}2`] })
    const { request_uri } = (await attack.push({}, { client: own })).body
    await attack.server.server.clients.update(own.clientId, { redirectUris: [`${cb}2`] })
    const response = await attack.request(
      `/oauth/authorize?${formOf({ client_id: own.clientId, request_uri: String(request_uri) })}`,
      await attack.browser('a'),
    )
    expectLocal400(await attack.follow(response, (await attack.browser('a')).agent))
  })
})

describe('AZ-04 Exact string comparison of redirect URIs [T496]', () => {
  const others = [
    `${cb}/`,
    'https://client.example/CB',
    `${cb}?x=1`,
    `${cb}?`,
    `${cb}#`,
    `${cb}#f`,
    'http://client.example/cb',
    'https://client.example:443/cb',
    'https://client.example:/cb',
    'https://CLIENT.example/cb',
    'HTTPS://client.example/cb',
    'https://client.example./cb',
    'https://a.client.example/cb',
    'https://client.example.evil.example/cb',
    'https://user@client.example/cb',
    'https://@client.example/cb',
    'https://client.example@evil.example/cb',
    'https://client.example/cb/../x',
    'https://client.example/x/../cb',
    'https://client.example/./cb',
    'https://client.example//cb',
    'https://client.example/c%62',
    `${cb}/%2e%2e/x`,
    `${cb}..;/x`,
    `${cb}%00`,
    `${cb}\0`,
    `${cb}%20`,
    `${cb} `,
    ` ${cb}`,
    `${cb}\n`,
    `${cb}\n${cb}`,
    `${cb} ${evilCb}`,
    '//client.example/cb',
    '/cb',
    'https:client.example/cb',
    'https:\\\\client.example\\cb',
    'https://client.example\\cb',
    'https://clıent.example/cb',
    'https://client.example/сb',
    encodeURIComponent(cb),
    'undefined',
  ]

  test.each(others)('rejects %j', async (redirect_uri) => {
    await refusedEverywhere({ redirect_uri })
  })

  test('compares two registered URIs exactly even if one is a prefix of the other', async () => {
    const longer = `${cb}/more`
    const own = await client({ redirectUris: [cb, longer] })
    for (const redirect_uri of [cb, longer]) {
      const { location } = await attack.authorize({ redirect_uri }, { client: own })
      expect(location?.startsWith(`${redirect_uri}?code=`)).toBe(true)
    }
    for (const redirect_uri of [`${cb}/mor`, `${cb}/`, `${longer}/x`, `${cb}\n${longer}`])
      expectLocal400(await attack.authorize({ redirect_uri }, { client: own, submit: null }))
  })

  test.each([
    'https://client.example',
    'https://client.example/',
    'https://CLIENT.example/cb',
    'https://client.example:443/a/../b?x=%7e&y',
  ])('emits %s as registered and rejects other spellings', async (uri) => {
    const own = await client({ redirectUris: [uri] })
    const { location } = await attack.authorize({}, { client: own })
    expect(location?.startsWith(`${uri}${uri.includes('?') ? '&' : '?'}code=`)).toBe(true)
    const normalized = new URL(uri).href
    if (normalized === uri) return
    const asking = { client: own, submit: null }
    expectLocal400(await attack.authorize({ redirect_uri: normalized }, asking))
  })
})

describe('AZ-05 Path confusion', () => {
  const suffixes = [
    '/FAKEPATH',
    '%2FFAKEPATH',
    '/..%2FFAKEPATH',
    '/%2e%2e%2FFAKEPATH',
    '/%2e%2e/FAKEPATH',
    '/..%252FFAKEPATH',
    '/%252e%252e%252FFAKEPATH',
    '/../FAKEPATH',
    '/FAKEPATH/..',
    '/FAKEPATH/%2e%2e',
    '/.',
    '/;/../../FAKEPATH',
    '/%3B/../../FAKEPATH',
    '%0A%0D/../../FAKEPATH',
    '/%0A%0D/../../FAKEPATH',
    '%0D%0ALocation:%20https://evil.example',
    '%00/../../FAKEPATH',
    '/%23/../../FAKEPATH',
    '/%3F/../../FAKEPATH',
    '/%5C../../FAKEPATH',
    '%5C..%5CFAKEPATH',
    '%09',
    '%E5%98%8A%E5%98%8DFAKEPATH',
    ';FAKEPATH',
    '.',
    '%26redirect_uri=x',
  ]

  test.each(suffixes)('rejects the registered URI with the suffix %s', async (suffix) => {
    // The first request percent-encodes the suffix. The second request contains the suffix without further encoding.
    await refusedEverywhere({ redirect_uri: `${cb}${suffix}` })
    const append = `&redirect_uri=${encodeURIComponent(cb)}${suffix}`
    await refusedEverywhere({ redirect_uri: undefined }, append)
    const response = await attack.authorize({ redirect_uri: undefined }, { append })
    // The user of this browser owns the client, and sees the refused URI as text.
    const page = response.text.replaceAll(/<code class="uri"[\s\S]*?<\/code>/g, '')
    expect(page).not.toMatch(/FAKEPATH|evil\.example/)
    for (const location of response.locations) expect(location).not.toMatch(/[\r\n]|FAKEPATH/)
  })
})

describe('AZ-07 Any port of a native loopback redirect URI [T533]', () => {
  const native = { client: 'pub' } as const
  test.each(['http://127.0.0.1:1/cb', 'http://127.0.0.1:65535/cb', 'http://[::1]:9/cb'])(
    'sends the code to %s, and requires the same URI at the token endpoint',
    async (redirect_uri) => {
      const response = await attack.authorize({ redirect_uri }, native)
      expect(response.location?.startsWith(`${redirect_uri}?code=`)).toBe(true)
      const { code } = response.query
      for (const other of ['http://127.0.0.1/cb', 'http://127.0.0.1:2/cb', undefined]) {
        const refused = await attack.token({ code, redirect_uri: other }, native)
        expectJson(refused, 400, 'invalid_grant')
      }
      expect((await attack.token({ code, redirect_uri }, native)).status).toBe(200)
    },
  )

  test.each([
    'http://127.0.0.1:9/other',
    'http://127.0.0.1:9/cb?x=1',
    'http://127.0.0.1:9/cb/',
    'http://127.0.0.1:9/cb#',
    'http://127.0.0.1:9/CB',
    'http://127.0.0.1:9',
    'https://127.0.0.1:9/cb',
    'http://localhost:9/cb',
    'http://localhost/cb',
    'http://127.0.0.2:9/cb',
    'http://127.1:9/cb',
    'http://2130706433:9/cb',
    'http://0.0.0.0:9/cb',
    'http://[::]:9/cb',
    'http://[0:0:0:0:0:0:0:1]:9/cb',
    'http://[::ffff:127.0.0.1]:9/cb',
    'http://127.0.0.1.evil.example:9/cb',
    'http://127.0.0.1:9@evil.example/cb',
    'http://user@127.0.0.1:9/cb',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:-1/cb',
    'http://127.0.0.1:+9/cb',
    'http://127.0.0.1: 9/cb',
    'http://127.0.0.1:9\\cb',
    'com.example.app:9/cb',
    'com.example.app://cb',
    'com.example.app:/cb2',
    'COM.example.app:/cb',
  ])('rejects %s', async (redirect_uri) => {
    expectLocal400(await attack.authorize({ redirect_uri }, { ...native, submit: null }))
  })

  test('rejects another port for a confidential client', async () => {
    const own = await client({ redirectUris: ['http://127.0.0.1/cb'] })
    const redirect_uri = 'http://127.0.0.1:9/cb'
    expectLocal400(await attack.authorize({ redirect_uri }, { client: own, submit: null }))
  })

  test('rejects another port of an https URI of a public client', async () => {
    const redirect_uri = 'https://spa.example:9/cb'
    expectLocal400(await attack.authorize({ redirect_uri }, { client: 'spa', submit: null }))
  })
})

describe('AZ-09 Dangerous redirect URIs at the registration [T546]', () => {
  const uris = [...forbiddenRedirectUris, ' JavaScript:alert(1)', 'https://client.example/cb\0']

  test.each(uris)('rejects %j at every registration', async (uri) => {
    const { agent, csrfToken } = await attack.browser('m')
    const information = await registered(attack.server)
    await expectNoChange(attack, async () => {
      // The server removes a private-use URI beside another URI, and accepts the registration.
      const isRemoved = /^(?:myapp|com\.example\.app):/.test(uri)
      for (const redirect_uris of isRemoved ? [[uri]] : [[uri], [cb, uri]]) {
        const response = await register(attack.server, { redirect_uris })
        expect(`${response.status} ${response.body.error}`).toBe('400 invalid_redirect_uri')
        const put = await manage('PUT', information, {
          client_id: information.client_id,
          redirect_uris,
        })
        expect(`${put.status} ${put.body.error}`).toBe('400 invalid_redirect_uri')
      }
      const form = await attack.request('/account/settings/applications/clients/new/', {
        agent,
        method: 'POST',
        body: new URLSearchParams({
          csrf_token: csrfToken,
          name: 'Evil',
          redirect_uris: uri,
          is_confidential: 'true',
        }),
      })
      expect(form.status).toBe(400)
      // The page may show the URI as text in the form, never as a link or markup.
      expect(form.text).not.toMatch(
        /(?:href|src|action)="(?:javascript|data:[^,]|vbscript|blob|file):?/i,
      )
      expect(form.text).not.toContain('<cb>')
    })
  })

  test.each([[[1]], ['https://client.example/cb'], [{}], [[[cb]]], [[null]], [null]])(
    'rejects %j, which is not an array of strings',
    async (redirect_uris) => {
      await expectNoChange(attack, async () => {
        const response = await register(attack.server, { redirect_uris })
        expect(response.status).toBe(400)
        expect(response.body.error).toMatch(/^invalid_(?:redirect_uri|client_metadata)$/)
      })
    },
  )

  test.each([
    ['com.example.app:/cb', 201],
    ['myapp:/cb', 400],
    ['myapp://cb', 400],
    ['com.example.app:', 400],
    ['com.example.app://evil.example/cb', 400],
    ['javascript.x:/alert(1)', 201],
  ])('requires a dot in a private-use scheme of a public client: %s', async (uri, status) => {
    const metadata = { redirect_uris: [uri], token_endpoint_auth_method: 'none' }
    expect((await register(attack.server, metadata)).status).toBe(status)
  })

  test('rejects private-use schemes if the option is disabled', async () => {
    await using strict = await startAttackServer({ allowPrivateUseRedirectUris: false })
    const metadata = {
      redirect_uris: ['com.example.app:/cb'],
      token_endpoint_auth_method: 'none',
    }
    expect((await register(strict.server, metadata)).status).toBe(400)
  })
})

describe('AZ-10 Omitted redirect_uri', () => {
  const omitted = { redirect_uri: undefined }
  test('uses the only registered URI, and the token request may omit it too', async () => {
    const response = await attack.authorize(omitted)
    expect(response.location?.startsWith(`${cb}?code=`)).toBe(true)
    const { code } = response.query
    expectJson(await attack.token({ code, redirect_uri: evilCb }), 400, 'invalid_grant')
    expect((await attack.token({ code, ...omitted })).status).toBe(200)
  })

  test('rejects the request if no URI or several URIs are registered [T032]', async () => {
    const two = await client({ redirectUris: [cb, `${cb}2`] })
    expectLocal400(await attack.authorize(omitted, { client: two, submit: null }))
    expectLocal400(await attack.authorize({ redirect_uri: '' }, { client: two, submit: null }))
    const none = await client({ redirectUris: [] })
    expectLocal400(await attack.authorize(omitted, { client: none, submit: null }))
    expectLocal400(await attack.authorize({ redirect_uri: cb }, { client: none, submit: null }))
  })

  test('rejects the request if the settings require redirect_uri', async () => {
    await using strict = await startAttackServer({ requireRedirectUri: true })
    expectLocal400(await strict.authorize(omitted))
    expect((await strict.authorize()).query.code).toBeDefined()
  })
})

describe('AZ-12 Duplicate and array-shaped parameters', () => {
  test('does not accept client_id[] as client_id', async () => {
    const { clientId } = conf()
    await refusedEverywhere({ client_id: undefined }, `&client_id[]=${clientId}`)
    await refusedEverywhere({ client_id: undefined }, `&client_id%5B0%5D=${clientId}`)
    await refusedEverywhere({ client_id: undefined }, `&client_id.x=${clientId}`)
  })

  test('ignores names with brackets as unknown parameters', async () => {
    const append = `&scope[x]=w&scope[]=w&redirect_uri[0]=${encodeURIComponent(evilCb)}&client_id[]=nope&__proto__[x]=y&constructor=z`
    const response = await attack.authorize({}, { append })
    expect(response.location?.startsWith(`${cb}?code=`)).toBe(true)
    expect((await attack.token({ code: response.query.code })).body.scope).toBe('r')
  })

  test('ignores parameters in the query of a POST request', async () => {
    const { agent } = await attack.browser('a')
    const query = formOf({
      client_id: attack.clients.evil.clientId,
      redirect_uri: evilCb,
      state: 'q',
    })
    const inBody = new URL(attack.authorizeUrl()).searchParams
    const response = await attack.request(`/oauth/authorize?${query}`, {
      agent,
      method: 'POST',
      body: inBody,
    })
    const end = isConsentPage(response)
      ? await attack.submit(response, agent, { confirm: 'yes' })
      : response
    expect(end.location?.startsWith(`${cb}?code=`)).toBe(true)
    expect(end.query.state).toBe('xyz')
    // The body contains no client ID, so the client ID in the query must not be used.
    const nothing = await attack.request(new URL(attack.authorizeUrl()).href, {
      agent,
      method: 'POST',
      body: new URLSearchParams({ scope: 'r' }),
    })
    expectLocal400(await attack.follow(nothing, agent))
  })
})

describe('AZ-13 Response type, grant type and unknown parameters', () => {
  const refused = (over: Over, error: string, asking = {}) =>
    expectNoChange(attack, async () => {
      for (const method of ['GET', 'POST'] as const)
        expectRedirect(await attack.authorize(over, { method, ...asking }), error)
      expectJson(await attack.push(over, asking), 400, error)
    })

  test.each([
    [undefined, 'invalid_request'],
    ['', 'invalid_request'],
    ['bogus', 'unsupported_response_type'],
    ['CODE', 'unsupported_response_type'],
    ['code token', 'unsupported_response_type'],
    ['token code', 'unsupported_response_type'],
    ['code code', 'unsupported_response_type'],
    ['code ', 'unsupported_response_type'],
    ['code,token', 'unsupported_response_type'],
    ['id_token', 'unsupported_response_type'],
    ['none', 'unsupported_response_type'],
    ['constructor', 'unsupported_response_type'],
    ['token', 'unauthorized_client'],
  ])('rejects response_type %j', async (response_type, error) => {
    await refused({ response_type }, error)
  })

  test('rejects a client that may use only client_credentials', async () => {
    const own = await client({ redirectUris: [cb], grantTypes: ['client_credentials'] })
    await refused({}, 'unauthorized_client', { client: own })
  })

  test('rejects a request with the parameter request', async () => {
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"scope":"w"}').toString('base64url')}.`
    await refused({ request: unsigned }, 'request_not_supported')
    await refused({ request: 'x' }, 'request_not_supported')
  })

  test('rejects an unknown reference in request_uri', async () => {
    const request_uri = 'urn:ietf:params:oauth:request_uri:unknown'
    await refusedEverywhere({ request_uri })
    expectJson(await attack.push({ request_uri }), 400, 'invalid_request')
  })

  test.each(['https://evil.example/x', 'x'])('rejects request_uri %s', async (request_uri) => {
    await expectNoChange(attack, async () => {
      for (const method of ['GET', 'POST'] as const)
        expectRedirect(
          await attack.authorize({ request_uri }, { method }),
          'request_uri_not_supported',
        )
    })
    await refusedEverywhere({ request_uri, redirect_uri: undefined })
    await refusedEverywhere({ request_uri, redirect_uri: evilCb })
    expectJson(await attack.push({ request_uri }), 400, 'invalid_request')
  })

  test('rejects request_uri if PAR is disabled', async () => {
    await using own = await startAttackServer({ pushedAuthorizationRequests: 'off' })
    const request_uri = 'https://evil.example/x'
    expectRedirect(await own.authorize({ request_uri }), 'request_uri_not_supported')
  })
})

describe('AZ-14 Implicit flow by tampering [T541]', () => {
  const noToken = ({ locations, text }: { locations: readonly string[]; text: string }) => {
    expect(locations.join()).not.toContain('access_token')
    expect(text).not.toContain('access_token')
  }

  test('(a) rejects a client that may not use the flow [T283]', async () => {
    const response = await attack.authorize({ response_type: 'token' })
    expectRedirect(response, 'unauthorized_client')
    noToken(response)
  })

  test('(b) ignores a response type that is added to the consent form', async () => {
    for (const name of ['conf', 'imp'] as const) {
      const { agent } = await attack.newBrowser('b')
      const asking = { client: name, agent, submit: null } as const
      const page = await attack.authorize({ prompt: 'consent' }, asking)
      expect(isConsentPage(page)).toBe(true)
      const more = { response_type: 'token', response_mode: 'fragment', confirm: 'yes' }
      const tampered = {
        ...page,
        text: page.text.replace(/action="([^"?]*)"/, 'action="$1?response_type=token"'),
      }
      const response = await attack.submit(tampered, agent, more)
      expect(response.query.code).toBeDefined()
      expect(response.fragment).toEqual({})
      noToken(response)
    }
  })

  test('(c) validates the request again after the login', async () => {
    const agent = new UserAgent()
    const login = await attack.authorize({}, { agent })
    expect(isLoginPage(login)).toBe(true)
    const next = `/oauth/authorize?${formOf({
      response_type: 'token',
      client_id: conf().clientId,
      redirect_uri: cb,
      scope: 'r',
      state: 'xyz',
    })}`
    const { email, password } = attack.users.b
    const response = await attack.submit(login, agent, { email, password, next })
    expectRedirect(response, 'unauthorized_client')
    noToken(response)
  })

  test('(d) rejects response_mode=query for the implicit flow', async () => {
    const given = { response_type: 'token', response_mode: 'query' }
    const { redirectUri } = attack.clients.imp
    const response = await attack.authorize(given, { client: 'imp' })
    expectRedirect(response, 'invalid_request', { redirectUri })
    noToken(response)
  })

  test('(e) returns the token only in the fragment', async () => {
    const given = { response_type: 'token', code_challenge: attack.challenge }
    const response = await attack.authorize(given, { client: 'imp' })
    expect(response.location?.startsWith('https://imp.example/cb#')).toBe(true)
    expect(response.query).toEqual({})
    expect(Object.keys(response.fragment).sort()).toEqual([
      'access_token',
      'expires_in',
      'iss',
      'scope',
      'state',
      'token_type',
    ])
    expect(response.fragment).toMatchObject({ state: 'xyz', iss: attack.issuer, scope: 'r' })
    expect(Number(response.fragment.expires_in)).toBeLessThanOrEqual(3600)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect((await attack.ping(response.fragment.access_token ?? '')).status).toBe(200)
  })

  test('rejects the implicit flow if it is disabled on the server', async () => {
    await using own = await startAttackServer({ allowedResponseTypes: ['code'] })
    const { redirectUri } = own.clients.imp
    const response = await own.authorize({ response_type: 'token' }, { client: 'imp' })
    expectRedirect(response, 'unsupported_response_type', { redirectUri })
    noToken(response)
  })
})

describe('AZ-15 Opaque state', () => {
  const kilobytes = (count: number) => 'x'.repeat(count * 1024)
  const ask = (state: string, over: Over = {}, decision: 'yes' | 'no' = 'yes') =>
    attack.authorize(
      { state: undefined, prompt: 'consent', ...over },
      { append: state, submit: decision },
    )

  test.each([
    ['a line break', 'a%0d%0aSet-Cookie:x=1', 'a\r\nSet-Cookie:x=1'],
    ['bidi control and an emoji', '%E2%80%AE%F0%9F%98%80', '\u202e😀'],
    ['reserved characters', 'a+b%2Bc%26d%3De%23f', 'a b+c&d=e#f'],
    ['markup', '%3Cscript%3E%22%27', '<script>"\''],
    ['a NUL character', '%00', '\0'],
    ['a single percent sign', '100%25', '100%'],
    ['a doubly encoded letter', '%2541', '%41'],
    ['surrounding spaces', '+x+', ' x '],
    ['2 KiB', kilobytes(2), kilobytes(2)],
    ['invalid UTF-8', '%ff', '\ufffd'],
  ])('returns a state with %s unchanged', async (_, sent, expected) => {
    const responses = [
      await ask(`&state=${sent}`),
      await ask(`&state=${sent}`, {}, 'no'),
      await ask(`&state=${sent}`, { scope: 'bogus' }),
    ]
    for (const response of responses) {
      expect(response.status).toBe(303)
      expect(response.query.state).toBe(expected)
      // The Location header is always percent-encoded.
      expect(response.location).toMatch(/^[\x21-\x7E]+$/)
      expect(response.headers.get('set-cookie') ?? '').not.toContain('x=1')
    }
  })

  test('returns no state for a missing state, and no state or an empty state for an empty state', async () => {
    expect((await ask('&state=')).query.state ?? '').toBe('')
    expect((await ask('')).query).not.toHaveProperty('state')
    expect((await ask('', {}, 'no')).query).not.toHaveProperty('state')
  })

  test('rejects a state of 8 KiB without returning it', async () => {
    expectRedirect(await ask(`&state=${kilobytes(8)}`), 'invalid_request', { state: null })
    expectJson(await attack.push({ state: kilobytes(8) }), 400, 'invalid_request')
  })

  test('returns the state unchanged in the fragment', async () => {
    const state = 'a\r\n\u202e+&=#%'
    const response = await attack.authorize({ response_type: 'token', state }, { client: 'imp' })
    expect(response.fragment.state).toBe(state)
  })
})

describe('AZ-16 Errors of an anonymous visitor’s request', () => {
  const wrong: Over[] = [
    { scope: 'bogus' },
    { response_type: undefined },
    { response_type: 'bogus' },
    { response_mode: 'bogus' },
    { code_challenge: undefined },
    { state: 'x'.repeat(5000) },
    { request: 'x' },
    { prompt: 'none login' },
    { resource: 'https://elsewhere.example' },
  ]

  test.each(wrong)('shows the login instead of redirecting to the client: %j', async (over) => {
    for (const name of ['evil', 'conf', 'spa'] as const) {
      for (const method of ['GET', 'POST'] as const) {
        const response = await attack.authorize(over, { client: name, as: null, method })
        expect(isLoginPage(response)).toBe(true)
        for (const location of response.locations)
          expect(new URL(location, attack.issuer).origin).toBe(attack.issuer)
      }
    }
  })

  test('does not redirect the error of prompt=none to a client that registered itself [T534]', async () => {
    await using open = await startAttackServer({ dynamicRegistration: 'open' })
    const { evil } = open.clients
    const none = { prompt: 'none' }
    for (const method of ['GET', 'POST'] as const) {
      const response = await open.authorize(none, { client: evil, as: null, method })
      expectLocal400(response)
      expect(response.text).toContain('login_required')
      for (const location of response.locations)
        expect(new URL(location, open.issuer).origin).toBe(open.issuer)
    }
    const pushed = await open.push(none, { client: evil })
    const byReference = { client_id: evil.clientId, request_uri: String(pushed.body.request_uri) }
    const query = new URLSearchParams(byReference)
    const agent = new UserAgent()
    const first = await open.request(`${open.issuer}/oauth/authorize?${query}`, { agent })
    expectLocal400(await open.follow(first, agent))
    // A client that registered itself receives the error after the login, like any other client.
    const response = await open.authorize(none, { client: evil })
    expectRedirect(response, 'consent_required', { redirectUri: evilCb })
    await open.server.server.clients.mark(evil.clientId, { isVerified: true })
    const verified = await open.authorize(none, { client: evil, as: null })
    expectRedirect(verified, 'login_required', { redirectUri: evilCb })
  })

  test('redirects the error of prompt=none without a login to a client that has an owner', async () => {
    for (const name of ['conf', 'spa'] as const) {
      const response = await attack.authorize({ prompt: 'none' }, { client: name, as: null })
      const { redirectUri } = attack.clients[name]
      expectRedirect(response, 'login_required', { redirectUri })
    }
  })

  test('sends the error to the client after the login', async () => {
    const agent = new UserAgent()
    const login = await attack.authorize({ scope: 'bogus' }, { client: 'evil', agent })
    const { email, password } = attack.users.b
    const response = await attack.submit(login, agent, { email, password })
    expectRedirect(response, 'invalid_scope', { redirectUri: evilCb })
  })

  test('shows the login to a user whose session has expired', async () => {
    const { agent } = await attack.newBrowser('b')
    attack.server.advance(15 * 86_400)
    const response = await attack.authorize({ scope: 'bogus' }, { client: 'evil', agent })
    expect(isLoginPage(response)).toBe(true)
    attack.server.advance(-15 * 86_400)
  })
})

describe('AZ-17 Status and headers of redirects [T556]', () => {
  test('sends every redirect with 303, no-store and no-referrer', async () => {
    const { agent } = await attack.browser('a')
    const page = await attack.authorize({ prompt: 'consent' }, { submit: null })
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const responses = [
      await attack.submit(page, agent, { confirm: 'yes' }),
      await attack.authorize({ prompt: 'consent' }, { submit: 'no' }),
      await attack.authorize({ scope: 'bogus' }),
      await attack.request(attack.authorizeUrl()),
      await attack.request(attack.authorizeUrl({ client_id: 'nope' }), { agent }),
      await attack.request(attack.authorizeUrl(), {
        method: 'POST',
        body: new URL(attack.authorizeUrl()).searchParams,
      }),
    ]
    for (const { status, headers, text } of responses) {
      expect(status).toBe(303)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(text).toBe('')
    }
  })

  test('does not include the password in redirects after the login', async () => {
    const agent = new UserAgent()
    const login = await attack.authorize({}, { agent })
    const { email, password } = attack.users.b
    const end = await attack.submit(login, agent, { email, password })
    expect(end.locations.join()).not.toContain(encodeURIComponent(password))
    expect(end.locations.join()).not.toContain(password.replaceAll(' ', '+'))
    const wrong = await attack.authorize({}, { as: null })
    expect(wrong.status).toBe(200)
  })

  test('does not add fields of the consent form to the redirect', async () => {
    const { csrfToken, agent } = await attack.browser('a')
    const page = await attack.authorize({ prompt: 'consent' }, { submit: null })
    const response = await attack.submit(page, agent, { confirm: 'yes', client_secret: 'x' })
    expect(Object.keys(response.query).sort()).toEqual(['code', 'iss', 'state'])
    expect(response.location).not.toContain(csrfToken)
    expect(response.location).not.toContain('#')
  })

  test('never returns a client_secret that a request contains', async () => {
    const { clientSecret } = conf()
    const login = await attack.authorize({ client_secret: clientSecret }, { as: null })
    expect(isLoginPage(login)).toBe(true)
    expect(login.locations.join()).not.toContain(clientSecret)
    expect(login.text).not.toContain(clientSecret)
    const response = await attack.authorize({ client_secret: clientSecret })
    expect(response.query.code).toBeDefined()
    expect(response.location).not.toContain(clientSecret)
  })

  test.each([
    ['code', 'query', undefined],
    ['code', 'fragment', 'invalid_request'],
    ['code', 'bogus', 'invalid_request'],
    ['code', 'QUERY', 'invalid_request'],
    ['token', 'fragment', undefined],
    ['token', 'query', 'invalid_request'],
  ])(
    'handles an authorization request with response_type %s and response_mode %s (expected error: %s)',
    async (response_type, response_mode, error) => {
      const { redirectUri } = attack.clients.imp
      const response = await attack.authorize({ response_type, response_mode }, { client: 'imp' })
      if (error) expectRedirect(response, error, { redirectUri })
      else if (response_type === 'code') expect(response.query.code).toBeDefined()
      else expect(response.fragment.access_token).toBeDefined()
      expect(response.fragment).not.toHaveProperty('code')
      expect(response.query).not.toHaveProperty('access_token')
    },
  )
})
