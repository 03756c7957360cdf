import { randomUUID } from 'node:crypto'
import { base64url, SignJWT } from 'jose'
import type { ClientInput } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Contract } from '../pages/api/contract.ts'
import { execute } from '../support/database.ts'
import { lacks } from '../support/needs.ts'
import { everything } from '../support/observed-server.ts'
import { makeDatabase } from '../support/postgres.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import {
  assertionOf,
  type Claims,
  type ClientKey,
  jwksOf,
  jwtBearer,
  newClientKey,
} from '../support/signing-client.ts'
import { refusal, type TokenResponse, tokenRequest } from '../support/user-agent.ts'

const withoutPostgres = await lacks('postgres')

const outbound = { dangerouslyAllowPrivateAddresses: true }

let app: TestServer
let site: RemoteSite
let key: ClientKey
let clientId: string
beforeAll(async () => {
  site = await remoteSite()
  app = await startServer({
    ...outbound,
    outbound: site.outbound,
    dangerouslyIgnoreLimits: true,
  })
  key = await newClientKey()
  clientId = await clientWith({ jwks: jwksOf(key) })
})
afterAll(async () => {
  await app.close()
  await site.close()
})

/** Registers a client that authenticates with its keys only. Returns its client ID. */
const clientWith = async (input: Partial<ClientInput>): Promise<string> =>
  (
    await app.client({
      tokenEndpointAuthMethod: 'private_key_jwt',
      defaultScopes: ['notes:read'],
      ...input,
    })
  ).clientId

/** Sends a client_credentials request with a client assertion. */
const withAssertion = async (
  assertion: string | undefined,
  given: Readonly<Record<string, string | undefined>> = {},
  issuer = app.issuer,
): Promise<TokenResponse> =>
  (await tokenRequest(issuer, {
    grant_type: 'client_credentials',
    client_assertion_type: jwtBearer,
    client_assertion: assertion,
    ...given,
  })) as unknown as TokenResponse

const outcome = (answer: TokenResponse): string => (answer.status === 200 ? '200' : refusal(answer))

const signed = (claims: Claims = {}, header: Readonly<Record<string, unknown>> = {}) =>
  assertionOf(app, clientId, key, claims, header)

const outcomeOf = async (
  claims: Claims,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> => outcome(await withAssertion(await signed(claims, header)))

const seconds = (ahead: number): number => Math.floor(app.now() / 1000) + ahead

describe('RFC 7523 §2.2 the parameters of client authentication', () => {
  test('§2.2 authenticates a client by client_assertion_type and client_assertion [T153]', async () => {
    const { status, body } = await withAssertion(await signed())
    expect(status).toBe(200)
    expect(body.scope).toBe('notes:read')
  })

  test('§2.2 requires both parameters, with the JWT bearer type [T154]', async () => {
    const saml = 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer'
    for (const client_assertion_type of [saml, jwtBearer.toUpperCase(), `${jwtBearer}x`, 'jwt']) {
      const answer = await withAssertion(await signed(), { client_assertion_type })
      expect(refusal(answer)).toBe('401 invalid_client')
    }
    const without = await withAssertion(await signed(), { client_assertion_type: undefined })
    expect(refusal(without)).toBe('400 invalid_request')
    expect(refusal(await withAssertion(undefined))).toBe('400 invalid_request')
    expect(refusal(await withAssertion(undefined, { client_id: clientId }))).toBe(
      '400 invalid_request',
    )
    expect(refusal(await withAssertion(''))).toBe('400 invalid_request')
  })

  test('§2.2 accepts only a single, well-formed JWT as client_assertion [T155]', async () => {
    const one = await signed()
    const [header = '', payload = '', signature = ''] = one.split('.')
    const malformed = [
      'x',
      'a.b',
      'a.b.c',
      'a.b.c.d.e',
      '..',
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `${one} ${await signed()}`,
      `${one},${await signed()}`,
      `${header}..${signature}`,
      `${header}.${base64url.encode('null')}.${signature}`,
      `${header}.${base64url.encode('[]')}.${signature}`,
      `${header}.${base64url.encode('"x"')}.${signature}`,
      `${base64url.encode('null')}.${payload}.${signature}`,
      JSON.stringify({ payload, protected: header, signature }),
      '\u{1F600}.\u{1F600}.\u{1F600}',
      'x'.repeat(60_000),
      `${header}.${base64url.encode(`{"iss":"${clientId}","sub":"${clientId}","x":"${'x'.repeat(9_000)}"}`)}.${signature}`,
    ]
    for (const assertion of malformed)
      expect([assertion.slice(0, 50), refusal(await withAssertion(assertion))]).toEqual([
        assertion.slice(0, 50),
        '401 invalid_client',
      ])
    expect(outcome(await withAssertion(one))).toBe('200')
  })

  test('§2.2 rejects a repeated parameter', async () => {
    for (const name of ['client_assertion', 'client_assertion_type', 'client_id']) {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: jwtBearer,
        client_assertion: await signed(),
        client_id: clientId,
      })
      body.append(name, body.get(name) ?? '')
      const response = await fetch(`${app.issuer}/oauth/token`, { method: 'POST', body })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: 'invalid_request' })
    }
  })

  test('RFC 7521 §4.2 rejects a client_id that differs from the client of the assertion [T181]', async () => {
    const other = await app.client()
    const right = await withAssertion(await signed(), { client_id: clientId })
    expect(outcome(right)).toBe('200')
    const wrong = await withAssertion(await signed(), { client_id: other.clientId })
    expect(refusal(wrong)).toBe('400 invalid_request')
  })

  test('RFC 6749 §2.3 rejects a second authentication method [T182]', async () => {
    const secret = await app.client({ jwks: jwksOf(key) })
    const assertion = await assertionOf(app, secret.clientId, key)
    const post = await withAssertion(assertion, {
      client_id: secret.clientId,
      client_secret: secret.clientSecret,
    })
    expect(refusal(post)).toBe('400 invalid_request')
    const basic = (await tokenRequest(
      app.issuer,
      {
        grant_type: 'client_credentials',
        client_assertion_type: jwtBearer,
        client_assertion: assertion,
      },
      { basic: secret },
    )) as unknown as TokenResponse
    expect(refusal(basic)).toBe('400 invalid_request')
    // The rejected requests did not consume the assertion.
    expect(outcome(await withAssertion(assertion))).toBe('200')
  })
})

describe('RFC 7523 §3 the claims of the assertion', () => {
  test('§3 (1) requires the client ID as iss [T156]', async () => {
    const other = await clientWith({ jwks: jwksOf(key) })
    for (const iss of [undefined, null, '', 1, {}, [clientId], 'x', other, `${clientId} `])
      expect(await outcomeOf({ iss })).toBe('401 invalid_client')
  })

  test('§3 (2) requires the client ID as sub [T157]', async () => {
    const other = await clientWith({ jwks: jwksOf(key) })
    for (const sub of [undefined, null, '', 1, {}, [clientId], 'x', other, clientId.toUpperCase()])
      expect(await outcomeOf({ sub })).toBe('401 invalid_client')
    for (const both of ['\u0000', 'a\nb', 'x'.repeat(1_001), '\uD800', "' or 1=1 --", '__proto__'])
      expect(await outcomeOf({ iss: both, sub: both })).toBe('401 invalid_client')
  })

  test('§3 (3) accepts only the issuer and URLs of its own endpoints as aud [T158]', async () => {
    const { issuer } = app
    const token = `${issuer}/oauth/token`
    const other = 'https://other.example'
    const wrong = [
      undefined,
      null,
      '',
      1,
      [],
      other,
      `${issuer}/`,
      issuer.replace('http', 'HTTP'),
      issuer.replace('localhost', 'LOCALHOST'),
      `${token}/`,
      `${token}?x`,
      token.toUpperCase(),
      `${issuer}/oauth`,
      `${issuer}/oauth/authorize`,
      `${issuer}/oauth/unknown`,
      [issuer, other],
      [token, `${other}/oauth/token`],
      [issuer, 1],
      [issuer, ''],
      [[issuer]],
      { [issuer]: true },
    ]
    for (const aud of wrong)
      expect([aud, await outcomeOf({ aud })]).toEqual([aud, '401 invalid_client'])
  })

  test('§3 (3) RFC 9126 §2 accepts the issuer and each endpoint of the metadata, alone or in a list [T1400]', async () => {
    await using place = await startServer({ ...everything, trustedProxies: [] })
    const { issuer } = place
    const { clientId: id } = await place.client({
      jwks: jwksOf(key),
      defaultScopes: ['notes:read'],
    })
    const response = await fetch(`${issuer}/.well-known/oauth-authorization-server`)
    const metadata = Object.values((await response.json()) as object) as readonly unknown[]
    // A client authenticates itself at these endpoints.
    const addresses = (await Contract.of(place)).operations
      .filter(({ security = [] }) => security.some((scheme) => 'client' in scheme))
      .map(({ path }) => `${issuer}${path}`)
    expect(addresses).toHaveLength(new Set(addresses).size)
    expect(addresses.length).toBeGreaterThan(4)
    expect(addresses.filter((url) => !metadata.includes(url))).toEqual([])
    const right = [issuer, [issuer], ...addresses, addresses, [issuer, ...addresses]]
    for (const aud of right) {
      const answer = await withAssertion(await assertionOf(place, id, key, { aud }), {}, issuer)
      expect([aud, outcome(answer)]).toEqual([aud, '200'])
    }
  })

  test('§3 (3) accepts an endpoint as aud only if the endpoint is enabled [T1401]', async () => {
    await using place = await startServer({ introspection: false })
    const { clientId: id } = await place.client({
      jwks: jwksOf(key),
      defaultScopes: ['notes:read'],
    })
    const send = async (path: string) => {
      const aud = `${place.issuer}/oauth/${path}`
      const assertion = await assertionOf(place, id, key, { aud })
      return outcome(await withAssertion(assertion, {}, place.issuer))
    }
    expect([await send('introspect'), await send('revoke')]).toEqual(['401 invalid_client', '200'])
  })

  test.each([
    ['par', { response_type: 'code', redirect_uri: redirectUri }, 201],
    ['introspect', { token: 'x' }, 200],
    ['revoke', { token: 'x' }, 200],
    ['device_authorization', {}, 200],
  ])(
    '§2.2 accepts an assertion whose aud is the URL of its own endpoint at /oauth/%s [T1402]',
    async (path, fields, status) => {
      await using place = await startServer({ deviceAuthorization: true })
      const { clientId: id } = await place.client({
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwks: jwksOf(key),
        defaultScopes: ['notes:read'],
      })
      const url = `${place.issuer}/oauth/${path}`
      const send = async (claims: Claims) => {
        const body = new URLSearchParams({
          client_assertion_type: jwtBearer,
          client_assertion: await assertionOf(place, id, key, claims),
          ...(fields as Record<string, string>),
        })
        return (await fetch(url, { method: 'POST', body })).status
      }
      expect(await send({ aud: url })).toBe(status)
      expect(await send({ aud: 'https://other.example' })).toBe(401)
    },
  )

  test('§3 (4) requires an exp in the near future [T159]', async () => {
    const wrong = [undefined, null, '9999999999', {}, -1, 0, seconds(-61), seconds(3_661), 9e15]
    for (const exp of wrong)
      expect([exp, await outcomeOf({ exp })]).toEqual([exp, '401 invalid_client'])
    // The server tolerates a clock skew of one minute.
    for (const ahead of [-58, 0, 600, 3_600, 3_658])
      expect([ahead, await outcomeOf({ exp: seconds(ahead) })]).toEqual([ahead, '200'])
  })

  test('§3 (5) rejects an assertion before its nbf [T160]', async () => {
    for (const nbf of [seconds(62), '1', {}])
      expect(await outcomeOf({ nbf })).toBe('401 invalid_client')
    for (const ahead of [58, 0, -600]) expect(await outcomeOf({ nbf: seconds(ahead) })).toBe('200')
  })

  test('§3 (6) accepts a missing iat, and rejects an iat in the future [T161]', async () => {
    for (const iat of [seconds(62), '1', {}])
      expect(await outcomeOf({ iat })).toBe('401 invalid_client')
    for (const iat of [undefined, seconds(58), seconds(-600)])
      expect(await outcomeOf({ iat })).toBe('200')
  })

  test('§3 (7) requires a jti, and accepts each jti only once [T162]', async () => {
    for (const jti of [undefined, null, '', 1, {}, ['x'], 'x'.repeat(256)])
      expect([jti, await outcomeOf({ jti })]).toEqual([jti, '401 invalid_client'])
    const assertion = await signed()
    expect(outcome(await withAssertion(assertion))).toBe('200')
    const again = await withAssertion(assertion)
    expect(refusal(again)).toBe('401 invalid_client')
    expect(again.body.error_description).toBe(
      'The assertion was already used: a jti is accepted only once.',
    )
    const jti = randomUUID()
    expect(await outcomeOf({ jti })).toBe('200')
    expect(await outcomeOf({ jti, exp: seconds(120) })).toBe('401 invalid_client')
  })

  test('§3 (7) accepts the same jti from another client [T163]', async () => {
    const other = await clientWith({ jwks: jwksOf(key) })
    const jti = randomUUID()
    expect(await outcomeOf({ jti })).toBe('200')
    expect(outcome(await withAssertion(await assertionOf(app, other, key, { jti })))).toBe('200')
  })

  test('§3 (7) rejects a used jti until the assertion expires [T164]', async () => {
    await using place = await startServer()
    const { clientId: id } = await place.client({
      jwks: jwksOf(key),
      defaultScopes: ['notes:read'],
    })
    const jti = randomUUID()
    const exp = Math.floor(place.now() / 1000) + 3_600
    const send = async () =>
      outcome(
        await withAssertion(await assertionOf(place, id, key, { jti, exp }), {}, place.issuer),
      )
    expect(await send()).toBe('200')
    for (const after of [3_599, 59]) {
      place.advance(after)
      await place.server.sweep()
      expect(await send()).toBe('401 invalid_client')
    }
  })

  test('§3 (7) RV-05 rejects a used assertion on a node whose clock is two minutes slow', async () => {
    await using place = await startServer()
    const clock = () => place.now() - 120_000
    await using behind = await startServer({ beside: place, issuer: place.issuer, clock })
    const { clientId: id } = await place.client({
      jwks: jwksOf(key),
      defaultScopes: ['notes:read'],
    })
    const iat = Math.floor(place.now() / 1000)
    const claims = { jti: randomUUID(), iat, exp: iat + 300 }
    const send = async (issuer: string) =>
      outcome(await withAssertion(await assertionOf(place, id, key, claims), {}, issuer))
    expect(await send(place.issuer)).toBe('200')
    // On the first node, the assertion has expired, even with the tolerated clock skew. On the slow node, it is valid.
    place.advance(300 + 61)
    await place.server.sweep()
    const fresh = { ...claims, jti: randomUUID() }
    const there = await withAssertion(await assertionOf(place, id, key, fresh), {}, behind.issuer)
    expect(outcome(there)).toBe('200')
    expect(await send(behind.issuer)).toBe('401 invalid_client')
  })

  test('§3 (7) accepts only one of 20 concurrent requests with the same assertion on two nodes [T165]', async () => {
    await using second = await startServer({ beside: app, issuer: app.issuer })
    const assertion = await signed()
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        withAssertion(assertion, {}, index % 2 === 0 ? app.issuer : second.issuer),
      ),
    )
    expect(responses.map(outcome).filter((status) => status === '200').length).toBe(1)
    expect(responses.map(outcome).filter((status) => status === '401 invalid_client').length).toBe(
      19,
    )
  })

  test.each(withoutPostgres ? ['SQLite'] : ['SQLite', 'PostgreSQL'])(
    '§3 (7) RFC 7519 §2 accepts an assertion with a fractional exp only once on %s',
    async (name) => {
      await using all = new AsyncDisposableStack()
      const database = name === 'PostgreSQL' ? await makeDatabase() : undefined
      if (database) all.defer(database.drop)
      const server = await startServer(database ? { store: postgres(database.url) } : {})
      all.use(server)
      const { clientId: id } = await server.client({
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwks: jwksOf(key),
        defaultScopes: ['notes:read'],
      })
      const exp = Math.floor(server.now() / 1000) + 60.123456789
      const assertion = await assertionOf(server, id, key, { exp })
      const statuses = []
      for (let times = 0; times < 2; times += 1)
        statuses.push((await withAssertion(assertion, {}, server.issuer)).status)
      expect(statuses).toEqual([200, 401])
    },
  )

  test('§3 (7) does not consume a rejected assertion [T166]', async () => {
    const jti = randomUUID()
    expect(await outcomeOf({ jti, aud: 'https://other.example' })).toBe('401 invalid_client')
    expect(await outcomeOf({ jti })).toBe('200')
  })

  test('§3 (8) ignores unknown claims [T167]', async () => {
    expect(await outcomeOf({ scope: 'x', __proto__: 1, admin: true, client_id: 'other' })).toBe(
      '200',
    )
  })

  test('§3.2 returns the reason for a rejection only if the signature is valid [T173]', async () => {
    const { body } = await withAssertion(await signed({ aud: 'https://other.example' }))
    expect(body.error_description).toBe(
      `aud must be the issuer, ${app.issuer}, or the URL of an endpoint in its metadata, and nothing else.`,
    )
    const [header, payload] = (await signed({ aud: 'x' })).split('.')
    const forged = await withAssertion(`${header}.${payload}.${'A'.repeat(86)}`)
    expect(refusal(forged)).toBe('401 invalid_client')
    expect(forged.body.error_description).toBe(
      'The client is unknown, or could not be authenticated.',
    )
  })
})

describe('RFC 7523 §3 (9) the signature of the assertion', () => {
  test('§3 (9) rejects a signature of another key or of other data [T168]', async () => {
    const other = await newClientKey('ES256', { kid: key.jwk.kid ?? '' })
    const byOther = await assertionOf(app, clientId, other)
    expect(refusal(await withAssertion(byOther))).toBe('401 invalid_client')
    const [header, , signature] = (await signed()).split('.')
    const payload = (await signed()).split('.')[1]
    const moved = await withAssertion(`${header}.${payload}.${signature}`)
    expect(refusal(moved)).toBe('401 invalid_client')
  })

  test.each([
    { alg: 'none' },
    { alg: 'None' },
    { alg: 'nOnE' },
    { alg: 'HS256' },
    { alg: 'HS512' },
    { alg: 'RS1' },
    { alg: '' },
    { alg: null },
    { alg: [] },
    { alg: { a: 1 } },
    {},
  ])('JW-01, JW-02 rejects the header %j [T169]', async ({ alg }) => {
    const [, payload] = (await signed()).split('.')
    const header = base64url.encode(JSON.stringify({ alg, kid: key.jwk.kid }))
    for (const signature of ['', 'A'.repeat(43), 'A'.repeat(86)])
      expect(refusal(await withAssertion(`${header}.${payload}.${signature}`))).toBe(
        '401 invalid_client',
      )
  })

  test('JW-02 does not accept the client secret or the public key as an HMAC key [T170]', async () => {
    const { clientId: id, clientSecret } = await app.client({ jwks: jwksOf(key) })
    const at = seconds(0)
    const claims = { iss: id, sub: id, aud: app.issuer, exp: at + 60 }
    for (const secret of [clientSecret, JSON.stringify(key.jwk), jwksOf(key), '']) {
      const assertion = new SignJWT({ ...claims, jti: randomUUID() })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(secret.padEnd(32, '\0')))
      expect(refusal(await withAssertion(await assertion))).toBe('401 invalid_client')
    }
  })

  test('JW-03 ignores a key or a key URL in the header of the assertion [T171]', async () => {
    const evil = await newClientKey()
    const before = site.requests.length
    const headers = [
      { jwk: evil.jwk },
      { jku: site.url('/jwks.json') },
      { x5u: site.url('/x5u') },
      { kid: '../../dev/null' },
      { kid: "' or 1=1" },
      { kid: 'x'.repeat(2_000) },
    ]
    for (const header of headers) {
      const assertion = await assertionOf(app, clientId, evil, {}, { kid: key.jwk.kid, ...header })
      expect(refusal(await withAssertion(assertion))).toBe('401 invalid_client')
    }
    expect(site.requests.length).toBe(before)
  })

  test('JW-03 rejects an unknown critical extension [T172]', async () => {
    // jose refuses to create such assertions, so sign them here. Only the extension makes them invalid.
    const send = async (more: Readonly<Record<string, unknown>>) => {
      const [, payload = ''] = (await signed()).split('.')
      const header = base64url.encode(JSON.stringify({ alg: 'ES256', kid: key.jwk.kid, ...more }))
      const input = new TextEncoder().encode(`${header}.${payload}`)
      const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
      const signature = new Uint8Array(await crypto.subtle.sign(algorithm, key.privateKey, input))
      const assertion = `${header}.${payload}.${base64url.encode(signature)}`
      return outcome(await withAssertion(assertion))
    }
    expect(await send({})).toBe('200')
    for (const more of [
      { crit: ['x'], x: 1 },
      { crit: ['b64'], b64: false },
    ])
      expect(await send(more)).toBe('401 invalid_client')
  })

  test('JW-06 rejects JWTs of other types, such as a DPoP proof or an access token [T183]', async () => {
    for (const typ of ['dpop+jwt', 'at+jwt', 'application/at+jwt', 'logout+jwt', ''])
      expect([typ, await outcomeOf({}, { typ })]).toEqual([typ, '401 invalid_client'])
    const right = [
      'JWT',
      'jwt',
      'client-authentication+jwt',
      'application/client-authentication+jwt',
    ]
    for (const typ of right) expect([typ, await outcomeOf({}, { typ })]).toEqual([typ, '200'])
  })

  test.each(['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'])(
    '§5 supports the algorithm %s and lists it in the metadata [T176]',
    async (alg) => {
      const own = await newClientKey(alg)
      const id = await clientWith({ jwks: jwksOf(own) })
      expect(outcome(await withAssertion(await assertionOf(app, id, own)))).toBe('200')
      const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
      const { token_endpoint_auth_methods_supported: methods, ...more } =
        (await metadata.json()) as Record<string, readonly string[]>
      expect(methods).toContain('private_key_jwt')
      expect(more.token_endpoint_auth_signing_alg_values_supported).toContain(alg)
    },
  )

  test('rejects an RS256 signature if the key is registered for PS256', async () => {
    const own = await newClientKey('RS256', { alg: 'PS256' })
    const id = await clientWith({ jwks: jwksOf(own) })
    expect(refusal(await withAssertion(await assertionOf(app, id, own)))).toBe('401 invalid_client')
  })

  test('tries every matching key if the assertion has no kid', async () => {
    const keys = await Promise.all([1, 2, 3].map(() => newClientKey('ES256', { kid: null })))
    const id = await clientWith({ jwks: jwksOf(...keys) })
    for (const own of keys)
      expect(outcome(await withAssertion(await assertionOf(app, id, own)))).toBe('200')
    const evil = await newClientKey('ES256', { kid: null })
    expect(refusal(await withAssertion(await assertionOf(app, id, evil)))).toBe(
      '401 invalid_client',
    )
  })
})

describe('clients that may authenticate with an assertion', () => {
  test('rejects a secret from a client with keys, and an assertion from a client with a secret', async () => {
    const keyed = await app.client({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(key),
      defaultScopes: ['notes:read'],
    })
    const grant = { grant_type: 'client_credentials' }
    const basic = await tokenRequest(app.issuer, grant, { basic: keyed })
    expect(refusal(basic as unknown as TokenResponse)).toBe('401 invalid_client')
    const post = await tokenRequest(app.issuer, {
      ...grant,
      client_id: keyed.clientId,
      client_secret: keyed.clientSecret,
    })
    expect(refusal(post as unknown as TokenResponse)).toBe('401 invalid_client')
    const none = await tokenRequest(app.issuer, { ...grant, client_id: keyed.clientId })
    expect(refusal(none as unknown as TokenResponse)).toBe('401 invalid_client')

    for (const tokenEndpointAuthMethod of ['client_secret_basic', 'client_secret_post'] as const) {
      const { clientId: id } = await app.client({ tokenEndpointAuthMethod, jwks: jwksOf(key) })
      expect(refusal(await withAssertion(await assertionOf(app, id, key)))).toBe(
        '401 invalid_client',
      )
    }
    const without = await app.client()
    expect(refusal(await withAssertion(await assertionOf(app, without.clientId, key)))).toBe(
      '401 invalid_client',
    )
    const open = await app.client({ isConfidential: false, jwks: jwksOf(key) })
    expect(refusal(await withAssertion(await assertionOf(app, open.clientId, key)))).toBe(
      '401 invalid_client',
    )
  })

  test('returns the same response for an unknown client, a disabled client, and a client with an inactive owner', async () => {
    const owner = await app.server.users.create({ email: 'owner@example.org', password: null })
    const inactive = await clientWith({ jwks: jwksOf(key), userId: owner.id })
    await app.server.users.setActive(owner.id, false)
    const disabled = await clientWith({ jwks: jwksOf(key) })
    await app.server.clients.mark(disabled, { isDisabled: true })
    const responses = await Promise.all(
      ['nobody', inactive, disabled].map(async (id) =>
        withAssertion(await assertionOf(app, id, key)),
      ),
    )
    for (const answer of responses) {
      expect(refusal(answer)).toBe('401 invalid_client')
      expect(answer.body).toEqual(responses[0]?.body)
    }
  })

  test('rejects a disabled method, and omits it from the metadata', async () => {
    await using other = await startServer({ clientAuthentication: ['client_secret_basic'] })
    const { clientId: id } = await other.client({ jwks: jwksOf(key) })
    const assertion = await assertionOf(other, id, key)
    expect(refusal(await withAssertion(assertion, {}, other.issuer))).toBe('401 invalid_client')
    const metadata = await fetch(`${other.issuer}/.well-known/oauth-authorization-server`)
    const text = await metadata.text()
    expect(text).not.toContain('private_key_jwt')
    expect(text).not.toContain('token_endpoint_auth_signing_alg_values_supported')
  })

  test('FAPI 2.0 §5.3.2.1, §5.4.1 in the profile fapi2, requires a string as aud and rejects RS256 [T177]', async () => {
    await using strict = await startServer({ securityProfile: 'fapi2' })
    const [rs, ps] = [await newClientKey('RS256'), await newClientKey('PS256')]
    const { clientId: id } = await strict.client({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(rs, ps),
      defaultScopes: ['notes:read'],
    })
    const send = async (own: ClientKey, claims: Claims = {}) => {
      const body = new URLSearchParams({
        token: 'x',
        client_assertion_type: jwtBearer,
        client_assertion: await assertionOf(strict, id, own, claims),
      })
      const response = await fetch(`${strict.issuer}/oauth/introspect`, { method: 'POST', body })
      return ((await response.json()) as Record<string, unknown>).error_description
    }
    expect(await send(rs)).toBe('The client is unknown, or could not be authenticated.')
    expect(await send(ps, { aud: [strict.issuer] })).toMatch(/^aud must be the issuer/)
    expect(await send(ps, { exp: Math.floor(strict.now() / 1000) + 661 })).toMatch(/^exp must not/)
    expect(await send(ps)).toBeUndefined()
    const metadata = await fetch(`${strict.issuer}/.well-known/oauth-authorization-server`)
    expect(
      ((await metadata.json()) as Record<string, unknown>)
        .token_endpoint_auth_signing_alg_values_supported,
    ).not.toContain('RS256')
  })
})

describe('public keys at the jwks_uri of a client', () => {
  let paths = 0
  const served = async (...keys: readonly ClientKey[]): Promise<{ path: string; id: string }> => {
    paths += 1
    const path = `/jwks-${paths}.json`
    site.serve(path, jwksOf(...keys), { 'content-type': 'application/jwk-set+json' })
    return { path, id: await clientWith({ jwksUri: site.url(path) }) }
  }
  const timesAsked = (path: string): number =>
    site.requests.filter(({ url }) => url === path).length
  const send = async (id: string, own: ClientKey) => withAssertion(await assertionOf(app, id, own))

  test('fetches the keys once and caches them [T179]', async () => {
    const own = await newClientKey()
    const { path, id } = await served(own)
    for (let times = 0; times < 5; times += 1) expect(outcome(await send(id, own))).toBe('200')
    expect(timesAsked(path)).toBe(1)
  })

  test('fetches the keys again for an unknown kid, but at most once a minute [T180]', async () => {
    const [old, young] = [await newClientKey(), await newClientKey()]
    const { path, id } = await served(old)
    expect(outcome(await send(id, old))).toBe('200')
    site.serve(path, jwksOf(old, young), { 'cache-control': 'max-age=3600' })
    expect(refusal(await send(id, young))).toBe('401 invalid_client')
    expect(timesAsked(path)).toBe(1)
    app.advance(61)
    expect(outcome(await send(id, young))).toBe('200')
    expect(timesAsked(path)).toBe(2)
    const evil = await newClientKey()
    for (let times = 0; times < 5; times += 1)
      expect(refusal(await send(id, evil))).toBe('401 invalid_client')
    expect(timesAsked(path)).toBe(2)
  })

  test('returns 503 while the jwks_uri is unavailable, and accepts the same assertion later [T174]', async () => {
    const own = await newClientKey()
    const { path, id } = await served(own)
    site.respond(path, (_request, response) => response.writeHead(500).end())
    const assertion = await assertionOf(app, id, own)
    const away = await withAssertion(assertion)
    expect(refusal(away)).toBe('503 temporarily_unavailable')
    expect(away.headers.get('retry-after')).toBe('5')
    expect(away.body.error_description).toBe(
      'The keys of the client could not be used: Its host responded with the status 500.',
    )
    site.serve(path, jwksOf(own))
    app.advance(4)
    expect(outcome(await withAssertion(assertion))).toBe('200')
  })

  test('returns invalid_client if the jwks_uri returns no keys, a secret key or a redirect [T175]', async () => {
    const own = await newClientKey()
    const secret = { kty: 'oct', k: 'AAAA', kid: own.jwk.kid }
    for (const body of ['{}', '[]', '{"keys":[]}', JSON.stringify({ keys: [own.jwk, secret] })]) {
      const { path, id } = await served(own)
      site.serve(path, body)
      const answer = await send(id, own)
      expect(refusal(answer)).toBe('401 invalid_client')
      expect(answer.body.error_description).toMatch(/^The keys of the client could not be used: /)
    }
    const { path, id } = await served(own)
    site.respond(path, (_request, response) => response.writeHead(302, { location: '/' }).end())
    expect(refusal(await send(id, own))).toBe('401 invalid_client')
  })

  test('does not connect to a private IP address [T477]', async () => {
    await using safe = await startServer({ outbound: site.outbound })
    const own = await newClientKey()
    const path = '/private-jwks.json'
    site.serve(path, jwksOf(own))
    const { clientId: id } = await safe.client({ jwksUri: site.url(path) })
    const answer = await withAssertion(await assertionOf(safe, id, own), {}, safe.issuer)
    expect(refusal(answer)).toBe('503 temporarily_unavailable')
    expect(timesAsked(path)).toBe(0)
  })

  test('returns 429 after one IP address has caused too many fetches of keys', async () => {
    const limits = { clientDocuments: { points: 3, seconds: 60 } }
    await using strict = await startServer({ ...outbound, outbound: site.outbound, limits })
    const own = await newClientKey()
    const begin = site.requests.length
    const ids = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const path = `/limited-${name}.json`
        site.serve(path, jwksOf(own), { 'cache-control': 'max-age=3600' })
        return (await strict.client({ jwksUri: site.url(path), defaultScopes: ['notes:read'] }))
          .clientId
      }),
    )
    const sendTo = async (id = '', by = own) =>
      withAssertion(await assertionOf(strict, id, by), {}, strict.issuer)
    const [first, , , last] = ids
    for (const id of ids.slice(0, 3)) expect(outcome(await sendTo(id))).toBe('200')
    const refused = await sendTo(last)
    expect(refusal(refused)).toBe('429 temporarily_unavailable')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Cached keys need no fetch.
    expect(outcome(await sendTo(first))).toBe('200')
    expect(site.requests.length - begin).toBe(3)
    // An unknown key causes another fetch, which the limit also counts.
    strict.advance(60)
    for (const id of ids.slice(0, 3))
      expect(refusal(await sendTo(id, await newClientKey()))).toBe('401 invalid_client')
    expect(refusal(await sendTo(last))).toBe('429 temporarily_unavailable')
    strict.advance(60)
    expect(outcome(await sendTo(last))).toBe('200')
    expect(site.requests.length - begin).toBe(7)
  })

  test('does not fetch the keys of a disabled client or of a client with another method', async () => {
    const own = await newClientKey()
    const { path, id } = await served(own)
    await app.server.clients.mark(id, { isDisabled: true })
    const other = await app.client({
      jwksUri: site.url(path),
      tokenEndpointAuthMethod: 'client_secret_basic',
    })
    for (const named of [id, other.clientId])
      expect(refusal(await send(named, own))).toBe('401 invalid_client')
    expect(timesAsked(path)).toBe(0)
  })

  test('ignores a key of an unsupported type (RFC 7517 §5)', async () => {
    const own = await newClientKey()
    const { path, id } = await served(own)
    const strange = { kty: 'XYZ', kid: 'strange' }
    const forEncryption = (await newClientKey('ES256', { use: 'enc' })).jwk
    site.serve(path, { keys: [strange, forEncryption, { kty: 'EC', crv: 'P-999' }, own.jwk] })
    expect(outcome(await send(id, own))).toBe('200')
  })
})

describe('registration of public keys', () => {
  const fieldOf = async (input: Partial<ClientInput>): Promise<string> =>
    app
      .client(input)
      .then(() => 'registered')
      .catch(({ field, message }) => `${field}: ${message}`)

  test('requires either jwks or jwks_uri for private_key_jwt [T178]', async () => {
    const jwks = jwksOf(key)
    const jwksUri = 'https://client.example/jwks.json'
    const tokenEndpointAuthMethod = 'private_key_jwt'
    expect(await fieldOf({ tokenEndpointAuthMethod })).toMatch(/^jwks: /)
    expect(await fieldOf({ tokenEndpointAuthMethod, jwks, jwksUri })).toMatch(/^jwks: /)
    expect(await fieldOf({ jwks, jwksUri })).toMatch(/^jwks: /)
    expect(await fieldOf({ tokenEndpointAuthMethod, jwks, isConfidential: false })).toMatch(
      /^token_endpoint_auth_method: /,
    )
    expect(await fieldOf({ tokenEndpointAuthMethod, jwks })).toBe('registered')
    expect(await fieldOf({ tokenEndpointAuthMethod, jwksUri })).toBe('registered')
  })

  test('rejects an update that removes the keys or sets both jwks and jwks_uri', async () => {
    const id = await clientWith({ jwks: jwksOf(key) })
    const { clients } = app.server
    await expect(clients.update(id, { jwks: null })).rejects.toMatchObject({ field: 'jwks' })
    const jwksUri = 'https://client.example/jwks.json'
    await expect(clients.update(id, { jwksUri })).rejects.toMatchObject({ field: 'jwks' })
    const moved = await clients.update(id, { jwks: null, jwksUri })
    expect(moved).toMatchObject({ jwks: null, jwksUri })
    const named = await clients.update(id, { name: 'Another' })
    expect(named).toMatchObject({ jwks: null, jwksUri })
  })

  test.each([
    ['', 'must be a JSON Web Key Set'],
    ['{', 'must be a JSON Web Key Set'],
    ['null', 'must be a JSON Web Key Set'],
    ['[]', 'must be a JSON Web Key Set'],
    ['{"keys":{}}', 'must be a JSON Web Key Set'],
    ['{"keys":[1]}', 'must be a JSON Web Key Set'],
    ['{"keys":[null]}', 'must be a JSON Web Key Set'],
    ['{"keys":[]}', 'The set must contain a signature key'],
    ['{"keys":[{}]}', 'The set must contain a signature key'],
    [
      '{"keys":[{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}]}',
      'The set must contain a signature key',
    ],
    ['{"keys":[{"kty":"OKP","crv":"X25519","x":"AA"}]}', 'The set must contain a signature key'],
    ['{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}', 'A key is malformed.'],
    ['{"keys":[{"kty":"EC","crv":"P-256"}]}', 'A key is malformed.'],
    ['{"keys":[{"kty":"RSA","n":"AA"}]}', 'A key is malformed.'],
    ['{"keys":[{"kty":"oct","k":"AAAA"}]}', 'must not contain secret keys'],
  ])('rejects jwks %s', async (jwks, sentence) => {
    const found = await fieldOf({ jwks })
    expect(found).toMatch(/^jwks: /)
    expect(found).toContain(sentence)
  })

  test('rejects a private key, a short RSA key, an invalid kid, 21 keys, and more than 16 KiB', async () => {
    const { exportJWK, generateKeyPair } = await import('jose')
    const pair = await generateKeyPair('ES256', { extractable: true })
    const secret = await exportJWK(pair.privateKey)
    const found = await fieldOf({ jwks: JSON.stringify({ keys: [key.jwk, secret] }) })
    expect(found).toMatch(/must not contain secret keys/)
    expect(found).not.toContain(secret.d)
    const { generateKeyPairSync } = await import('node:crypto')
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
    const jwks = JSON.stringify({ keys: [short.export({ format: 'jwk' })] })
    expect(await fieldOf({ jwks })).toMatch(/must have 2048 to 8192 bits/)
    expect(await fieldOf({ jwks: JSON.stringify({ keys: [{ ...key.jwk, kid: 1 }] }) })).toMatch(
      /kid/,
    )
    const large = `{"keys":[],"x":"${'x'.repeat(16_384)}"}`
    expect(await fieldOf({ jwks: large })).toMatch(/longer than 16384 characters/)
    const many = Array.from({ length: 21 }, () => ({ ...key.jwk, kid: randomUUID() }))
    expect(await fieldOf({ jwks: JSON.stringify({ keys: many }) })).toMatch(/at most 20 keys/)
  })

  test('stores only the public members of a key', async () => {
    const jwks = JSON.stringify({ keys: [{ ...key.jwk, x5c: ['AAAA'], note: 'x' }], more: 1 })
    const id = await clientWith({ jwks })
    const { jwks: kept } = (await app.server.clients.find(id)) ?? { jwks: null }
    expect(JSON.parse(kept ?? '')).toEqual({ keys: [key.jwk] })
  })

  test.each([
    'http://client.example/jwks.json',
    'javascript:alert(1)',
    'https://user:pw@client.example/jwks',
    'https://client.example/jwks#x',
    'https://client.example:25/jwks',
    'https://127.0.0.1/jwks',
    'https://localhost/jwks',
    '',
  ])('XS-03 rejects the jwks_uri %j', async (jwksUri) => {
    await using safe = await startServer()
    await expect(safe.client({ jwksUri })).rejects.toMatchObject({ field: 'jwks_uri' })
  })

  test('rejects assertions of a client whose keys were changed directly in the database', async () => {
    const evil = await newClientKey()
    const id = await clientWith({ jwks: jwksOf(key) })
    const alter = 'update oauth2server_client set jwks = ? where client_id = ?'
    expect(execute(app.database, alter, jwksOf(evil), id)).toBe(1)
    expect(refusal(await withAssertion(await assertionOf(app, id, evil)))).toBe(
      '401 invalid_client',
    )
    expect(refusal(await withAssertion(await assertionOf(app, id, key)))).toBe('401 invalid_client')
  })
})
