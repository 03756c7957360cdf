import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { storeOf } from '../support/internals.ts'
import { rawHttp } from '../support/raw-http.ts'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'
import {
  asTestClient,
  type Information,
  manage,
  refusal,
  register,
  registered,
  sendJson,
} from '../support/registration.ts'
import { redirectUri } from '../support/server.ts'
import { clientOf, statusOf } from '../support/tokens.ts'
import { ping, tokenRequest, UserAgent } from '../support/user-agent.ts'
import { type AttackServer, startAttackServer } from './support/attack-server.ts'

const initialAccessToken = 'an-initial-access-token-of-this-test'
const day = 86_400

let it: AttackServer
beforeAll(async () => {
  it = await startAttackServer({ dynamicRegistration: 'open' })
})
afterAll(() => it?.close())

const clientCount = async ({ server }: AttackServer = it): Promise<number> =>
  Number((await server.query('select count(*) as n from oauth2server_client'))[0]?.n)

const rowOf = async (clientId: string) =>
  (await it.server.query(`select * from oauth2server_client where client_id = '${clientId}'`))[0]

/** Expects that a registration is rejected and writes nothing. */
const refused = async (metadata: unknown, headers: Record<string, string> = {}) => {
  const before = await clientCount()
  const response = await register(it.server, metadata, headers)
  expect(await clientCount()).toBe(before)
  return refusal(response)
}

describe('DR-01 Access to the registration', () => {
  test('returns 404 and omits the endpoint from the metadata if the registration is disabled', async () => {
    await using closed = await startAttackServer({ dynamicRegistration: 'off' })
    const { issuer } = closed.server
    const before = await clientCount(closed)
    expect((await register(closed.server)).status).toBe(404)
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await fetch(`${issuer}/oauth/register/x`, { method })).status).toBe(404)
    const metadata = await fetch(`${issuer}/.well-known/oauth-authorization-server`)
    expect(await metadata.json()).not.toHaveProperty('registration_endpoint')
    expect(await clientCount(closed)).toBe(before)
  })

  test('accepts only the initial access token, which is reusable', async () => {
    await using guarded = await startAttackServer({
      dynamicRegistration: 'token',
      initialAccessToken,
    })
    const app = guarded.server
    const personal = await app.personalToken(['notes:read', 'notes:write'])
    const before = await clientCount(guarded)
    const none = await register(app)
    expect(none.status).toBe(401)
    expect(none.headers.get('www-authenticate')).toBe(`Bearer realm="${app.issuer}"`)
    expect(none.headers.get('cache-control')).toBe('no-store')
    const strangers = [
      'wrong',
      `${initialAccessToken}x`,
      initialAccessToken.slice(0, -1),
      initialAccessToken.toUpperCase(),
      // A personal token is valid, but does not allow a registration.
      personal,
    ]
    for (const token of strangers) {
      const response = await register(app, undefined, { authorization: `Bearer ${token}` })
      expect(refusal(response)).toBe('401 invalid_token')
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
    const elsewhere = await sendJson(
      'POST',
      `${app.issuer}/oauth/register?access_token=${initialAccessToken}`,
      { redirect_uris: [redirectUri], initial_access_token: initialAccessToken },
    )
    expect(elsewhere.status).toBe(401)
    expect(await clientCount(guarded)).toBe(before)

    const authorization = `Bearer ${initialAccessToken}`
    for (let times = 1; times <= 2; times += 1) {
      const { status, headers, body } = await register(app, undefined, { authorization })
      expect(status).toBe(201)
      expect(headers.get('content-type')).toMatch(/^application\/json\b/)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(body.client_secret).toMatch(/^[A-Za-z0-9]{22,}$/)
      expect(body.client_id_issued_at).toBe(Math.floor(app.now() / 1000))
      expect(body.client_secret_expires_at).toBe(0)
      // The secret is returned only once.
      expect((await manage('GET', body)).body).not.toHaveProperty('client_secret')
      expect(await clientCount(guarded)).toBe(before + times)
    }
  })
})

describe('DR-02 Metadata that claims privileges', () => {
  const chosen = 'chosen-by-the-client-itself'
  const privileges = (userId: unknown): Record<string, unknown> => ({
    client_id: chosen,
    client_secret: chosen,
    registration_access_token: chosen,
    user_id: userId,
    owner: userId,
    is_internal: true,
    is_personal: true,
    is_confidential: false,
    isConfidential: false,
    is_verified: true,
    is_disabled: false,
    skip_consent: true,
    trusted: true,
    origin: 'owner',
    allowed_scopes: ['test:scope'],
    optional_scopes: ['notes:read'],
    constructor: { prototype: { polluted: true } },
  })

  test('ignores members that claim privileges', async () => {
    const text = JSON.stringify({
      redirect_uris: [redirectUri],
      ...privileges(it.users.a.id),
    }).replace(/^\{/, '{"__proto__":{"trusted":true,"polluted":true},')
    const { status, body } = await register(it.server, text)
    expect(status).toBe(201)
    const readBack = (await manage('GET', body)).body
    for (const shown of [body, readBack])
      for (const name of Object.keys(privileges(null)))
        if (!['client_id', 'client_secret', 'registration_access_token'].includes(name))
          expect(Object.hasOwn(shown, name), name).toBe(false)
    for (const value of [body.client_id, body.client_secret, body.registration_access_token])
      expect(value).not.toBe(chosen)
    const client = await clientOf(it.server, body.client_id)
    expect(client).toMatchObject({
      userId: null,
      isInternal: false,
      isPersonal: false,
      isConfidential: true,
      isVerified: false,
      origin: 'registration',
      allowedScopes: null,
    })
    expect(client.checkSecret(chosen, it.server.now())).toBe(false)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(({} as Record<string, unknown>).trusted).toBeUndefined()
  })

  test.each([undefined, 'client_secret_basic', 'client_secret_post'])(
    'requires the issued secret at the token endpoint from a client with the authentication method %s',
    async (method) => {
      const information = await registered(
        it.server,
        method === undefined ? {} : { token_endpoint_auth_method: method },
      )
      const agent = new UserAgent()
      const client = asTestClient(it.server, agent, information)
      const code = await client.code()
      const redemption = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: client.pkce.verifier,
        client_id: client.clientId,
      }
      const { issuer } = it.server
      for (const given of [redemption, { ...redemption, client_secret: 'wrong' }]) {
        const { status, body } = await tokenRequest(issuer, given)
        expect([status, body.error]).toEqual([401, 'invalid_client'])
      }
      expect((await client.redeem(code)).status).toBe(200)
    },
  )

  test.each<[string, Record<string, unknown>]>([
    ['the password grant', { grant_types: ['password'] }],
    ['the client_credentials grant', { grant_types: ['client_credentials'] }],
    [
      'the client_credentials grant for a public client',
      { token_endpoint_auth_method: 'none', grant_types: ['client_credentials'] },
    ],
    ['the grant type constructor', { grant_types: ['constructor'] }],
    ['the authentication method toString', { token_endpoint_auth_method: 'toString' }],
    ['an unknown response type', { response_types: ['__proto__'] }],
    ['a software statement', { software_statement: 'e30.e30.' }],
  ])('rejects metadata with %s', async (_what, metadata) => {
    expect(await refused({ redirect_uris: [redirectUri], ...metadata })).toMatch(
      /^400 (?:invalid_client_metadata|unapproved_software_statement)$/,
    )
  })

  test.each([
    ['test:scope', null],
    ['notes:read test:scope', ['notes:read']],
    ['bogus', null],
    ['__proto__ constructor', null],
  ])('does not register the internal and unknown ones of the scopes %j', async (scope, allowed) => {
    const { client_id } = await registered(it.server, { scope })
    const client = await it.server.server.clients.find(client_id)
    expect(client?.allowedScopes).toEqual(allowed)
  })

  test('rejects the implicit grant if it is disabled', async () => {
    await using code = await startAttackServer({
      dynamicRegistration: 'open',
      allowedResponseTypes: ['code'],
    })
    const before = await clientCount(code)
    const response = await register(code.server, {
      redirect_uris: [redirectUri],
      grant_types: ['implicit'],
      response_types: ['token'],
    })
    expect(refusal(response)).toBe('400 invalid_client_metadata')
    expect(await clientCount(code)).toBe(before)
  })

  test('never grants client_credentials or password to a client that registered itself', async () => {
    const information = await registered(it.server)
    for (const grant_type of ['client_credentials', 'password']) {
      const { status, body } = await tokenRequest(
        it.server.issuer,
        { grant_type, username: it.users.a.email, password: it.server.password },
        {
          basic: {
            clientId: information.client_id,
            clientSecret: information.client_secret,
          },
        },
      )
      expect(status).toBe(400)
      expect(body.error).toMatch(/^(?:unauthorized_client|unsupported_grant_type)$/)
    }
  })
})

describe('DR-03 Wrong types', () => {
  const uris = `"redirect_uris":["${redirectUri}"]`
  test.each<[string, unknown]>([
    ['an empty body', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['an array of metadata', `[{${uris}}]`],
    ['a string', '"x"'],
    ['a number', '1'],
    ['10,000 nested arrays', `{${uris},"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['10,000 nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['an object as name', { redirect_uris: [redirectUri], client_name: {} }],
    ['a name with a lone surrogate', `{${uris},"client_name":"\\ud800"}`],
    ['a duplicate member', `{${uris},"scope":"notes:read","scope":"notes:write"}`],
    ['a duplicate member __proto__', `{${uris},"__proto__":{},"__proto__":{}}`],
    ['a list as scope', { redirect_uris: [redirectUri], scope: ['notes:read'] }],
    ['a text as grant types', { redirect_uris: [redirectUri], grant_types: 'x' }],
    ['numbers as grant types', { redirect_uris: [redirectUri], grant_types: [1] }],
    ['an object as contacts', { redirect_uris: [redirectUri], contacts: {} }],
    ['a text as key set', { redirect_uris: [redirectUri], jwks: 'x' }],
  ])('rejects %s with invalid_client_metadata', async (_what, body) => {
    expect(await refused(body)).toBe('400 invalid_client_metadata')
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', redirectUri],
    ['an empty list', []],
    ['null in a list', [null]],
    ['a number in a list', [1]],
    ['an object', {}],
    ['an object in a list', [{ toString: redirectUri }]],
    ['a list in a list', [[redirectUri]]],
    ['a valid and an invalid URI', [redirectUri, 'javascript:alert(1)']],
    [
      'a list of 1,000 URIs',
      Array.from({ length: 1_000 }, (_, index) => `https://client.example/${index}`),
    ],
    ...forbiddenRedirectUris.map((uri): [string, unknown] => [JSON.stringify(uri), [uri]]),
  ])('rejects the redirect URIs %s', async (_what, redirect_uris) => {
    expect(await refused({ redirect_uris })).toMatch(
      /^400 invalid_(?:redirect_uri|client_metadata)$/,
    )
  })

  test('returns 413 for 10,000 redirect URIs', async () => {
    const redirect_uris = Array.from({ length: 10_000 }, (_, n) => `https://client.example/${n}`)
    expect(await refused({ redirect_uris })).toBe('413 invalid_request')
  })

  test.each(['\xff', '\xc3\x28', '\xed\xa0\x80', '\xf8\x88\x80\x80\x80'])(
    'rejects invalid UTF-8: %j',
    async (bytes) => {
      const before = await clientCount()
      const response = await rawHttp(it.server, {
        method: 'POST',
        target: '/oauth/register',
        headers: ['Content-Type: application/json'],
        body: `{${uris},"client_name":"${bytes}"}`,
      })
      expect([response.status, JSON.parse(response.text).error]).toEqual([
        400,
        'invalid_client_metadata',
      ])
      expect(await clientCount()).toBe(before)
    },
  )
})

describe('DR-05 Flood', () => {
  const behindProxy = { dynamicRegistration: 'open', trustedProxies: ['127.0.0.1'] } as const
  const from = (address: string) => ({ 'x-forwarded-for': address })

  test('returns 429 to an address or a network with too many registrations, and processes other requests', async () => {
    await using flooded = await startAttackServer(behindProxy)
    const app = flooded.server
    const limits = new Limits(storeOf(app.server).transients, app.now)
    for (let sent = 0; sent < 298; sent += 1) await limits.consume('registrations', '192.0.2.1')

    const responses = []
    for (let sent = 0; sent < 5; sent += 1)
      responses.push(await register(app, undefined, from('192.0.2.1')))
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 429, 429, 429])
    for (const response of responses.slice(2)) {
      expect(refusal(response)).toBe('429 temporarily_unavailable')
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(600)
    }
    // The sender forges the left address in the header, and the proxy appends the real address on the right.
    const spoofed = await register(app, undefined, from('198.51.100.7, 192.0.2.1'))
    expect(spoofed.status).toBe(429)
    expect((await register(app, undefined, from('192.0.2.2'))).status).toBe(201)

    const before = await clientCount(flooded)
    for (let sent = 0; sent < 600; sent += 1)
      await limits.consume('registrationsOfNetwork', '192.0.2.1').catch(() => {})
    for (let host = 10; host < 20; host += 1)
      expect((await register(app, undefined, from(`192.0.2.${host}`))).status).toBe(429)
    expect(await clientCount(flooded)).toBe(before)
    expect((await register(app, undefined, from('198.51.100.1'))).status).toBe(201)
    const { basic, grant_type } = { basic: flooded.clients.m2m, grant_type: 'client_credentials' }
    expect((await tokenRequest(app.issuer, { grant_type }, { basic })).status).toBe(200)

    app.advance(600)
    expect((await register(app, undefined, from('192.0.2.1'))).status).toBe(201)
  })

  test('truncates long names, and rejects a body of more than 64 KiB', async () => {
    const { body } = await register(it.server, {
      redirect_uris: [redirectUri],
      client_name: 'n'.repeat(10_000),
    })
    expect([...String(body.client_name)].length).toBeLessThanOrEqual(40)
    expect(await refused({ redirect_uris: [redirectUri], client_name: 'n'.repeat(66_000) })).toBe(
      '413 invalid_request',
    )
  })

  test('deletes the oldest of more than 10,000 unused clients, and expired unused clients [T597]', async () => {
    let pretended: number | undefined
    await using full = await startAttackServer({
      dynamicRegistration: 'open',
      aroundStore: async (operation, run) => {
        const result = await run()
        return operation.name === 'clients.countExpired' && pretended !== undefined
          ? (pretended as typeof result)
          : result
      },
    })
    const unused = await registered(full.server)
    const used = await registered(full.server)
    await asTestClient(full.server, new UserAgent(), used).tokens()
    const before = await clientCount(full)
    pretended = 10_000
    let late = await registered(full.server)
    // The server counts the unused clients at every 20th registration.
    const isLogged = () => full.server.log.some(({ event }) => event === 'registration.full')
    for (let more = 0; !isLogged() && more < 20; more += 1) late = await registered(full.server)
    expect((await manage('GET', unused)).status).toBe(401)
    expect(await clientCount(full)).toBeLessThanOrEqual(before)

    pretended = undefined
    full.server.advance(7 * day + 1)
    await full.server.server.sweep()
    expect((await manage('GET', late)).status).toBe(401)
    expect((await manage('GET', used)).status).toBe(200)
  })
})

describe('DR-06 Management tokens', () => {
  const withRefresh = { grant_types: ['authorization_code', 'refresh_token'] }
  const put = (information: Information, metadata: Record<string, unknown> = {}) =>
    manage('PUT', information, {
      client_id: information.client_id,
      redirect_uris: [redirectUri],
      ...metadata,
    })

  test('returns the same error for every client to which the registration token does not belong', async () => {
    const mine = await registered(it.server)
    const theirs = await registered(it.server)
    const before = await rowOf(theirs.client_id)
    const at = (clientId: string): Information => ({
      ...mine,
      registration_client_uri: `${it.server.issuer}/oauth/register/${clientId}`,
    })
    const foreign = [at(theirs.client_id), at('nobody'), at(it.clients.conf.clientId)]
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const responses = await Promise.all(
        foreign.map((one) =>
          manage(method, one, { client_id: theirs.client_id, redirect_uris: [redirectUri] }),
        ),
      )
      const said = responses.map((response) => [
        refusal(response),
        JSON.stringify(response.body),
        response.headers.get('www-authenticate'),
      ])
      expect(new Set(said.map(String)).size).toBe(1)
      expect(said[0]?.[0]).toBe('401 invalid_token')
    }
    expect(await rowOf(theirs.client_id)).toEqual(before)
  })

  test('deletes the client with 204, and rejects its token afterwards', async () => {
    const information = await registered(it.server)
    expect((await manage('DELETE', information)).status).toBe(204)
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect(refusal(await manage(method, information, {}))).toBe('401 invalid_token')
  })

  test('rejects the registration token in the query and at the API', async () => {
    const information = await registered(it.server)
    const { registration_client_uri: url, registration_access_token: token } = information
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const response = await sendJson(method, `${url}?access_token=${token}`, {})
      expect(response.status).toBe(401)
    }
    expect(await statusOf(it.server, token)).toBe(401)
    expect(await ping(it.server, token)).toBe(401)
    expect((await manage('GET', information)).status).toBe(200)
  })

  test('refuses to enable, change or delete a client that an administrator disabled', async () => {
    const information = await registered(it.server)
    await it.server.server.administration.actOnClient(information.client_id, 'disable', {
      user: it.server.user,
      address: '127.0.0.1',
    })
    const before = await rowOf(information.client_id)
    expect((await put(information, { is_disabled: false })).status).toBe(403)
    expect((await manage('DELETE', information)).status).toBe(403)
    expect(await rowOf(information.client_id)).toEqual(before)
  })

  test.each<[string, (information: Information) => unknown]>([
    ['without client_id', () => ({ redirect_uris: [redirectUri] })],
    ['with another client_id', () => ({ client_id: 'x', redirect_uris: [redirectUri] })],
    [
      'with a client secret that the client chose',
      ({ client_id }) => ({ client_id, client_secret: 'mine', redirect_uris: [redirectUri] }),
    ],
    [
      'with a list as scope',
      ({ client_id }) => ({ client_id, scope: ['test:scope'], redirect_uris: [redirectUri] }),
    ],
    [
      'with the client_credentials grant',
      ({ client_id }) => ({
        client_id,
        grant_types: ['client_credentials'],
        redirect_uris: [redirectUri],
      }),
    ],
    [
      'with the password grant',
      ({ client_id }) => ({
        client_id,
        grant_types: ['password'],
        redirect_uris: [redirectUri],
      }),
    ],
    [
      'with an invalid redirect URI',
      ({ client_id }) => ({ client_id, redirect_uris: ['javascript:alert(1)'] }),
    ],
    [
      'with private_key_jwt but without a key',
      ({ client_id }) => ({
        client_id,
        token_endpoint_auth_method: 'private_key_jwt',
        redirect_uris: [redirectUri],
      }),
    ],
  ])('rejects a PUT %s, and changes nothing', async (_what, metadata) => {
    const information = await registered(it.server)
    const before = await rowOf(information.client_id)
    const response = await manage('PUT', information, metadata(information))
    expect(refusal(response)).toMatch(/^400 invalid_(?:client_metadata|redirect_uri|request)$/)
    expect(await rowOf(information.client_id)).toEqual(before)
  })

  test('restricts existing tokens immediately when a client removes a scope', async () => {
    const scope = 'notes:read notes:write'
    const information = await registered(it.server, { ...withRefresh, scope })
    const client = asTestClient(it.server, new UserAgent(), information)
    const tokens = await client.tokens({ scope })
    const write = async (token: string) => {
      const response = await fetch(`${it.server.issuer}/api/notes`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"text":"x"}',
      })
      return response.status
    }
    expect(await write(tokens.access_token)).toBe(201)
    expect((await put(information, { ...withRefresh, scope: 'notes:read' })).status).toBe(200)
    expect(await write(tokens.access_token)).toBe(403)
    const refreshed = await client.refresh(tokens.refresh_token)
    expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'notes:read'])
    expect(await write(refreshed.body.access_token)).toBe(403)

    const other = await registered(it.server, withRefresh)
    const second = asTestClient(it.server, new UserAgent(), other)
    const { refresh_token } = await second.tokens()
    expect((await put(other, { grant_types: ['authorization_code'] })).status).toBe(200)
    expect((await second.refresh(refresh_token)).body.error).toBe('unauthorized_client')
  })

  test('revokes all tokens of a confidential client that becomes public', async () => {
    const information = await registered(it.server, withRefresh)
    const client = asTestClient(it.server, new UserAgent(), information)
    const { access_token } = await client.tokens()
    const changed = await put(information, { ...withRefresh, token_endpoint_auth_method: 'none' })
    expect(changed.status).toBe(200)
    expect(await ping(it.server, access_token)).toBe(401)
  })
})
