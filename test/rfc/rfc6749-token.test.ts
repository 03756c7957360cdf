import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { InvalidSettings, StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOf } from '../support/internals.ts'
import { rawHttp } from '../support/raw-http.ts'
import { redirectUri, startServer, type TestServer, testScopes } from '../support/server.ts'
import {
  ping,
  refusal,
  TestClient,
  type TokenResponse,
  tokenRequest,
  UserAgent,
} from '../support/user-agent.ts'

const everyGrant = [
  'authorization_code',
  'client_credentials',
  'refresh_token',
  'password',
] as const

let app: TestServer
let agent: UserAgent
/** A confidential client whose default scope is `notes:read`. */
let conf: TestClient
let conf2: TestClient
let pub: TestClient

beforeAll(async () => {
  app = await startServer({ allowedGrantTypes: everyGrant })
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent, { defaultScopes: ['notes:read'] })
  conf2 = await TestClient.register(app, agent)
  pub = await TestClient.register(app, agent, { isConfidential: false })
})
afterAll(() => app.close())

type Given = Record<string, string | undefined>

/** Sends a token request with exactly these headers and this body. */
const post = async (
  headers: Record<string, string>,
  body: Given | string,
): Promise<TokenResponse> => {
  const defined = typeof body === 'string' ? body : formOf(body)
  const response = await fetch(`${app.issuer}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: defined,
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as never,
  }
}

const formOf = (given: Given): string =>
  new URLSearchParams(
    Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString()

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const machine = { grant_type: 'client_credentials' }
const byPassword = () => ({
  grant_type: 'password',
  username: app.user.email,
  password: app.password,
})

describe('decision §5.1 token response', () => {
  const whole = (scope: string, more: object = {}) => ({
    access_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
    token_type: 'Bearer',
    expires_in: 3600,
    scope,
    user: { id: app.user.id },
    ...more,
  })
  const refreshable = { refresh_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/) }

  test.each<[string, () => Promise<TokenResponse>, object]>([
    ['§4.1.4 authorization_code', async () => conf.redeem(await conf.code()), refreshable],
    [
      '§4.1.4 authorization_code of a public client',
      async () => pub.redeem(await pub.code()),
      refreshable,
    ],
    ['§4.3.3 password', () => conf.token(byPassword()), refreshable],
    ['§4.4.3 client_credentials', () => conf.token(machine), {}],
    [
      '§6 refresh_token',
      async () => conf.refresh((await conf.tokens()).refresh_token),
      refreshable,
    ],
  ])(
    'RFC 6749 returns exactly the expected members, with no-store: %s [T068]',
    async (_grant, ask, more) => {
      const { status, headers, body } = await ask()
      expect(status).toBe(200)
      expect(body).toEqual(whole('notes:read', more))
      expect(headers.get('content-type')).toMatch(/^application\/json\b/)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('pragma')).toBe('no-cache')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('etag')).toBeNull()
      expect(headers.get('x-powered-by')).toBeNull()
      expect(await ping(app, body.access_token)).toBe(200)
    },
  )

  test('returns the member scope even if the token has no scopes [T042]', async () => {
    expect((await conf2.token(machine)).body).toEqual(whole(''))
  })

  test.each([true, false])(
    'returns user.email and user.email_verified (%s) for the scope user:email',
    async (emailVerified) => {
      const email = `verified-${emailVerified}@example.org`
      const user = await app.newUser({ email, emailVerified })
      const expected = { id: user.id, email, email_verified: emailVerified }
      const own = await TestClient.register(app, agent, {
        userId: user.id,
        defaultScopes: ['user:email'],
      })
      expect((await own.token(machine)).body.user).toEqual(expected)
      const asUser = { ...byPassword(), username: email }
      const { body } = await conf.token({ ...asUser, scope: 'user:email notes:read' })
      expect(body.user).toEqual(expected)
      expect((await conf.refresh(body.refresh_token)).body.user).toEqual(expected)
      expect((await conf.token({ ...asUser, scope: 'notes:read' })).body.user).toEqual({
        id: user.id,
      })
    },
  )

  test('applies OAUTH2_PROVIDER_TOKEN_EXPIRES_IN to the access tokens of all grants [T493]', async () => {
    await using short = await startServer({ tokenExpiresIn: 90, allowedGrantTypes: everyGrant })
    const client = await TestClient.register(short, new UserAgent())
    const issued = [
      await client.tokens(),
      (await client.token(machine)).body,
      (await client.token(byPassword())).body,
      (await client.refresh((await client.tokens()).refresh_token)).body,
    ]
    expect(issued.map(({ expires_in }) => expires_in)).toEqual([90, 90, 90, 90])
    short.advance(89)
    for (const { access_token } of issued) expect(await ping(short, access_token)).toBe(200)
    short.advance(1)
    for (const { access_token } of issued) expect(await ping(short, access_token)).toBe(401)
  })
})

describe('decision §5.2 client authentication', () => {
  const secretOf = ({ clientId, clientSecret }: TestClient) => `${clientId}:${clientSecret}`
  const basic = (credentials: string) => ({ authorization: `Basic ${credentials}` })
  const encoded = (text: string) =>
    [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')

  test.each<[string, () => [Record<string, string>, Given]]>([
    ['client_secret_basic', () => [basic(base64(secretOf(conf))), machine]],
    [
      'client_secret_basic with form-encoded credentials',
      () => [basic(base64(`${encoded(conf.clientId)}:${encoded(conf.clientSecret)}`)), machine],
    ],
    [
      'client_secret_basic with the scheme in another case',
      () => [{ authorization: `bASIC ${base64(secretOf(conf))}` }, machine],
    ],
    [
      'client_secret_basic with the same client_id in the body',
      () => [basic(base64(secretOf(conf))), { ...machine, client_id: conf.clientId }],
    ],
    [
      'client_secret_post',
      () => [{}, { ...machine, client_id: conf.clientId, client_secret: conf.clientSecret }],
    ],
  ])('RFC 6749 §2.3.1 accepts %s [T010]', async (_method, request) => {
    expect((await post(...request())).status).toBe(200)
  })

  const canonical = () => base64(secretOf(conf))
  test.each<[string, () => string]>([
    ['a wrong secret', () => basic(base64(`${conf.clientId}:wrong`)).authorization],
    ['an empty secret', () => basic(base64(`${conf.clientId}:`)).authorization],
    ['an unknown client', () => basic(base64(`nobody:${conf.clientSecret}`)).authorization],
    ['an empty client ID', () => basic(base64(`:${conf.clientSecret}`)).authorization],
    [
      "another client's secret",
      () => basic(base64(`${conf2.clientId}:${conf.clientSecret}`)).authorization,
    ],
    [
      'the secret in lower case',
      () => basic(base64(`${conf.clientId}:${conf.clientSecret.toLowerCase()}`)).authorization,
    ],
    [
      'a secret followed by a colon and more text',
      () => basic(base64(`${secretOf(conf)}:x`)).authorization,
    ],
    ['a secret with a trailing space', () => basic(base64(`${secretOf(conf)} `)).authorization],
    ['a secret with a trailing NUL', () => basic(base64(`${secretOf(conf)}\0`)).authorization],
    ['a missing colon', () => basic(base64(conf.clientId)).authorization],
    ['missing padding', () => basic(canonical().replaceAll('=', '')).authorization],
    ['too much padding', () => basic(`${canonical()}=`).authorization],
    ['non-zero padding bits', () => basic(withSpareBits(canonical())).authorization],
    [
      'a space in the base64 text',
      () => basic(`${canonical().slice(0, 8)} ${canonical().slice(8)}`).authorization,
    ],
    ['missing credentials', () => 'Basic'],
    ['an empty value', () => basic('').authorization],
    ['a value that is not base64', () => basic(secretOf(conf)).authorization],
    ['the scheme Bearer', () => `Bearer ${canonical()}`],
    ['the same credentials twice', () => `Basic ${canonical()}, Basic ${canonical()}`],
    ['a secret of 6 kB', () => `Basic ${base64(`${conf.clientId}:${'x'.repeat(6_000)}`)}`],
  ])(
    'RFC 6749 §5.2 returns 401 invalid_client and a challenge for an Authorization header with %s [T067]',
    async (_what, authorization) => {
      const answer = await post({ authorization: authorization() }, machine)
      expect(refusal(answer)).toBe('401 invalid_client')
      expect(answer.headers.get('www-authenticate')).toBe(
        `Basic realm="${app.issuer}", charset="UTF-8"`,
      )
    },
  )
  // Sets one of the padding bits, which are zero in canonical base64 (RFC 4648 §3.5).
  const withSpareBits = (text: string): string => {
    expect(text).toMatch(/[^=]=$/)
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    const last = digits.indexOf(text.at(-2) ?? '')
    return `${text.slice(0, -2)}${digits[last + 1]}=`
  }

  test('RFC 9110 §5.3 rejects two Authorization headers', async () => {
    const { status, text } = await rawHttp(app, {
      method: 'POST',
      target: '/oauth/token',
      headers: [
        `Authorization: Basic ${canonical()}`,
        `Authorization: Basic ${canonical()}`,
        'Content-Type: application/x-www-form-urlencoded',
      ],
      body: 'grant_type=client_credentials',
    })
    expect([status, JSON.parse(text).error]).toEqual([401, 'invalid_client'])
  })

  test.each<[string, () => Given]>([
    ['missing parameters', () => ({})],
    ['an empty client_id', () => ({ client_id: '' })],
    ['only the client_id of a confidential client', () => ({ client_id: conf.clientId })],
    ['an empty secret', () => ({ client_id: conf.clientId, client_secret: '' })],
    ['a wrong secret', () => ({ client_id: conf.clientId, client_secret: 'wrong' })],
    ['an unknown client', () => ({ client_id: 'nobody', client_secret: conf.clientSecret })],
    ['an unknown public client', () => ({ client_id: 'nobody' })],
    ['client_id __proto__', () => ({ client_id: '__proto__', client_secret: 'x' })],
    [
      "another client's secret",
      () => ({ client_id: conf2.clientId, client_secret: conf.clientSecret }),
    ],
    [
      'client_id in another case',
      () => ({ client_id: swapped(conf.clientId), client_secret: conf.clientSecret }),
    ],
    [
      'a leading space in client_id',
      () => ({ client_id: ` ${conf.clientId}`, client_secret: conf.clientSecret }),
    ],
    [
      'a trailing space in client_id',
      () => ({ client_id: `${conf.clientId} `, client_secret: conf.clientSecret }),
    ],
    [
      'full-width letters in client_id',
      () => ({ client_id: wide(conf.clientId), client_secret: conf.clientSecret }),
    ],
    ['a client_id of 10 kB', () => ({ client_id: 'x'.repeat(10_000), client_secret: 'x' })],
  ])(
    'RFC 6749 §5.2 returns 401 invalid_client without a challenge for credentials in the body: %s [T039]',
    async (_what, given) => {
      const answer = await post({}, { ...machine, ...given() })
      expect(refusal(answer)).toBe('401 invalid_client')
      expect(answer.headers.get('www-authenticate')).toBeNull()
    },
  )
  const swapped = (text: string) =>
    [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('')
  const wide = (text: string) =>
    [...text].map((c) => String.fromCodePoint((c.codePointAt(0) ?? 0) + 0xfee0)).join('')

  test('attacks CA-01 returns the same response body for an unknown client and a wrong secret', async () => {
    const responses = await Promise.all([
      post(basic(base64(`${conf.clientId}:wrong`)), machine),
      post(basic(base64('nobody:wrong')), machine),
      post({}, { ...machine, client_id: conf.clientId, client_secret: 'wrong' }),
      post({}, { ...machine, client_id: 'nobody', client_secret: 'wrong' }),
    ])
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  })

  test('§5.2 says what a request without credentials lacks, and not whether the client exists [T1415]', async () => {
    const said = async (headers: Record<string, string>, body: Given) => {
      const answer = await post(headers, body)
      return [refusal(answer), answer.body.error_description]
    }
    expect(await said({}, machine)).toEqual([
      '401 invalid_client',
      'The request names no client. Send client_id, and the credential of the client if it has one.',
    ])
    const lacks = [
      '401 invalid_client',
      'The client is unknown, or must authenticate: the request contains no credential that this server accepts.',
    ]
    expect(await said({}, { ...machine, client_id: conf.clientId })).toEqual(lacks)
    expect(await said({}, { ...machine, client_id: 'nobody' })).toEqual(lacks)
    const wrong = ['401 invalid_client', 'The client is unknown, or could not be authenticated.']
    expect(await said(basic(base64(`${conf.clientId}:wrong`)), machine)).toEqual(wrong)
    expect(await said({}, { ...machine, client_id: 'nobody', client_secret: 'x' })).toEqual(wrong)
  })

  test('§5.2 reports a missing or unknown grant type first if the request names no client [T1416]', async () => {
    const said = async (body: Given) => refusal(await post({}, body))
    expect(await said({})).toBe('400 invalid_request')
    expect(await said({ grant_type: 'urn:x' })).toBe('400 unsupported_grant_type')
    expect(await said({ grant_type: 'urn:x', client_id: 'nobody' })).toBe('401 invalid_client')
    expect(await said({ grant_type: 'urn:x', client_assertion: 'x' })).toBe('400 invalid_request')
  })

  test.each<[string, () => Given]>([
    [
      'the same credentials',
      () => ({ client_id: conf.clientId, client_secret: conf.clientSecret }),
    ],
    ['only the secret', () => ({ client_id: undefined, client_secret: conf.clientSecret })],
    [
      "another client's credentials",
      () => ({ client_id: conf2.clientId, client_secret: conf2.clientSecret }),
    ],
    ['a wrong secret', () => ({ client_id: conf.clientId, client_secret: 'wrong' })],
    ['another client_id', () => ({ client_id: conf2.clientId })],
    ["a public client's client_id", () => ({ client_id: pub.clientId })],
  ])(
    'RFC 6749 §2.3 returns invalid_request for a Basic header together with %s in the body [T008]',
    async (_what, given) => {
      expect(refusal(await conf.token({ ...machine, ...given() }))).toMatch(/^400 invalid_request$/)
    },
  )

  test('RFC 6749 §2.3.1 does not read or log credentials in the URL [T011]', async () => {
    const credentials = { client_id: conf.clientId, client_secret: conf.clientSecret }
    for (const [query, body, status] of [
      [credentials, machine, 401],
      [{ ...credentials, ...machine }, {}, 400],
    ] as const) {
      const response = await fetch(`${app.issuer}/oauth/token?${new URLSearchParams(query)}`, {
        method: 'POST',
        body: new URLSearchParams(body as never),
      })
      expect(response.status).toBe(status)
      expect(await response.text()).not.toContain('access_token')
    }
    expect(JSON.stringify(app.log)).not.toContain(conf.clientSecret)
  })

  test.each<[string, () => [Record<string, string>, Given]]>([
    ['a secret in the body', () => [{}, { client_id: pub.clientId, client_secret: 'x' }]],
    ['a secret in a Basic header', () => [basic(base64(`${pub.clientId}:x`)), {}]],
    [
      'an empty Basic password, and a secret in the body',
      () => [basic(base64(`${pub.clientId}:`)), { client_secret: 'x' }],
    ],
  ])('rejects a public client that sends a secret: %s [T007]', async (_how, request) => {
    const { refresh_token } = await pub.tokens()
    const [headers, given] = request()
    const answer = await post(headers, { grant_type: 'refresh_token', refresh_token, ...given })
    expect(refusal(answer)).toMatch(/^40[01] invalid_(?:client|request)$/)
    expect((await pub.refresh(refresh_token)).status).toBe(200)
  })

  test('RFC 6749 §2.3.1 accepts a public client with an empty password in a Basic header, and no other client [T3904]', async () => {
    const { refresh_token } = await pub.tokens()
    const grant = { grant_type: 'refresh_token', refresh_token }
    const others = [conf.clientId, 'nope'].map((id) => post(basic(base64(`${id}:`)), grant))
    for (const answer of await Promise.all(others))
      expect(refusal(answer)).toBe('401 invalid_client')
    const headers = basic(base64(`${pub.clientId}:`))
    const other = await post(headers, { ...grant, client_id: conf.clientId })
    expect(refusal(other)).toBe('400 invalid_request')
    expect((await post(headers, grant)).status).toBe(200)
  })

  test('a public client and a client with keys have no secret, and cannot reset one [T3905]', async () => {
    const { clients } = app.server
    const { client, clientSecret } = await clients.create({ name: 'Phone', isConfidential: false })
    expect(clientSecret).toBe('')
    await expect(clients.resetClientSecret(client.clientId)).rejects.toThrow('has no secret')
    const renewed = await clients.resetCredentials(client.clientId)
    expect(renewed.clientSecret).toBe('')
    expect(renewed.client.clientId).not.toBe(client.clientId)
  })

  test.each([' ', '   ', '+', '%20+'])(
    'RFC 6749 §3.1 treats a scope parameter of blanks like an omitted one: %j [T3906]',
    async (blanks) => {
      const plain = await conf.token(machine)
      const body = `${new URLSearchParams(machine)}&scope=${blanks}`
      const answer = await post(basic(base64(secretOf(conf))), body)
      expect(answer.status).toBe(plain.status)
      expect(answer.body.scope).toBe(plain.body.scope)
      expect(answer.body.scope).not.toBe('')
    },
  )

  test('rejects the client_credentials grant for a public client [T066]', async () => {
    expect(refusal(await pub.token(machine))).toBe('400 unauthorized_client')
  })

  test('RFC 7636 §7 attacks PK-09 requires client authentication despite a correct verifier [T004]', async () => {
    const code = await conf.code()
    const redemption = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: conf.pkce.verifier,
    }
    for (const [headers, given] of [
      [{}, {}],
      [{}, { client_id: conf.clientId }],
      [{}, { client_id: conf.clientId, client_secret: '' }],
      [basic(base64(`${conf.clientId}:`)), {}],
    ] as const) {
      expect(refusal(await post(headers, { ...redemption, ...given }))).toBe('401 invalid_client')
    }
    expect((await conf.redeem(code)).status).toBe(200)
  })

  test('rejects the hidden client of a personal token with any credentials', async () => {
    const pat = await app.server.tokens.createPersonal('PAT', app.user.id, {
      scopes: ['notes:read'],
    })
    const code = await pub.code()
    const { refresh_token } = await pub.tokens()
    for (const request of [
      machine,
      byPassword(),
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      { grant_type: 'refresh_token', refresh_token },
      { grant_type: 'refresh_token', refresh_token: pat.accessToken },
    ]) {
      for (const secret of [undefined, pat.accessToken]) {
        const given = secret === undefined ? {} : { client_secret: secret }
        const answer = await post({}, { ...request, client_id: pat.clientId, ...given })
        expect(refusal(answer)).toBe('401 invalid_client')
      }
    }
    expect(await ping(app, pat.accessToken)).toBe(200)
  })

  test.each([
    ['client_secret_basic', 'basic', 'post'],
    ['client_secret_post', 'post', 'basic'],
  ] as const)(
    'decision §4.6 accepts only the method %s from a client that registered it [T015]',
    async (tokenEndpointAuthMethod, own, other) => {
      const client = await TestClient.register(app, agent, { tokenEndpointAuthMethod }, own)
      expect(refusal(await client.token(machine, other))).toBe('401 invalid_client')
      expect(refusal(await client.token(machine, 'none'))).toBe('401 invalid_client')
      expect((await client.token(machine)).status).toBe(200)
    },
  )

  test('attacks CA-07 accepts a new secret and rejects the old secret immediately on every node', async () => {
    const client = await TestClient.register(app, agent)
    await using other = await startServer({ beside: app })
    const at = (node: TestServer, clientSecret: string) =>
      tokenRequest(node.issuer, machine, { basic: { clientId: client.clientId, clientSecret } })
    expect((await at(other, client.clientSecret)).status).toBe(200)
    const { clientSecret } = await app.server.clients.resetClientSecret(client.clientId)
    for (const node of [app, other]) {
      expect((await at(node, client.clientSecret)).status).toBe(401)
      expect((await at(node, clientSecret)).status).toBe(200)
    }
  })
})

describe('RFC 6749 §5.2 error responses of the token endpoint [T070]', () => {
  test.each<[string, string, Given]>([
    ['400 invalid_request', 'a missing grant_type', {}],
    ['400 invalid_request', 'an empty grant_type', { grant_type: '' }],
    ['400 unsupported_grant_type', 'an unknown grant_type', { grant_type: 'urn:x' }],
    [
      '400 unsupported_grant_type',
      'a grant_type in upper case',
      { grant_type: 'CLIENT_CREDENTIALS' },
    ],
    ['400 unsupported_grant_type', 'grant_type implicit', { grant_type: 'implicit' }],
    ['400 unsupported_grant_type', 'grant_type __proto__', { grant_type: '__proto__' }],
    ['400 unsupported_grant_type', 'grant_type constructor', { grant_type: 'constructor' }],
    ['400 unsupported_grant_type', 'a non-ASCII grant_type', { grant_type: '\u00e9"\\\u{1F600}' }],
    ['400 invalid_request', 'a grant_type with NUL', { grant_type: 'password\0' }],
    ['400 invalid_request', 'a missing code', { grant_type: 'authorization_code' }],
    ['400 invalid_request', 'an empty code', { grant_type: 'authorization_code', code: '' }],
    ['400 invalid_grant', 'an unknown code', { grant_type: 'authorization_code', code: 'x' }],
    [
      '400 invalid_grant',
      'a code of 50 kB',
      { grant_type: 'authorization_code', code: 'x'.repeat(50_000) },
    ],
    ['400 invalid_request', 'a code with NUL', { grant_type: 'authorization_code', code: 'x\0' }],
    ['400 invalid_request', 'a missing refresh_token', { grant_type: 'refresh_token' }],
    [
      '400 invalid_request',
      'an empty refresh_token',
      { grant_type: 'refresh_token', refresh_token: '' },
    ],
    [
      '400 invalid_grant',
      'an unknown refresh_token',
      { grant_type: 'refresh_token', refresh_token: 'x' },
    ],
    [
      '400 invalid_request',
      'a refresh_token with a line feed',
      { grant_type: 'refresh_token', refresh_token: 'x\n' },
    ],
    ['400 invalid_request', 'a missing username', { grant_type: 'password', password: 'x' }],
    ['400 invalid_request', 'a missing password', { grant_type: 'password', username: 'x' }],
    ['400 invalid_scope', 'an unknown scope', { ...machine, scope: 'bogus' }],
    ['400 invalid_scope', 'an internal scope', { ...machine, scope: 'test:scope' }],
    ['400 invalid_scope', 'a malformed scope', { ...machine, scope: 'a"b' }],
    ['400 invalid_scope', 'the scope constructor', { ...machine, scope: 'constructor' }],
    ['400 invalid_scope', 'a tab in a scope', { ...machine, scope: 'notes:read\tuser:email' }],
    ['400 invalid_scope', 'NUL in a scope', { ...machine, scope: 'notes:read\0' }],
  ])('returns %s for %s [T769]', async (expected, _why, request) => {
    expect(refusal(await conf.token(request))).toBe(expected)
  })

  test('authenticates the client before it reports any other error [T058]', async () => {
    for (const request of [{}, { grant_type: 'urn:x' }, { ...machine, scope: 'bogus' }]) {
      expect(refusal(await post({ authorization: 'Basic x' }, request))).toBe('401 invalid_client')
    }
  })

  test('§3.2 ignores unrecognized parameters, and treats empty parameters as omitted [T021]', async () => {
    const unknownParameters =
      'foo=1&foo=2&scope[]=notes:write&a.b=1&grant_type[x]=y&&=&__proto__[scope]=w&audience=https://a'
    const own = 'grant_type=client_credentials&code=&scope=&redirect_uri&username='
    const { body } = await post(
      { authorization: `Basic ${base64(`${conf.clientId}:${conf.clientSecret}`)}` },
      `&${unknownParameters}&${own}`,
    )
    expect(body.scope).toBe('notes:read')
    expect(({} as Record<string, unknown>).scope).toBeUndefined()
  })

  test('Appendix B decodes a plus sign as a space exactly once', async () => {
    const authorization = `Basic ${base64(`${conf.clientId}:${conf.clientSecret}`)}`
    const ask = (scope: string) =>
      post(
        { authorization },
        `grant_type=password&username=${encodeURIComponent(app.user.email)}&password=${app.password.replaceAll(' ', '+')}&scope=${scope}`,
      )
    for (const scope of ['notes:read+notes:write', 'notes:read%20notes:write'])
      expect((await ask(scope)).body.scope).toBe('notes:read notes:write')
    expect(refusal(await ask('notes:read%2Bnotes:write'))).toBe('400 invalid_scope')
  })

  test('returns unsupported_grant_type for a disabled grant, and unauthorized_client for an unregistered grant [T071]', async () => {
    await using plain = await startServer()
    const client = await TestClient.register(plain, new UserAgent())
    const asked = { ...byPassword(), username: plain.user.email }
    expect(refusal(await client.token(asked))).toBe('400 unsupported_grant_type')

    const own = await TestClient.register(app, agent, { grantTypes: ['authorization_code'] })
    const code = await own.code()
    for (const request of [
      machine,
      byPassword(),
      { grant_type: 'refresh_token', refresh_token: 'x' },
    ])
      expect(refusal(await own.token(request))).toBe('400 unauthorized_client')
    const tokens = await own.redeem(code)
    expect(tokens.status).toBe(200)
    // The client may not use the refresh_token grant, so it receives no refresh token.
    expect(tokens.body).not.toHaveProperty('refresh_token')

    const reader = await TestClient.register(app, agent, { grantTypes: ['client_credentials'] })
    expect(refusal(await reader.redeem('x'))).toBe('400 unauthorized_client')
  })
})

describe('RFC 6749 §4.1.3 the authorization code', () => {
  test('issues unique, opaque codes of 43 letters and digits [T005]', async () => {
    const codes = await Promise.all(Array.from({ length: 50 }, () => conf.code()))
    expect(new Set(codes).size).toBe(50)
    for (const code of codes) expect(code).toMatch(/^[A-Za-z0-9]{43}$/)
  })

  test('decision §4.8 expires codes after 60 s [T047]', async () => {
    const inTime = await conf.code()
    app.advance(59)
    expect((await conf.redeem(inTime)).status).toBe(200)
    const late = await conf.code()
    app.advance(60)
    expect(refusal(await conf.redeem(late))).toBe('400 invalid_grant')
  })

  test('decision §4.8 expires codes after OAUTH2SERVER_AUTHORIZATION_CODE_EXPIRES_IN, which is at most 10 minutes [T048]', async () => {
    await expect(startServer({ authorizationCodeExpiresIn: 601 })).rejects.toThrow(InvalidSettings)
    await using other = await startServer({ authorizationCodeExpiresIn: 600 })
    const client = await TestClient.register(other, new UserAgent())
    const inTime = await client.code()
    other.advance(599)
    expect((await client.redeem(inTime)).status).toBe(200)
    const late = await client.code()
    other.advance(600)
    expect(refusal(await client.redeem(late))).toBe('400 invalid_grant')
  })

  test('decision §4.8 rejects the code of another client without consuming the code [T041]', async () => {
    const code = await conf.code()
    expect(refusal(await conf2.redeem(code))).toBe('400 invalid_grant')
    expect(refusal(await pub.redeem(code))).toBe('400 invalid_grant')
    expect(refusal(await conf2.redeem(code, { client_id: conf.clientId }))).toBe(
      '400 invalid_request',
    )
    expect(refusal(await conf2.redeem(code, { code_verifier: conf.pkce.verifier }))).toBe(
      '400 invalid_grant',
    )
    expect(refusal(await pub.redeem(code, { code_verifier: conf.pkce.verifier }))).toBe(
      '400 invalid_grant',
    )
    expect((await conf.redeem(code)).status).toBe(200)
  })

  test.each<[string, string | undefined]>([
    ['another registered URI', 'https://client.example/other'],
    ['a missing URI', undefined],
    ['an empty URI', ''],
    ['an encoded letter', 'https://client.example/%63b'],
    ['an extra slash', `${redirectUri}/`],
    ['an extra query', `${redirectUri}?`],
    ['a host in upper case', 'https://CLIENT.example/cb'],
  ])(
    'decision §4.8 rejects a different redirect URI without consuming the code: %s [T051]',
    async (_what, uri) => {
      const client = await TestClient.register(app, agent, {
        redirectUris: [redirectUri, 'https://client.example/other'],
      })
      const code = await client.code()
      expect(refusal(await client.redeem(code, { redirect_uri: uri }))).toBe('400 invalid_grant')
      expect((await client.redeem(code)).status).toBe(200)
    },
  )

  test('decision §4.8 ignores the parameter scope and grants the scopes of the code', async () => {
    for (const scope of ['notes:read notes:write user:email', 'notes:write']) {
      const { body } = await conf.redeem(await conf.code(), { scope })
      expect(body.scope).toBe('notes:read')
    }
  })

  test('decision §4.8 issues the token for the user who authorized the code [T647]', async () => {
    const other = await app.server.users.create({
      email: 'user-b@example.org',
      password: app.password,
    })
    const theirs = new UserAgent()
    await theirs.logIn({ ...app, user: other })
    const [a, b] = [
      await conf.code(),
      (await theirs.authorize({ ...app, user: other }, conf.url())).searchParams.get('code') ?? '',
    ]
    expect((await conf.redeem(b)).body.user).toEqual({ id: other.id })
    expect((await conf.redeem(a)).body.user).toEqual({ id: app.user.id })
  })

  test('does not accept a code as a token, or a token as a code', async () => {
    const code = await conf.code()
    expect(await ping(app, code)).toBe(401)
    expect(refusal(await conf.refresh(code))).toBe('400 invalid_grant')
    const tokens = await conf.tokens()
    for (const value of [tokens.access_token, tokens.refresh_token, await app.personalToken()])
      expect(refusal(await conf.redeem(value))).toBe('400 invalid_grant')
    expect((await conf.redeem(code)).status).toBe(200)
  })

  describe('attacks CD-10 changes between the issue of a code and its redemption', () => {
    /** Creates a logged-in user, a client of another user, and a code that the user granted to this client. */
    const granted = async (email: string) => {
      const user = await app.newUser({ email })
      const account = { ...app, user }
      const theirs = new UserAgent()
      await theirs.logIn(account)
      const owner = await app.server.users.create({ email: `owner-of-${email}`, password: null })
      const client = await TestClient.register(account, theirs, { userId: owner.id })
      return { user, owner, client, theirs, code: await client.code() }
    }

    test('decision §5.3 rejects the code of a deactivated user until reactivation', async () => {
      const { user, client, code } = await granted('cd10-a@example.org')
      await app.server.users.setActive(user.id, false)
      expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
      await app.server.users.setActive(user.id, true)
      expect((await client.redeem(code)).status).toBe(200)
    })

    test('decision §5.3 rejects the client of a deactivated owner until reactivation', async () => {
      const { owner, client, code } = await granted('cd10-b@example.org')
      await app.server.users.setActive(owner.id, false)
      expect(refusal(await client.redeem(code))).toBe('401 invalid_client')
      await app.server.users.setActive(owner.id, true)
      expect((await client.redeem(code)).status).toBe(200)
    })

    test('rejects the code of a deleted user', async () => {
      const { user, client, code } = await granted('cd10-c@example.org')
      await app.server.users.delete(user.id)
      expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
    })

    test('rejects the code of a deleted client', async () => {
      const { client, code } = await granted('cd10-d@example.org')
      await app.server.clients.delete(client.clientId)
      expect(refusal(await client.redeem(code))).toBe('401 invalid_client')
    })

    test('decision §5.3 rejects the code after a password change', async () => {
      const { user, client, theirs, code } = await granted('cd10-e@example.org')
      const tokens = await client.tokens()
      const pat = await app.server.tokens.createPersonal('PAT', user.id)
      await app.server.users.setPassword(user.id, 'another long password')
      expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
      // The password change logs the user out, but does not revoke tokens.
      expect((await theirs.browse(client.url())).address).toContain('/login')
      expect(await ping(app, pat.accessToken)).toBe(200)
      expect(await ping(app, tokens.access_token)).toBe(200)
      expect((await client.refresh(tokens.refresh_token)).status).toBe(200)
    })

    test('rejects the code after the user logged out', async () => {
      const { client, theirs, code } = await granted('cd10-f@example.org')
      const home = await theirs.browse(`${app.issuer}/`)
      const html = await home.text()
      const csrf = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
      const answer = await theirs.fetch(`${app.issuer}/logout`, {
        method: 'POST',
        body: new URLSearchParams({ csrf_token: csrf }),
      })
      expect(answer.status).toBe(303)
      expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
    })

    test('rejects the code if one of its scopes is no longer registered', async () => {
      const { client, code } = await granted('cd10-g@example.org')
      const scopes = testScopes.filter(({ id }) => id !== 'notes:read')
      await using other = await startServer({ beside: app, scopes })
      const there = new TestClient(other, client.agent, client, 'basic')
      expect(refusal(await there.redeem(code, { code_verifier: client.pkce.verifier }))).toBe(
        '400 invalid_grant',
      )
    })

    test('rejects the code while the client may not use one of its scopes', async () => {
      const { client, code } = await granted('cd10-i@example.org')
      await app.server.clients.update(client.clientId, { allowedScopes: ['notes:write'] })
      expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
      await app.server.clients.update(client.clientId, { allowedScopes: null })
      expect((await client.redeem(code)).status).toBe(200)
    })

    test('rejects the code while its redirect URI is not registered', async () => {
      const { client, code } = await granted('cd10-j@example.org')
      const other = 'https://client.example/other'
      await app.server.clients.update(client.clientId, { redirectUris: [other] })
      expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
      await app.server.clients.update(client.clientId, { redirectUris: [redirectUri, other] })
      expect((await client.redeem(code)).status).toBe(200)
    })

    test('revokes the codes and tokens of a confidential client that becomes public [T513]', async () => {
      const { client, code } = await granted('cd10-k@example.org')
      const tokens = await client.tokens()
      await app.server.clients.update(client.clientId, { isConfidential: false })
      const open = new TestClient(app, client.agent, client, 'none')
      const verifier = { code_verifier: client.pkce.verifier }
      expect(refusal(await open.redeem(code, verifier))).toBe('400 invalid_grant')
      expect(await ping(app, tokens.access_token)).toBe(401)
      expect(refusal(await open.refresh(tokens.refresh_token))).toBe('400 invalid_grant')
    })

    test('issues no token if the consent, session or client is deleted between the check and the write', async () => {
      // The first write of a redemption: one statement, or a transaction if the store has no such statement.
      const writes = ['authorizations.insertWithToken', 'transaction']
      const waiting: (() => void)[] = []
      let isPaused = false
      await using slow = await startServer({
        beside: app,
        aroundStore: async (operation, run) => {
          if (!isPaused && writes.includes(operation.name)) {
            isPaused = true
            await new Promise<void>((go) => waiting.push(go))
          }
          return run()
        },
      })
      const { user, client, theirs } = await granted('cd10-l@example.org')
      const there = new TestClient(slow, theirs, client, 'basic')
      const verifier = { code_verifier: client.pkce.verifier }
      for (const end of [
        () => storeOf(app.server).consents.delete(user.id, client.clientId),
        () => app.server.users.setPassword(user.id, app.password),
        () => app.server.clients.delete(client.clientId),
      ]) {
        const code = await client.code()
        isPaused = false
        const answer = there.redeem(code, verifier)
        while (waiting.length === 0) await delay(5)
        await end()
        waiting.pop()?.()
        expect(refusal(await answer)).toBe('400 invalid_grant')
      }
    })

    test('redeems the code on another node, and rejects it there after its expiry', async () => {
      const { client, code } = await granted('cd10-h@example.org')
      await using other = await startServer({ beside: app })
      const there = new TestClient(other, client.agent, client, 'basic')
      const verifier = { code_verifier: client.pkce.verifier }
      expect((await there.redeem(code, verifier)).status).toBe(200)
      const late = await client.code()
      app.advance(60)
      expect(refusal(await there.redeem(late, verifier))).toBe('400 invalid_grant')
    })
  })
})

describe('RFC 6749 §4.4 the client_credentials grant', () => {
  const info = async (token: string) =>
    (
      await fetch(`${app.issuer}/oauth/info`, { headers: { authorization: `Bearer ${token}` } })
    ).json()

  test('decision §5.3 issues the token with the client’s owner as the user [T646]', async () => {
    const { body } = await conf.token(machine)
    expect(await info(body.access_token)).toEqual({
      user: { id: app.user.id },
      client: { client_id: conf.clientId, name: 'Client' },
      scopes: ['notes:read'],
    })
  })

  test('RFC 9700 §4.15 attacks BR-07 issues a token without a user to a client without an owner [T515]', async () => {
    const client = await TestClient.register(app, agent, { userId: null })
    const { body } = await client.token(machine)
    expect(body).not.toHaveProperty('user')
    expect(await info(body.access_token)).toMatchObject({ user: null })
    const me = await fetch(`${app.issuer}/api/me`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    })
    expect(await me.json()).toEqual({ id: null, kind: 'access_token' })
  })

  test('decision §5.3 rejects the client and tokens of an inactive owner until reactivation', async () => {
    const owner = await app.server.users.create({ email: 'owner-cc@example.org', password: null })
    const client = await TestClient.register(app, agent, { userId: owner.id })
    const { access_token } = (await client.token(machine)).body
    expect(await ping(app, access_token)).toBe(200)
    await app.server.users.setActive(owner.id, false)
    expect(await ping(app, access_token)).toBe(401)
    expect(refusal(await client.token(machine))).toBe('401 invalid_client')
    await app.server.users.setActive(owner.id, true)
    expect(await ping(app, access_token)).toBe(200)
    expect((await client.token(machine)).status).toBe(200)
  })

  test.each<[string, object, Record<string, string>]>([
    [
      'to allowed_scopes',
      { allowedScopes: ['notes:read', 'notes:write'], defaultScopes: ['notes:read'] },
      {
        '': 'notes:read',
        'notes:read notes:write': 'notes:read notes:write',
        'notes:write': 'notes:write',
        'user:email': 'invalid_scope',
        'notes:read user:email': 'invalid_scope',
      },
    ],
    [
      'to default_scopes if allowed_scopes is missing',
      { defaultScopes: ['notes:read', 'user:email'] },
      {
        '': 'notes:read user:email',
        'notes:read': 'notes:read',
        'notes:write': 'invalid_scope',
        'notes:read notes:write': 'invalid_scope',
      },
    ],
    [
      'to no scopes if allowed_scopes and default_scopes are missing',
      {},
      { '': '', 'notes:read': 'invalid_scope', 'user:email': 'invalid_scope' },
    ],
    [
      'to the public scopes of allowed_scopes',
      { allowedScopes: ['test:scope', 'notes:read'], defaultScopes: ['test:scope', 'notes:read'] },
      { '': 'notes:read', 'test:scope': 'invalid_scope' },
    ],
    [
      'to no scopes if allowed_scopes is empty',
      { allowedScopes: [], defaultScopes: ['notes:read'] },
      { '': '', 'notes:read': 'invalid_scope' },
    ],
  ])('decision §4.5 limits the granted scopes %s', async (_what, input, expected) => {
    const client = await TestClient.register(app, agent, input)
    for (const [scope, granted] of Object.entries(expected)) {
      const { body } = await client.token({ ...machine, scope })
      expect([scope, body.error ?? body.scope]).toEqual([scope, granted])
    }
  })

  test('decision §4.5 limits the scopes to OAUTH2SERVER_DEFAULT_SCOPES', async () => {
    await using other = await startServer({ defaultScopes: ['notes:read', 'notes:write'] })
    const client = await TestClient.register(other, new UserAgent())
    expect((await client.token(machine)).body.scope).toBe('notes:read notes:write')
    expect((await client.token({ ...machine, scope: 'notes:write' })).body.scope).toBe(
      'notes:write',
    )
    expect(refusal(await client.token({ ...machine, scope: 'user:email' }))).toBe(
      '400 invalid_scope',
    )
  })
})

describe('RFC 6749 §4.3 the password grant', () => {
  test.each<[string, Given]>([
    ['a wrong password', { password: 'wrong' }],
    ['an unknown user', { username: 'nobody@example.org' }],
    ['a username that is not an e-mail address', { username: "' or 1=1 --" }],
    ['a password of 50 kB', { password: 'x'.repeat(50_000) }],
    ['the password in another case', { password: 'CORRECT HORSE BATTERY STAPLE' }],
  ])('returns invalid_grant for %s [T065]', async (_what, given) => {
    expect(refusal(await conf.token({ ...byPassword(), ...given }))).toBe('400 invalid_grant')
  })

  test('returns the same response for a wrong password of a known user and for an unknown user', async () => {
    const wrong = await conf.token({ ...byPassword(), password: 'wrong' })
    const nobody = await conf.token({ ...byPassword(), username: 'nobody@example.org' })
    expect(nobody.body).toEqual(wrong.body)
  })

  test('decision §5.3 rejects an inactive user until reactivation', async () => {
    const email = 'inactive@example.org'
    const user = await app.newUser({ email, active: false })
    const asked = { ...byPassword(), username: email }
    expect(refusal(await conf.token(asked))).toBe('400 invalid_grant')
    await app.server.users.setActive(user.id, true)
    expect((await conf.token(asked)).status).toBe(200)
  })

  test('decision §4.5 applies default scopes, accepts allowed scopes and rejects others [T088]', async () => {
    const client = await TestClient.register(app, agent, {
      defaultScopes: ['notes:read'],
      allowedScopes: ['notes:read', 'notes:write'],
    })
    expect((await client.token(byPassword())).body.scope).toBe('notes:read')
    const ask = (scope: string) => client.token({ ...byPassword(), scope })
    expect((await ask('notes:write')).body.scope).toBe('notes:write')
    expect(refusal(await ask('user:email'))).toBe('400 invalid_scope')
    expect(refusal(await ask('test:scope'))).toBe('400 invalid_scope')
  })

  test('decision §5.4 issues an access and a refresh token to a public client [T650]', async () => {
    const { body } = await pub.token(byPassword())
    expect((await pub.refresh(body.refresh_token)).status).toBe(200)
  })

  test('creates a new authorization for each request', async () => {
    const [one, two] = [await conf.token(byPassword()), await conf.token(byPassword())]
    expect(one.body.refresh_token).not.toBe(two.body.refresh_token)
    for (const { body } of [one, two]) expect(await ping(app, body.access_token)).toBe(200)
  })
})

describe('methods, content types and limits of the token endpoint', () => {
  const authorization = () => `Basic ${base64(`${conf.clientId}:${conf.clientSecret}`)}`

  test('decision §6.4 accepts 100 parameters and returns invalid_request for 101', async () => {
    const many = (count: number) =>
      `${new URLSearchParams(machine)}${Array.from({ length: count - 1 }, (_, n) => `&p${n}=`).join('')}`
    expect((await post({ authorization: authorization() }, many(100))).status).toBe(200)
    expect(refusal(await post({ authorization: authorization() }, many(101)))).toBe(
      '400 invalid_request',
    )
  })

  test.each([
    '%',
    '%zz',
    '%ff%fe',
    '%00',
    '%0d%0aX: y',
    '\u0080\u00ff',
    "';drop table oauth2server_token;--",
    '\u{1F600}',
  ])('decision §6.4 never returns 5xx for %j in any parameter', async (value) => {
    // Many of these requests count as failed logins, so first let the counts of earlier failures expire.
    app.advance(600)
    for (const name of [
      'grant_type',
      'client_id',
      'client_secret',
      'code',
      'redirect_uri',
      'code_verifier',
      'refresh_token',
      'scope',
      'username',
      'password',
    ]) {
      for (const grant of everyGrant) {
        const valid = new URLSearchParams({
          grant_type: grant,
          client_id: conf.clientId,
          client_secret: conf.clientSecret,
          code: 'x',
          refresh_token: 'x',
          username: 'x',
          password: 'x',
        })
        valid.delete(name)
        const { status } = await post({}, `${valid}&${name}=${value}`)
        // The grant ignores parameters that it does not need, so the request may succeed despite an invalid value.
        expect([200, 400, 401]).toContain(status)
      }
    }
  })

  test('returns 400 for a body of random bytes', async () => {
    const response = await fetch(`${app.issuer}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: randomBytes(10_000),
    })
    expect(response.status).toBe(400)
  })

  test('attacks HT-07 logs an internal error and returns server_error without the reason', async () => {
    const why = 'secret-reason-in-the-stack'
    await using broken = await startServer({
      aroundStore: async (operation, run) => {
        if (operation.name === 'tokens.insert') throw new Error(why)
        return run()
      },
    })
    const client = await TestClient.register(broken, new UserAgent())
    const answer = await client.token(machine)
    expect(refusal(answer)).toBe('500 server_error')
    expect(JSON.stringify(answer.body)).not.toContain(why)
    expect(broken.log.map(({ event }) => event)).toContain('request.failed')
  })

  test.each([
    'clients.find',
    'transients.get',
    'authorizations.insertWithToken',
    'authorizations.insertOnce',
    'tokens.insert',
  ])(
    'decision §6.4 returns 503 with Retry-After and does not consume the code if the store operation %s fails',
    async (operationName) => {
      let fails = false
      await using failing = await startServer({
        // With so few authorizations, a redemption is a transaction instead of one statement.
        ...(operationName.includes('insert') &&
          operationName !== 'authorizations.insertWithToken' && {
            authorizationsPerApplication: 1,
          }),
        aroundStore: async (operation, run) => {
          if (fails && operation.name === operationName) throw new StoreUnavailable('down')
          return run()
        },
      })
      const client = await TestClient.register(failing, new UserAgent())
      const code = await client.code()
      fails = true
      const answer = await client.redeem(code)
      expect(refusal(answer)).toBe('503 temporarily_unavailable')
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
      fails = false
      expect((await client.redeem(code)).status).toBe(200)
    },
  )

  test('decision §6.1 does not log the secrets that the tests above sent', async () => {
    const secrets = [conf.clientSecret, app.password, conf.pkce.verifier]
    const text = JSON.stringify(app.log)
    for (const secret of secrets) expect(text).not.toContain(secret)
  })
})

describe('decision §5.7 generated values', () => {
  test('generates values of [A-Za-z0-9] with the specified lengths [T772]', async () => {
    const pat = await app.server.tokens.createPersonal('PAT', app.user.id)
    expect(conf.clientId).toMatch(/^[A-Za-z0-9]{40}$/)
    expect(conf.clientSecret).toMatch(/^[A-Za-z0-9]{60}$/)
    expect(pat.accessToken).toMatch(/^[A-Za-z0-9]{60}$/)
    expect(pat.clientId).toMatch(/^[A-Za-z0-9]{40}$/)
  })

  test.each([22, 255])(
    'accepts %d as the value of each …_SALT_LEN setting [T006]',
    async (length) => {
      await using other = await startServer({
        clientIdSaltLen: length,
        clientSecretSaltLen: length,
        tokenPersonalSaltLen: length,
      })
      const client = await TestClient.register(other, new UserAgent())
      const pat = await other.personalToken()
      for (const value of [client.clientId, client.clientSecret, pat])
        expect(value).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`))
      expect(await ping(other, pat)).toBe(200)
      expect((await client.token(machine)).status).toBe(200)
      expect((await client.token(machine, 'post')).status).toBe(200)
      expect((await client.tokens()).access_token).toMatch(/^[A-Za-z0-9]{43}$/)
      const { client: renewed } = await other.server.clients.resetCredentials(client.clientId)
      expect(renewed.clientId).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`))
    },
  )

  test.each(['clientIdSaltLen', 'clientSecretSaltLen', 'tokenPersonalSaltLen'])(
    'rejects values of %s outside the range from 22 to 255 [T771]',
    async (name) => {
      for (const value of [0, 21, 256, 40.5, Number.NaN])
        await expect(startServer({ [name]: value })).rejects.toThrow(InvalidSettings)
    },
  )

  test('attacks CD-12 generates 200 distinct tokens, which use all 62 characters', async () => {
    const responses = await Promise.all(Array.from({ length: 200 }, () => conf.token(machine)))
    const values = responses.map(({ body }) => body.access_token)
    expect(new Set(values).size).toBe(200)
    expect(new Set(values.join('')).size).toBe(62)
  })
})
