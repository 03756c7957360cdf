import { exportJWK, generateKeyPair } from 'jose'
import { OAuthError, type RegisterClient, StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { storeOf } from '../support/internals.ts'
import { rawHttp } from '../support/raw-http.ts'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'
import { asTestClient, manage, refusal, register, registered } from '../support/registration.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { clientOf, statusOf } from '../support/tokens.ts'
import {
  TestClient,
  refusal as tokenRefusal,
  tokenRequest,
  UserAgent,
} from '../support/user-agent.ts'

const initialAccessToken = 'an-initial-access-token-of-this-test'
const day = 86_400

let app: TestServer
let agent: UserAgent
beforeAll(async () => {
  app = await startServer({ dynamicRegistration: 'open' })
  agent = new UserAgent()
  await agent.logIn(app)
})
afterAll(() => app.close())

const clientCount = async (server: TestServer = app): Promise<number> =>
  Number((await server.query('select count(*) as n from oauth2server_client'))[0]?.n)

const metadataOf = async ({ issuer }: TestServer) =>
  (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as Record<
    string,
    unknown
  >

/** Sends a registration that must not create a client. Returns the status and the error. */
const refused = async (metadata: unknown, headers: Record<string, string> = {}) => {
  const before = await clientCount()
  const response = await register(app, metadata, headers)
  expect(await clientCount()).toBe(before)
  return refusal(response)
}

describe('RFC 7591 §3 authorization of registrations', () => {
  test('DR-01 by default, returns 404 and omits the endpoint from the metadata [T198]', async () => {
    await using closed = await startServer()
    expect((await register(closed)).status).toBe(404)
    expect((await fetch(`${closed.issuer}/oauth/register/x`)).status).toBe(404)
    expect(await metadataOf(closed)).not.toHaveProperty('registration_endpoint')
  })

  test('§3 in open mode, accepts a registration without authorization [T197]', async () => {
    const { registration_endpoint: endpoint } = await metadataOf(app)
    expect(endpoint).toBe(`${app.issuer}/oauth/register`)
    expect((await register(app)).status).toBe(201)
  })

  test('DR-01 in token mode, accepts a registration only with the initial access token [T199]', async () => {
    await using guarded = await startServer({ dynamicRegistration: 'token', initialAccessToken })
    const none = await register(guarded)
    expect(none.status).toBe(401)
    expect(none.headers.get('www-authenticate')).toBe(`Bearer realm="${guarded.issuer}"`)
    const basic = await register(guarded, undefined, { authorization: 'Basic eDp5' })
    expect(basic.status).toBe(401)
    const user = await guarded.personalToken(['notes:read'])
    for (const wrong of [
      'x',
      initialAccessToken.slice(1),
      `${initialAccessToken}x`,
      initialAccessToken.toUpperCase(),
      user,
    ]) {
      const response = await register(guarded, undefined, { authorization: `Bearer ${wrong}` })
      expect(refusal(response)).toBe('401 invalid_token')
      expect(response.headers.get('www-authenticate')).toBe(
        `Bearer realm="${guarded.issuer}", error="invalid_token"`,
      )
    }
    const inQuery = await fetch(
      `${guarded.issuer}/oauth/register?access_token=${initialAccessToken}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: [redirectUri],
          initial_access_token: initialAccessToken,
        }),
      },
    )
    expect(inQuery.status).toBe(401)
    expect(await clientCount(guarded)).toBe(1)
    const authorization = `bearer ${initialAccessToken}`
    for (let times = 0; times < 2; times += 1)
      expect((await register(guarded, undefined, { authorization })).status).toBe(201)
  })

  test('DR-01 in token mode, refuses to start if both initialAccessToken and registerClient are missing', async () => {
    await expect(startServer({ dynamicRegistration: 'token' })).rejects.toThrow(
      'dynamicRegistration (OAUTH2SERVER_DYNAMIC_REGISTRATION) token needs initialAccessToken (OAUTH2SERVER_INITIAL_ACCESS_TOKEN), or the option registerClient.',
    )
  })
})

describe('RFC 7591 §3.2.1 the registration response', () => {
  test('§3.2.1 returns 201 with client ID, secret and all defaults, and forbids caching [T001]', async () => {
    const { status, headers, body } = await register(app)
    expect(status).toBe(201)
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
    expect(body).toEqual({
      client_id: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
      client_secret: expect.stringMatching(/^[A-Za-z0-9]{60}$/),
      client_id_issued_at: Math.floor(app.now() / 1000),
      client_secret_expires_at: 0,
      registration_access_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
      registration_client_uri: `${app.issuer}/oauth/register/${body.client_id}`,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      client_name: 'client.example',
    })
  })

  test('§3.2.1 returns all stored metadata [T206]', async () => {
    const given = {
      redirect_uris: ['https://client.example/cb', 'http://localhost:3000/cb?a=b'],
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      client_name: 'Note Printer',
      client_uri: 'https://client.example/',
      logo_uri: 'https://client.example/logo.png',
      scope: 'notes:read user:email',
      contacts: ['maker@client.example', 'Somebody'],
      tos_uri: 'https://client.example/terms',
      policy_uri: 'https://client.example/privacy',
      jwks_uri: 'https://client.example/keys',
      software_id: '4NRB1-0XZABZI9E6-5SM3R',
      software_version: '1.2',
    }
    const { body } = await register(app, given)
    expect(body).toEqual({
      ...given,
      client_id: expect.any(String),
      client_secret: expect.any(String),
      client_id_issued_at: expect.any(Number),
      client_secret_expires_at: 0,
      registration_access_token: expect.any(String),
      registration_client_uri: expect.any(String),
    })
    const client = await clientOf(app, body.client_id)
    expect(client).toMatchObject({
      origin: 'registration',
      name: 'Note Printer',
      userId: null,
      isConfidential: true,
      isInternal: false,
      isVerified: false,
      allowedScopes: ['notes:read', 'user:email'],
      grantTypes: ['authorization_code', 'refresh_token'],
      responseTypes: ['code'],
      tokenEndpointAuthMethod: 'client_secret_post',
    })
  })

  test('§3.2.1 returns no secret and no secret expiry for a public client [T205]', async () => {
    const body = await registered(app, { token_endpoint_auth_method: 'none' })
    expect(body).not.toHaveProperty('client_secret')
    expect(body).not.toHaveProperty('client_secret_expires_at')
    expect(body.token_endpoint_auth_method).toBe('none')
  })

  test('§3.2.1 creates a new ID, secret and token for each registration [T204]', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, () => registered(app)))
    for (const member of ['client_id', 'client_secret', 'registration_access_token'])
      expect(new Set(many.map((one) => one[member])).size).toBe(20)
  })

  test('does not store or log the secret and the registration access token in plain text [T241]', async () => {
    const body = await registered(app)
    const rows = JSON.stringify(await app.query('select * from oauth2server_client'))
    for (const text of [rows, JSON.stringify(app.log)]) {
      expect(text).not.toContain(body.client_secret)
      expect(text).not.toContain(body.registration_access_token)
    }
    expect(rows).toContain(body.client_id)
  })

  test('§2 treats null and empty members as absent', async () => {
    const body = await registered(app, {
      client_name: '',
      client_uri: null,
      scope: '',
      grant_types: null,
      jwks: null,
      software_statement: null,
    })
    expect(body).toMatchObject({
      client_name: 'client.example',
      grant_types: ['authorization_code'],
    })
    for (const member of ['client_uri', 'scope', 'jwks']) expect(body).not.toHaveProperty(member)
  })
})

describe('RFC 7591 §2 client metadata', () => {
  test.each<[string, unknown]>([
    ['token_endpoint_auth_method', 1],
    ['token_endpoint_auth_method', ['none']],
    ['token_endpoint_auth_method', 'client_secret_jwt'],
    ['token_endpoint_auth_method', 'NONE'],
    ['grant_types', 'authorization_code'],
    ['grant_types', [1]],
    ['grant_types', {}],
    ['grant_types', ['urn:ietf:params:oauth:grant-type:jwt-bearer']],
    ['response_types', 'code'],
    ['response_types', [null]],
    ['response_types', ['id_token']],
    ['client_name', {}],
    ['client_name', 7],
    ['client_name', ['a']],
    ['client_name', 'a\u0000b'],
    ['client_name', '\u200B'],
    ['client_name', 'evil\u202Egnp.exe'],
    ['client_name', '\uD800'],
    ['client_uri', 'javascript:alert(1)'],
    ['client_uri', 'data:text/html,x'],
    ['client_uri', ' java\tscript:alert(1)'],
    ['client_uri', 'https://client.example/"onmouseover='],
    ['client_uri', 'https://user:pw@client.example/'],
    ['client_uri', '//client.example/'],
    ['client_uri', `https://client.example/${'x'.repeat(2000)}`],
    ['client_uri', {}],
    ['logo_uri', 'javascript:alert(1)'],
    ['logo_uri', 'data:image/svg+xml,<svg/>'],
    ['tos_uri', 'javascript:alert(1)'],
    ['tos_uri', 1],
    ['policy_uri', 'vbscript:x'],
    ['policy_uri', 'https://'],
    ['scope', ['notes:read']],
    ['scope', 'notes:read\nnotes:write'],
    ['contacts', 'maker@client.example'],
    ['contacts', [1]],
    ['contacts', Array.from({ length: 11 }, () => 'x')],
    ['contacts', ['x'.repeat(256)]],
    ['contacts', ['a\nb']],
    ['jwks_uri', 'http://client.example/keys'],
    ['jwks_uri', 'https://127.0.0.1/keys'],
    ['jwks_uri', 'file:///etc/passwd'],
    ['jwks_uri', {}],
    ['jwks', 'x'],
    ['jwks', []],
    ['jwks', {}],
    ['jwks', { keys: [] }],
    ['jwks', { keys: [null] }],
    ['jwks', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
    ['software_id', {}],
    ['software_id', 'x'.repeat(256)],
    ['software_version', 2],
    ['software_version', 'a\u0007'],
  ])('DR-03 rejects %s with the value %j, and creates no client [T187]', async (member, value) => {
    expect(await refused({ redirect_uris: [redirectUri], [member]: value })).toBe(
      '400 invalid_client_metadata',
    )
  })

  test.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['a string', redirectUri],
    ['an empty array', []],
    ['[null]', [null]],
    ['[1]', [1]],
    ['an object', {}],
    ['a nested array', [[redirectUri]]],
    ['an array with an empty string', ['']],
    ['a URI with a leading space', [` ${redirectUri}`]],
    ['a URI with a trailing line feed', [`${redirectUri}\n`]],
    ['two URIs in one string', [`${redirectUri}\n${redirectUri}`]],
    ['a valid and an invalid URI', [redirectUri, 'javascript:alert(1)']],
    ['51 URIs', Array.from({ length: 51 }, (_, index) => `${redirectUri}/${index}`)],
    ['900 URIs', Array.from({ length: 900 }, (_, index) => `${redirectUri}/${index}`)],
  ])(
    '§5 returns invalid_redirect_uri if redirect_uris is %s [T002]',
    async (_what, redirect_uris) => {
      expect(await refused({ redirect_uris })).toBe('400 invalid_redirect_uri')
    },
  )

  test.each(forbiddenRedirectUris)(
    'AZ-09 returns invalid_redirect_uri for the redirect URI %j [T211]',
    async (uri) => {
      for (const token_endpoint_auth_method of ['client_secret_basic', 'none']) {
        const metadata = { redirect_uris: [uri], token_endpoint_auth_method }
        expect(await refused(metadata)).toBe('400 invalid_redirect_uri')
      }
    },
  )

  test('AZ-09 accepts a private-use scheme if it contains a dot, the client is public, and the settings allow it [T212]', async () => {
    await using native = await startServer({
      dynamicRegistration: 'open',
      allowPrivateUseRedirectUris: true,
    })
    const outcome = async (uri: string, token_endpoint_auth_method: string) =>
      (await register(native, { redirect_uris: [uri], token_endpoint_auth_method })).status
    expect(await outcome('com.example.app:/cb', 'none')).toBe(201)
    expect(await outcome('com.example.app:/cb', 'client_secret_basic')).toBe(400)
    expect(await outcome('myapp:/cb', 'none')).toBe(400)
  })

  test('§2 stores a repeated redirect URI once', async () => {
    const body = await registered(app, { redirect_uris: [redirectUri, redirectUri] })
    expect(body.redirect_uris).toEqual([redirectUri])
  })

  test('DR-02 ignores metadata with which a client requests privileges [T189]', async () => {
    const body = await registered(app, {
      client_id: 'chosen',
      client_secret: 'chosen-secret-of-more-than-22-characters',
      client_id_issued_at: 1,
      client_secret_expires_at: 1,
      registration_access_token: 'chosen',
      registration_client_uri: 'https://evil.example/',
      user_id: app.user.id,
      userId: app.user.id,
      is_internal: true,
      isInternal: true,
      is_confidential: false,
      isConfidential: false,
      is_verified: true,
      isVerified: true,
      is_personal: true,
      skip_consent: true,
      trusted: true,
      default_scopes: ['notes:write'],
      allowed_scopes: ['test:scope'],
      allowedScopes: ['test:scope'],
      origin: 'owner',
      constructor: { prototype: { polluted: true } },
      example_extension_parameter: 'example_value',
    })
    expect(JSON.stringify(body)).not.toMatch(/chosen|evil|trusted|polluted|example_value/)
    expect(body.client_secret_expires_at).toBe(0)
    expect(await clientOf(app, body.client_id)).toMatchObject({
      userId: null,
      isInternal: false,
      isConfidential: true,
      isVerified: false,
      isPersonal: false,
      defaultScopes: [],
      allowedScopes: null,
      origin: 'registration',
      metadata: '{}',
    })
  })

  test('DR-02 does not change Object.prototype for members such as __proto__', async () => {
    const text = `{"redirect_uris":["${redirectUri}"],"__proto__":{"client_name":"Polluted","polluted":1},"constructor":{"prototype":{"polluted":1}}}`
    const { status, body } = await register(app, text)
    expect(status).toBe(201)
    expect(body.client_name).toBe('client.example')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    const asProto = { redirect_uris: [redirectUri], grant_types: ['__proto__'] }
    expect(await refused(asProto)).toBe('400 invalid_client_metadata')
    const asConstructor = { redirect_uris: [redirectUri], response_types: ['constructor'] }
    expect(await refused(asConstructor)).toBe('400 invalid_client_metadata')
  })

  test('§2 truncates a long name, and returns the truncated name [T208]', async () => {
    const body = await registered(app, {
      client_name: 'Claude Code (plugin:compound-engineering:context7)',
    })
    expect(body.client_name).toBe('Claude Code (plugin:compound-engineerin…')
    expect([...String(body.client_name)]).toHaveLength(40)
    const huge = await registered(app, { client_name: '\u{1F600}'.repeat(10_000) })
    expect([...String(huge.client_name)]).toHaveLength(40)
  })

  test('§2 without a client_name, names a client after the host of its redirect URI, or "Unnamed" for a loopback URI [T185]', async () => {
    const loopback = { redirect_uris: ['http://localhost/cb'], client_name: '  ' }
    expect((await registered(app, loopback)).client_name).toBe('Unnamed')
    const other = { redirect_uris: ['https://Other.example:8443/cb'] }
    expect((await registered(app, other)).client_name).toBe('other.example:8443')
  })

  test('§2.2 ignores names in other languages [T192]', async () => {
    const body = await registered(app, { client_name: 'Print', 'client_name#de': 'Drucken' })
    expect(body.client_name).toBe('Print')
    expect(body).not.toHaveProperty(['client_name#de'])
  })

  test('§2.3 rejects a software statement [T193]', async () => {
    for (const software_statement of ['eyJhbGciOiJub25lIn0.e30.', {}, 'x'])
      expect(await refused({ redirect_uris: [redirectUri], software_statement })).toBe(
        '400 unapproved_software_statement',
      )
  })

  test('§2 requires either jwks or jwks_uri with public keys for private_key_jwt [T188]', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: '1' }] }
    const jwks_uri = 'https://client.example/keys'
    const base = { redirect_uris: [redirectUri], token_endpoint_auth_method: 'private_key_jwt' }
    expect(await refused(base)).toBe('400 invalid_client_metadata')
    expect(await refused({ ...base, jwks, jwks_uri })).toBe('400 invalid_client_metadata')
    const secret = { keys: [await exportJWK(privateKey)] }
    expect(await refused({ ...base, jwks: secret })).toBe('400 invalid_client_metadata')
    const body = await registered(app, { ...base, jwks })
    expect(body.jwks).toEqual(jwks)
    for (const member of ['client_secret', 'client_secret_expires_at', 'jwks_uri'])
      expect(body).not.toHaveProperty(member)
    expect((await registered(app, { ...base, jwks_uri })).jwks_uri).toBe(jwks_uri)
  })
})

describe('RFC 7591 §3.2.1 metadata that the server replaces or omits', () => {
  test.each(['client_uri', 'logo_uri', 'tos_uri', 'policy_uri'])(
    'omits an http link in %s, and registers the client [T3907]',
    async (member) => {
      for (const link of ['http://client.example/x', 'HTTP://169.254.169.254/']) {
        const body = await registered(app, { [member]: link, client_name: 'Linked' })
        expect(body).not.toHaveProperty(member)
        expect(body.client_name).toBe('Linked')
      }
    },
  )

  test.each([
    { grant_types: [] },
    { response_types: [] },
    { grant_types: [], response_types: [] },
    { grant_types: [], response_types: ['code'] },
    { grant_types: ['authorization_code'], response_types: [] },
  ])('treats the empty lists of %j as absent [T3908]', async (given) => {
    const { grant_types, response_types } = await registered(app, given)
    expect([grant_types, response_types]).toEqual([['authorization_code'], ['code']])
  })
})

describe('RFC 8252 §7.3, §8.4 loopback redirect URIs of a client that registered itself', () => {
  test.each(['http://127.0.0.1:1234/cb', 'http://[::1]/cb', 'http://localhost:1234/cb'])(
    'a client with a secret may use any port of %s, and no other path or host [T3909]',
    async (uri) => {
      const body = await registered(app, { redirect_uris: [uri] })
      expect(body.client_secret).toMatch(/^[A-Za-z0-9]+$/)
      const at = (other: string) => asTestClient(app, agent, { ...body, redirect_uris: [other] })
      const moved = new URL(uri)
      moved.port = '49152'
      expect((await at(moved.href).tokens()).access_token).toMatch(/./)
      moved.pathname = '/other'
      expect((await at(moved.href).ask()).pathname).toBe('/oauth/errors')
    },
  )
})

describe('RFC 7591 §2.1 grant types and response types', () => {
  const outcome = async (given: Record<string, unknown>) => {
    const { status, body } = await register(app, { redirect_uris: [redirectUri], ...given })
    return status === 201 ? [body.grant_types, body.response_types] : body.error
  }

  test('§2.1 derives grant types and response types from each other if one is missing [T190]', async () => {
    expect(await outcome({ grant_types: ['authorization_code'] })).toEqual([
      ['authorization_code'],
      ['code'],
    ])
    expect(await outcome({ response_types: ['token'] })).toEqual([['implicit'], ['token']])
    expect(
      await outcome({
        grant_types: ['authorization_code', 'implicit', 'refresh_token', 'refresh_token'],
        response_types: ['token', 'code'],
      }),
    ).toEqual([
      ['authorization_code', 'refresh_token', 'implicit'],
      ['code', 'token'],
    ])
  })

  test.each<[readonly string[], readonly string[]]>([
    [['authorization_code'], ['token']],
    [['authorization_code'], ['code', 'token']],
    [['implicit'], ['code']],
    [['authorization_code', 'implicit'], ['code']],
    [['refresh_token'], ['code']],
    [['authorization_code'], ['code', 'id_token']],
  ])('§2.1 rejects the inconsistent pair %j and %j [T191]', async (grant_types, response_types) => {
    expect(await outcome({ grant_types, response_types })).toBe('invalid_client_metadata')
  })

  test('§3.2.1 ignores unsupported grant types, and returns the supported grant types [T207]', async () => {
    const grant_types = [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
      'urn:openid:params:grant-type:ciba',
    ]
    expect(await outcome({ grant_types })).toEqual([
      ['authorization_code', 'refresh_token'],
      ['code'],
    ])
  })

  test.each(['password', 'client_credentials'])(
    'DR-02 rejects a registration with the grant type %s in open mode',
    async (type) => {
      for (const token_endpoint_auth_method of ['client_secret_basic', 'none']) {
        for (const grant_types of [[type], ['authorization_code', type]])
          expect(await outcome({ grant_types, token_endpoint_auth_method })).toBe(
            'invalid_client_metadata',
          )
      }
    },
  )

  test('DR-02 ignores a disabled grant type, but rejects a registration in which only disabled types remain', async () => {
    await using strict = await startServer({
      dynamicRegistration: 'open',
      allowedGrantTypes: ['authorization_code'],
      allowedResponseTypes: ['code'],
    })
    const error = async (given: Record<string, unknown>) =>
      (await register(strict, { redirect_uris: [redirectUri], ...given })).body.error
    expect(await error({ response_types: ['token'] })).toBe('invalid_client_metadata')
    expect(await error({ grant_types: ['implicit'] })).toBe('invalid_client_metadata')
    expect(await error({ grant_types: ['refresh_token'] })).toBe('invalid_client_metadata')
    const both = await registered(strict, { grant_types: ['authorization_code', 'refresh_token'] })
    expect(both.grant_types).toEqual(['authorization_code'])
  })

  test('DR-02 rejects the grant type password in open mode even if the settings enable it', async () => {
    await using lenient = await startServer({
      dynamicRegistration: 'open',
      allowedGrantTypes: ['authorization_code', 'password'],
    })
    const response = await register(lenient, {
      redirect_uris: [redirectUri],
      grant_types: ['password'],
    })
    expect(refusal(response)).toBe('400 invalid_client_metadata')
  })

  test('§2 rejects the default authentication method if it is disabled', async () => {
    await using strict = await startServer({
      dynamicRegistration: 'open',
      clientAuthentication: ['none'],
    })
    expect(refusal(await register(strict))).toBe('400 invalid_client_metadata')
    expect(
      (await registered(strict, { token_endpoint_auth_method: 'none' })).client_id,
    ).toBeTruthy()
  })
})

describe('RFC 7591 §3.1 the body of the registration request', () => {
  test.each<[string, string]>([
    ['an empty body', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['an array of metadata', `[{"redirect_uris":["${redirectUri}"]}]`],
    ['10,000 nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    [
      'a duplicate member __proto__',
      `{"redirect_uris":["${redirectUri}"],"__proto__":{},"__proto__":{}}`,
    ],
    ['a string', '"x"'],
    ['a number', '1'],
    ['invalid JSON', '{"redirect_uris":'],
    [
      'a duplicate member',
      `{"redirect_uris":["${redirectUri}"],"scope":"notes:read","scope":"notes:write"}`,
    ],
    [
      'a duplicate member with an escaped name',
      `{"redirect_uris":["${redirectUri}"],"redirect_uri\\u0073":["https://evil.example/"]}`,
    ],
    [
      'a nested duplicate member',
      `{"redirect_uris":["${redirectUri}"],"jwks":{"keys":[],"keys":[]}}`,
    ],
    ['10,000 nested arrays', `{"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['30,000 unclosed arrays', '['.repeat(30_000)],
    ['a lone surrogate', `{"redirect_uris":["${redirectUri}"],"client_name":"\\ud800"}`],
    ['a replacement character', `{"redirect_uris":["${redirectUri}"],"client_name":"\uFFFD"}`],
  ])('DR-03 returns invalid_client_metadata for %s [T209]', async (_what, text) => {
    expect(await refused(text)).toBe('400 invalid_client_metadata')
  })

  test('DR-03 rejects invalid UTF-8', async () => {
    const before = await clientCount()
    for (const bytes of ['\xff', '\xc3\x28', '\xed\xa0\x80', '\xf8\x88\x80\x80\x80']) {
      const body = `{"redirect_uris":["${redirectUri}"],"client_name":"${bytes}"}`
      const response = await rawHttp(app, {
        method: 'POST',
        target: '/oauth/register',
        headers: ['Content-Type: application/json'],
        body,
      })
      expect(response.status).toBe(400)
      expect(JSON.parse(response.text).error).toBe('invalid_client_metadata')
    }
    expect(await clientCount()).toBe(before)
  })

  test('§3.1 accepts JSON with the charset UTF-8 [T194]', async () => {
    const type = { 'content-type': 'application/json; charset=UTF-8' }
    const { status, body } = await register(
      app,
      { redirect_uris: [redirectUri], client_name: 'Größe 日本' },
      type,
    )
    expect(status).toBe(201)
    expect(body.client_name).toBe('Größe 日本')
  })
})

describe('permissions of a client that registered itself', () => {
  test('DR-02 accepts the secret only with the registered authentication method', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      const body = await registered(app, { token_endpoint_auth_method: method })
      const client = asTestClient(app, agent, body)
      const code = await client.code()
      const request = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: client.pkce.verifier,
      }
      const other = method === 'client_secret_basic' ? 'post' : 'basic'
      for (const proof of ['none', other] as const)
        expect(tokenRefusal(await client.token(request, proof))).toBe('401 invalid_client')
      expect((await client.token(request)).status).toBe(200)
    }
  })

  test('§2 requires the secret, by client_secret_basic or client_secret_post, if the client registered no method [T184]', async () => {
    const client = asTestClient(app, agent, await registered(app))
    for (const proof of ['basic', 'post'] as const) {
      const code = await client.code()
      const request = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: client.pkce.verifier,
      }
      expect(tokenRefusal(await client.token(request, 'none'))).toBe('401 invalid_client')
      expect((await client.token(request, proof)).status).toBe(200)
    }
  })

  test('requires PKCE from a public client, and issues a refresh token if the client registered the grant type refresh_token', async () => {
    const body = await registered(app, {
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['http://127.0.0.1/cb'],
    })
    const client = asTestClient(app, agent, body)
    const withoutPkce = { code_challenge: undefined, code_challenge_method: undefined }
    expect((await client.ask(withoutPkce)).searchParams.get('error')).toBe('invalid_request')
    // A native app may use any port of the registered loopback address (RFC 8252 §7.3).
    const native = asTestClient(app, agent, { ...body, redirect_uris: ['http://127.0.0.1:9/cb'] })
    const { access_token, refresh_token } = await native.tokens()
    expect(await statusOf(app, access_token)).toBe(200)
    expect((await native.refresh(refresh_token)).status).toBe(200)
  })

  test('§2 issues no refresh token if the client did not register the grant type refresh_token', async () => {
    const tokens = await asTestClient(app, agent, await registered(app)).tokens()
    expect(tokens).not.toHaveProperty('refresh_token')
  })

  test.each([
    ['openid notes:read profile', 'notes:read'],
    ['offline_access notes:write notes:read', 'notes:read notes:write'],
    ['notes:read test:scope', 'notes:read'],
    ['"x" notes:read', 'notes:read'],
    ['test:scope', undefined],
    ['nope', undefined],
    ['claudeai', undefined],
    ['x'.repeat(20_000), undefined],
    ['offline_access', undefined],
    [' ', undefined],
  ])(
    '§2, §3.2.1 registers and returns only the existing scopes among %j [T1413]',
    async (scope, remaining) => {
      const body = await registered(app, { scope })
      expect(body.scope).toBe(remaining)
      const client = asTestClient(app, agent, body)
      const known = remaining?.split(' ')[0] || undefined
      expect((await client.tokens({ scope: known })).scope).toBe(known ?? '')
      if (remaining === undefined) return
      const beyond = await client.ask({ scope: 'user:email' })
      expect(beyond.searchParams.get('error')).toBe('invalid_scope')
    },
  )

  test('§2 rejects a request for scopes that the client did not register', async () => {
    const client = asTestClient(app, agent, await registered(app, { scope: 'notes:read' }))
    expect((await client.tokens({ scope: 'notes:read' })).scope).toBe('notes:read')
    const beyond = await client.ask({ scope: 'notes:read notes:write' })
    expect(beyond.searchParams.get('error')).toBe('invalid_scope')
    expect((await client.tokens({ scope: undefined })).scope).toBe('')
  })

  test('asks for consent at each request until an administrator verifies the client [T217]', async () => {
    const body = await registered(app)
    const client = asTestClient(app, agent, body)
    await client.tokens()
    expect((await agent.fetch(client.url())).status).toBe(200)
    await app.server.clients.mark(body.client_id, { isVerified: true })
    expect((await agent.fetch(client.url())).status).toBe(303)
  })

  test('XS-07 returns consent_required for prompt=none despite an earlier consent', async () => {
    const client = asTestClient(app, agent, await registered(app))
    await client.tokens()
    const response = await agent.fetch(client.url({ prompt: 'none' }))
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe(
      'consent_required',
    )
  })

  test('RFC 9700 §4.11.2 attacks AZ-16 does not redirect prompt=none errors to an unverified client before the login', async () => {
    const body = await registered(app)
    const client = asTestClient(app, agent, body)
    const silent = async () => {
      const response = await new UserAgent().fetch(client.url({ prompt: 'none' }))
      expect(response.status).toBe(303)
      return new URL(response.headers.get('location') ?? '', app.issuer)
    }
    const error = await silent()
    expect(error.origin + error.pathname).toBe(`${app.issuer}/oauth/errors`)
    expect(error.searchParams.get('error')).toBe('login_required')
    const page = await (await fetch(error)).text()
    expect(page).toContain('wanted to continue without a login')
    await app.server.clients.mark(body.client_id, { isVerified: true })
    const response = await silent()
    expect(response.origin + response.pathname).toBe(redirectUri)
    expect(response.searchParams.get('error')).toBe('login_required')
  })

  test('RFC 9700 §4.11.2 if the store fails before the login check, redirects to the client of a user, but not to a client that registered itself', async () => {
    let fails = false
    await using failing = await startServer({
      dynamicRegistration: 'open',
      aroundStore: async (operation, run) => {
        if (fails && operation.name === 'sessions.find') throw new StoreUnavailable('down')
        return run()
      },
    })
    const browser = new UserAgent()
    await browser.logIn(failing)
    const own = asTestClient(failing, browser, await registered(failing))
    const owned = await TestClient.register(failing, browser)
    fails = true
    const here = await browser.fetch(own.url())
    expect([here.status, here.headers.get('location')]).toEqual([503, null])
    expect(here.headers.get('retry-after')).toMatch(/^\d+$/)
    const there = new URL((await browser.fetch(owned.url())).headers.get('location') ?? '')
    expect(there.searchParams.get('error')).toBe('temporarily_unavailable')
  })

  test('lists the client for administrators only', async () => {
    const { client_id } = await registered(app)
    const own = await app.server.clients.ofOwner(app.user.id, { after: null, limit: 1000 })
    expect(own.items.map(({ client }) => client.clientId)).not.toContain(client_id)
    const all = await app.server.clients.search(client_id, { after: null, limit: 10 })
    expect(all.items.map(({ client }) => client.origin)).toEqual(['registration'])
  })
})

describe('registration of the grant type client_credentials', () => {
  const machine = { grant_types: ['client_credentials'], redirect_uris: undefined }
  const token = async (
    server: TestServer,
    body: Awaited<ReturnType<typeof registered>>,
    scope?: string,
  ) =>
    tokenRequest(
      server.issuer,
      { grant_type: 'client_credentials', scope },
      { basic: { clientId: body.client_id, clientSecret: body.client_secret } },
    )

  test('allows the grant type with the initial access token, within the registered scope [T218]', async () => {
    await using guarded = await startServer({ dynamicRegistration: 'token', initialAccessToken })
    const authorization = { authorization: `Bearer ${initialAccessToken}` }
    const limited = await registered(guarded, { ...machine, scope: 'notes:read' }, authorization)
    expect(limited).toMatchObject({ grant_types: ['client_credentials'], response_types: [] })
    const { status, body } = await token(guarded, limited, 'notes:read')
    expect(status).toBe(200)
    // The client has no owner, so the token has no user.
    expect(body).not.toHaveProperty('user')
    expect((await token(guarded, limited, 'notes:write')).body.error).toBe('invalid_scope')
    // A client that registered no scopes receives a token without scopes.
    const bare = await registered(guarded, machine, authorization)
    expect((await token(guarded, bare)).body.scope).toBe('')
    expect((await token(guarded, bare, 'notes:read')).body.error).toBe('invalid_scope')
    const open = { ...machine, token_endpoint_auth_method: 'none' }
    expect(refusal(await register(guarded, open, authorization))).toBe(
      '400 invalid_client_metadata',
    )
  })

  test('does not delete a client with this grant type as unused', async () => {
    await using guarded = await startServer({ dynamicRegistration: 'token', initialAccessToken })
    const authorization = { authorization: `Bearer ${initialAccessToken}` }
    const body = await registered(guarded, { ...machine, scope: 'notes:read' }, authorization)
    await token(guarded, body)
    guarded.advance(30 * day)
    await guarded.server.sweep()
    expect((await token(guarded, body)).status).toBe(200)
    const again = { client_id: body.client_id, grant_types: ['client_credentials'] }
    expect((await manage('PUT', body, again)).status).toBe(200)
  })

  test('rejects the grant type in an update of a client that registered in open mode', async () => {
    const body = await registered(app)
    const more = {
      client_id: body.client_id,
      redirect_uris: [redirectUri],
      grant_types: ['client_credentials'],
    }
    expect(refusal(await manage('PUT', body, more))).toBe('400 invalid_client_metadata')
    expect((await token(app, body)).body.error).toBe('unauthorized_client')
  })
})

describe('the hook registerClient of the application', () => {
  const withHost = (registerClient: RegisterClient, options = {}) =>
    startServer({ dynamicRegistration: 'open', registerClient, ...options })

  test('rejects a registration if the hook returns false or throws an OAuthError [T220]', async () => {
    await using picky = await withHost((metadata) => {
      if (metadata.client_name === 'Throws')
        throw new OAuthError('invalid_client_metadata', 'Not that one.')
      return metadata.client_name === 'Welcome'
    })
    const outcome = async (client_name: string) =>
      register(picky, { redirect_uris: [redirectUri], client_name })
    expect((await outcome('Welcome')).status).toBe(201)
    expect(refusal(await outcome('Other'))).toBe('400 invalid_client_metadata')
    expect((await outcome('Throws')).body.error_description).toBe('Not that one.')
    expect(await clientCount(picky)).toBe(1)
  })

  test('passes the requested metadata, the request, and the client of an update to the hook [T219]', async () => {
    const calls: Parameters<RegisterClient>[] = []
    await using asked = await withHost(async (...given) => {
      calls.push(given)
      return true
    })
    const body = await registered(asked, { client_name: 'Print', unknown: 1 }, { 'x-tenant': 'a' })
    await manage('PUT', body, { client_id: body.client_id, redirect_uris: [redirectUri] })
    expect(calls.map(([metadata]) => metadata)).toEqual([
      { redirect_uris: [redirectUri], client_name: 'Print' },
      { redirect_uris: [redirectUri] },
    ])
    const [first, second] = calls.map(([, request]) => request)
    expect(first).toMatchObject({ address: '127.0.0.1', client: undefined })
    expect(first?.headers.get('x-tenant')).toBe('a')
    expect(second?.client?.clientId).toBe(body.client_id)
  })

  test('registers and updates clients with the metadata that the hook returns', async () => {
    await using restricting = await withHost(() => ({ scope: 'notes:read', client_uri: undefined }))
    const given = { scope: 'notes:read notes:write', client_uri: 'https://client.example/' }
    const body = await registered(restricting, given)
    expect(body.scope).toBe('notes:read')
    expect(body).not.toHaveProperty('client_uri')
    const changed = await manage('PUT', body, {
      client_id: body.client_id,
      redirect_uris: [redirectUri],
      scope: 'notes:write',
    })
    expect(changed.body.scope).toBe('notes:read')
  })

  test('allows a privileged grant type only if the hook returns it; the result true is not sufficient', async () => {
    const machine = { grant_types: ['client_credentials'], redirect_uris: undefined }
    await using trusting = await withHost(() => true)
    expect((await register(trusting, machine)).status).toBe(400)
    await using vouching = await withHost(({ grant_types = [] }) => ({ grant_types }))
    expect((await registered(vouching, machine)).grant_types).toEqual(['client_credentials'])
  })

  test('lets the hook verify the initial access token if the setting initialAccessToken is missing', async () => {
    const seen: (string | undefined)[] = []
    await using judging = await withHost(
      (_metadata, { initialAccessToken: presented }) => {
        seen.push(presented)
        return presented === 'good-one'
      },
      { dynamicRegistration: 'token' },
    )
    expect((await register(judging)).status).toBe(401)
    expect(seen).toEqual([])
    const bad = await register(judging, undefined, { authorization: 'Bearer bad-one' })
    expect(refusal(bad)).toBe('401 invalid_token')
    const good = await register(judging, undefined, { authorization: 'Bearer good-one' })
    expect(good.status).toBe(201)
    expect(seen).toEqual(['bad-one', 'good-one'])
  })

  test('returns 500 without details and creates no client if the hook throws another error', async () => {
    await using broken = await withHost(() => {
      throw new Error('secret detail')
    })
    const { status, body } = await register(broken)
    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toContain('secret detail')
    expect(await clientCount(broken)).toBe(0)
  })
})

describe('DR-05 rate limits of registrations', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const behindProxy = { dynamicRegistration: 'open', trustedProxies: ['127.0.0.1'] } as const

  test('DR-05 limits each IP address to 300 registration requests in ten minutes [T200]', async () => {
    await using flooded = await startServer(behindProxy)
    const flood = async (count: number) => {
      for (let sent = 0; sent < count; sent += 50)
        await Promise.all(
          Array.from({ length: 50 }, () => register(flooded, '{}', from('192.0.2.1'))),
        )
    }
    await flood(300)
    const response = await register(flooded, undefined, from('192.0.2.1'))
    expect(refusal(response)).toBe('429 temporarily_unavailable')
    const wait = Number(response.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(600)
    const body = await registered(flooded, {}, from('192.0.2.2'))
    expect((await manage('GET', body)).status).toBe(200)
    flooded.advance(600)
    expect((await register(flooded, undefined, from('192.0.2.1'))).status).toBe(201)
  })

  test('DR-05 counts all addresses of an IPv6 /64 network together', async () => {
    await using flooded = await startServer(behindProxy)
    const limits = new Limits(storeOf(flooded.server).transients, flooded.now)
    for (let count = 0; count < 299; count += 1)
      await limits.consume('registrations', '2001:db8:0:1::')
    const outcome = async (address: string) =>
      (await register(flooded, undefined, from(address))).status
    expect(await outcome('2001:db8:0:1::1')).toBe(201)
    expect(await outcome('2001:db8:0:1:ffff::2')).toBe(429)
    expect(await outcome('2001:db8:0:2::1')).toBe(201)
  })

  test.each([
    ['198.51.100.0/24', '198.51.100.1', '198.51.100.254', '198.51.101.1'],
    ['2001:db8:7::/48', '2001:db8:7:1::1', '2001:db8:7:2::1', '2001:db8:8:1::1'],
  ])(
    'DR-05 limits the network %s without affecting other networks [T201]',
    async (_, one, neighbour, elsewhere) => {
      await using flooded = await startServer(behindProxy)
      const limits = new Limits(storeOf(flooded.server).transients, flooded.now)
      for (let count = 0; count < 599; count += 1)
        await limits.consume('registrationsOfNetwork', one)
      expect((await register(flooded, '{}', from(one))).status).toBe(400)
      expect((await register(flooded, undefined, from(one))).status).toBe(201)
      expect((await register(flooded, undefined, from(neighbour))).status).toBe(429)
      expect((await register(flooded, undefined, from(elsewhere))).status).toBe(201)
    },
  )

  test('DR-05 deletes the 20 oldest unused clients if there are 10,000, and logs the deletion [T202]', async () => {
    let isFull = false
    await using full = await startServer({
      dynamicRegistration: 'open',
      aroundStore: async (operation, run) =>
        isFull && operation.name === 'clients.countExpired' ? (10_000 as never) : run(),
    })
    const used = await registered(full)
    await asTestClient(full, new UserAgent(), used).tokens()
    const unused = []
    for (let count = 0; count < 25; count += 1) {
      unused.push(await registered(full))
      full.advance(1)
    }
    isFull = true
    const logged = () => full.log.filter(({ event }) => event === 'registration.full')
    // Each node counts unused clients once every 20 of its registrations.
    let body = await registered(full)
    for (let more = 0; logged().length === 0 && more < 60; more += 1) body = await registered(full)
    expect(logged()).toHaveLength(1)
    const statusOfAll = await Promise.all(
      unused.map(async (client) => (await manage('GET', client)).status),
    )
    expect(statusOfAll).toEqual([...Array(20).fill(401), ...Array(5).fill(200)])
    for (const kept of [used, body]) expect((await manage('GET', kept)).status).toBe(200)
  })

  test('DR-05 in token mode, does not count requests without an initial access token', async () => {
    await using guarded = await startServer({ dynamicRegistration: 'token', initialAccessToken })
    for (let count = 0; count < 320; count += 40)
      await Promise.all(Array.from({ length: 40 }, () => register(guarded)))
    const authorization = `Bearer ${initialAccessToken}`
    expect((await register(guarded, undefined, { authorization })).status).toBe(201)
  })
})

describe('RFC 7591 §5 deletion of unused clients', () => {
  const ids = async (server: TestServer) =>
    (await server.query('select client_id from oauth2server_client')).map(
      ({ client_id }) => client_id,
    )

  test('DR-05 deletes a client after a week if no user has authorized it [T213]', async () => {
    await using site = await startServer({ dynamicRegistration: 'open' })
    const browser = new UserAgent()
    const owned = await site.client()
    const unused = await registered(site)
    const used = await registered(site)
    await asTestClient(site, browser, used).tokens()
    expect(
      await storeOf(site.server).clients.countExpired(
        { before: Number.MAX_SAFE_INTEGER, inUse: [] },
        10,
      ),
    ).toBe(1)
    site.advance(7 * day - 60)
    await site.server.sweep()
    expect(await ids(site)).toHaveLength(3)
    const late = await registered(site)
    site.advance(61)
    await site.server.sweep()
    expect(new Set(await ids(site))).toEqual(
      new Set([owned.clientId, used.client_id, late.client_id]),
    )
    expect((await manage('GET', unused)).status).toBe(401)
    // The tokens have expired, but the consent of the user remains, so the client is still in use.
    site.advance(90 * day)
    await site.server.sweep()
    expect(new Set(await ids(site))).toEqual(new Set([owned.clientId, used.client_id]))
  })

  test('deletes a client after its last user has revoked its access', async () => {
    await using site = await startServer({ dynamicRegistration: 'open' })
    const used = await registered(site)
    await asTestClient(site, new UserAgent(), used).tokens()
    await site.server.authorizedApplications.revoke(site.user.id, used.client_id)
    site.advance(90 * day)
    await site.server.sweep()
    expect(await ids(site)).toEqual([])
  })

  test('deletes an unused client after unusedClientExpiresIn seconds, or never if the setting is 0 [T214]', async () => {
    await using never = await startServer({ dynamicRegistration: 'open', unusedClientExpiresIn: 0 })
    await registered(never)
    never.advance(365 * day)
    await never.server.sweep()
    expect(await ids(never)).toHaveLength(1)
    await using soon = await startServer({ dynamicRegistration: 'open', unusedClientExpiresIn: 60 })
    // Create more rows than the sweeper deletes in one batch.
    for (let count = 0; count < 120; count += 40)
      await Promise.all(Array.from({ length: 40 }, () => registered(soon)))
    soon.advance(61)
    expect(await soon.server.sweep()).toBeGreaterThanOrEqual(120)
    expect(await ids(soon)).toEqual([])
  })
})
