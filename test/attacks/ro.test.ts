import { createHmac, createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf, postForm } from '../support/form.ts'
import { rawHttp } from '../support/raw-http.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { objectUrl, requestObjectOf } from '../support/request-object.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import {
  assertionOf,
  type ClientKey,
  jwksOf,
  jwtBearer,
  newClientKey,
} from '../support/signing-client.ts'
import { responseTo, TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'

// Request objects (RFC 9101) of an attacker, who knows the client ID, the public keys and earlier requests of a client.

let site: RemoteSite
let app: TestServer
let agent: UserAgent
let key: ClientKey
let client: TestClient
let evilClient: TestClient
let evilKey: ClientKey

const options = { requestObjects: true, openidConnect: true } as const

beforeAll(async () => {
  site = await remoteSite()
  key = await newClientKey('RS256')
  evilKey = await newClientKey('RS256')
  app = await startServer({
    ...options,
    outbound: site.outbound,
    dangerouslyAllowPrivateAddresses: true,
    dangerouslyIgnoreLimits: true,
  })
  agent = new UserAgent()
  await agent.logIn(app)
  client = await TestClient.register(app, agent, { jwks: jwksOf(key) })
  evilClient = await TestClient.register(app, agent, { jwks: jwksOf(evilKey) })
})
afterAll(async () => {
  await app.close()
  await site.close()
})

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const seconds = (ahead: number): number => Math.floor(app.now() / 1000) + ahead

const authorize = async (
  given: Readonly<Record<string, string>>,
  to = client,
): Promise<Record<string, string>> =>
  responseTo(to, await agent.authorize(app, objectUrl(to, { redirect_uri: redirectUri, ...given })))

const push = async (request: string, to = client) =>
  (await postForm(`${app.issuer}/oauth/par`, { request }, basicOf(to))).body.error

/** Expects that a request object is refused, at both endpoints. */
const isRefused = async (what: string, request: string): Promise<void> => {
  expect([what, (await authorize({ request })).error]).toEqual([what, 'invalid_request_object'])
  expect([what, await push(request)]).toEqual([what, 'invalid_request_object'])
}

describe('RO-01', () => {
  /** Returns forged request objects, by the name of the attack. */
  const forgeries = async (): Promise<Readonly<Record<string, string>>> => {
    const genuine = await requestObjectOf(client, key)
    const [header, payload] = [decodeProtectedHeader(genuine), decodeJwt(genuine)]
    const [, , signature = ''] = genuine.split('.')
    const text = (more: object, claims: object = payload) =>
      `${base64({ ...header, ...more })}.${base64(claims)}`
    const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const jwk = attacker.publicKey.export({ format: 'jwk' })
    const byAttacker = (more: object) => {
      const signed = text(more)
      return `${signed}.${sign('sha256', Buffer.from(signed), attacker.privateKey).toString('base64url')}`
    }
    const pem = createPublicKey({ key: key.jwk as never, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    })
    const confused = (secret: string | Buffer, alg = 'HS256') => {
      const signed = text({ alg })
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
    }
    return {
      'alg none': `${text({ alg: 'none' })}.`,
      'alg None': `${text({ alg: 'None' })}.`,
      'alg nOnE with the signature': `${text({ alg: 'nOnE' })}.${signature}`,
      'alg none with the signature': `${text({ alg: 'none' })}.${signature}`,
      'no alg': `${text({ alg: undefined })}.${signature}`,
      'alg null': `${text({ alg: null })}.${signature}`,
      'alg as a list': `${text({ alg: ['RS256'] })}.${signature}`,
      'no signature': `${text({})}.`,
      'HS256 with the public key as PEM': confused(pem),
      'HS256 with the public key as JWK': confused(JSON.stringify(key.jwk)),
      'HS256 with the client secret': confused(client.clientSecret),
      'HS256 with an empty key': confused(''),
      'PS256 with the signature of RS256': `${text({ alg: 'PS256' })}.${signature}`,
      'an embedded key': byAttacker({ jwk }),
      'an embedded key without kid': byAttacker({ jwk, kid: undefined }),
      'the address of a key set': byAttacker({ jku: site.url('/evil-keys') }),
      'the address of a certificate': byAttacker({ x5u: site.url('/evil-keys') }),
      'an embedded certificate': byAttacker({ x5c: ['MIIB'] }),
      'an unknown kid': byAttacker({ kid: 'unknown' }),
      'a kid that is a path': byAttacker({ kid: '../../../../dev/null' }),
      'a kid that is a list': byAttacker({ kid: [header.kid] }),
      'a critical extension': byAttacker({ crit: ['exp'], exp: 1 }),
      'an unencoded payload': byAttacker({ b64: false, crit: ['b64'] }),
      'a type that is a number': `${text({ typ: 1 })}.${signature}`,
      'other claims': `${text({}, { ...payload, redirect_uri: 'https://evil.example/' })}.${signature}`,
      'the own key of an attacker': await requestObjectOf(client, evilKey),
      'an object of another client': await requestObjectOf(evilClient, evilKey),
      'the client ID of another client': await requestObjectOf(evilClient, key),
      'an object for another server': await requestObjectOf(client, key, {
        aud: 'https://other.example',
      }),
      'an expired object': await requestObjectOf(client, key, { exp: seconds(-61) }),
      'no JSON': `${Buffer.from('{').toString('base64url')}.${base64(payload)}.${signature}`,
      'a JSON list': `${base64(header)}.${base64([payload])}.${signature}`,
      'five parts': `${genuine}.a.b`,
      'a space': ' ',
    }
  }

  test('RO-01 accepts the genuine object, from which the tests below make forged objects', async () => {
    expect(await authorize({ request: await requestObjectOf(client, key) })).toHaveProperty('code')
  })

  test('RO-01 rejects every forged object, and fetches no URL in a forged object', async () => {
    const before = site.requests.length
    for (const [what, request] of Object.entries(await forgeries())) await isRefused(what, request)
    expect(site.requests.length).toBe(before)
  })

  test('RO-01 rejects a forged object that a registered URL returns', async () => {
    const openid = { request_uris: [site.url('/forged')] }
    const one = await TestClient.register(app, agent, { jwks: jwksOf(key), openid })
    const headers = { 'content-type': 'application/jwt' }
    for (const request of [
      `${base64({ alg: 'none' })}.${base64(decodeJwt(await requestObjectOf(one, key)))}.`,
      await requestObjectOf(one, evilKey),
      await requestObjectOf(client, key),
    ]) {
      site.serve('/forged', request, headers)
      const answer = await authorize({ request_uri: site.url('/forged') }, one)
      expect(answer.error).toBe('invalid_request_object')
    }
  })
})

describe('RO-02', () => {
  test('RO-02 neither resolves nor fetches a URL that the client did not register', async () => {
    const [before, lookups] = [site.requests.length, site.lookups.length]
    for (const request_uri of [
      'https://169.254.169.254/latest/meta-data/',
      'http://127.0.0.1/',
      'https://localhost/',
      'https://[::1]/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://client.example@evil.example/',
      'https://evil.example#@client.example/',
      'https://evil.example\\@client.example/',
      'file:///etc/passwd',
      'gopher://client.example/',
      'data:application/jwt,x',
      'urn:x',
      '//client.example/x',
      site.url('/anything'),
      `${app.issuer}/oauth/authorize`,
      'x'.repeat(5_000),
    ])
      expect([request_uri, (await authorize({ request_uri })).error]).toEqual([
        request_uri,
        'invalid_request_uri',
      ])
    expect([site.requests.length, site.lookups.length]).toEqual([before, lookups])
  })

  test('RO-02 does not connect to a registered host with a private IP address', async () => {
    await using strict = await startServer({ ...options, outbound: site.outbound })
    const browser = new UserAgent()
    const url = 'https://client.example/request.jwt'
    const input = { jwks: jwksOf(key), openid: { request_uris: [url] } }
    const one = await TestClient.register(strict, browser, input)
    const before = site.requests.length
    const target = objectUrl(one, { redirect_uri: redirectUri, request_uri: url })
    const answer = responseTo(one, await browser.authorize(strict, target))
    expect(answer.error).toBe('invalid_request_uri')
    expect(answer.error_description).not.toContain('127.0.0.1')
    expect(site.requests.length).toBe(before)
  })

  test('RO-02 does not follow a redirect, and responds despite a slow host', async () => {
    const openid = { request_uris: [site.url('/moved'), site.url('/slow')] }
    const one = await TestClient.register(app, agent, { jwks: jwksOf(key), openid })
    site.respond('/moved', (_request, response) => {
      response.writeHead(302, { location: site.url('/inside') }).end()
    })
    site.respond('/slow', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/jwt' }).write('x')
    })
    for (const path of ['/moved', '/slow']) {
      // The slow host never ends its response.
      const answer = await authorize({ request_uri: site.url(path) }, one)
      expect(answer.error).toBe('invalid_request_uri')
    }
    expect(site.requests.some(({ url }) => url === '/inside')).toBe(false)
  })

  test('RO-02 fetches no URL for a visitor who is not logged in', async () => {
    const openid = { request_uris: [site.url('/of-client')] }
    await TestClient.register(app, agent, { jwks: jwksOf(key), openid })
    const before = site.requests.length
    const url = objectUrl(evilClient, {
      redirect_uri: redirectUri,
      request_uri: site.url('/of-client'),
    })
    const page = await new UserAgent().browse(url)
    expect(page.address).toContain('/login')
    expect(site.requests.length).toBe(before)
  })
})

describe('RO-03', () => {
  test('RO-03 ignores parameters that an attacker adds to a signed request', async () => {
    const request = await requestObjectOf(client, key)
    for (const added of [
      { scope: 'notes:read notes:write' },
      { redirect_uri: 'https://evil.example/' },
      { response_mode: 'fragment' },
      { state: 'evil' },
      { code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' },
      { dpop_jkt: 'A'.repeat(43) },
      { claims: '{"userinfo":{"email":null}}' },
      { login_hint: 'evil@example.org' },
    ]) {
      const answer = await authorize({ request, ...added })
      expect(answer).toEqual({ code: expect.any(String), state: 'xyz', iss: app.issuer })
      const { status, body } = await client.redeem(answer.code ?? '')
      expect([status, body.scope]).toEqual([200, 'notes:read'])
    }
  })

  test('RO-03 rejects a request object with the ID of another client', async () => {
    const request = await requestObjectOf(client, key)
    const answer = await authorize({ request }, evilClient)
    expect(answer.error).toBe('invalid_request_object')
    expect(await push(request, evilClient)).toBe('invalid_request_object')
    const named = { request, client_id: client.clientId }
    const { body } = await postForm(`${app.issuer}/oauth/par`, named, basicOf(evilClient))
    expect(body.error).toBe('invalid_request')
  })

  test('RO-03 rejects a JWT for another purpose as a request object', async () => {
    const claims = decodeJwt(await requestObjectOf(client, key))
    await isRefused('an assertion', await assertionOf(app, client.clientId, key))
    await isRefused(
      'an assertion with parameters',
      await assertionOf(app, client.clientId, key, claims),
    )
    for (const typ of [
      'client-authentication+jwt',
      'dpop+jwt',
      'at+jwt',
      'logout+jwt',
      'secevent+jwt',
    ])
      await isRefused(typ, await requestObjectOf(client, key, {}, { typ }))
    const { id_token = '' } = await client.tokens({ scope: 'openid' })
    await isRefused('an ID token', id_token)
  })

  test('RO-03 a request object does not authenticate the client', async () => {
    const own = { jwks: jwksOf(key), tokenEndpointAuthMethod: 'private_key_jwt' } as const
    const { clientId } = await app.client(own)
    const one = new TestClient(app, agent, { clientId, clientSecret: '', redirectUri }, 'none')
    const request = await requestObjectOf(one, key, { jti: randomUUID(), exp: seconds(60) })
    const { status, body } = await tokenRequest(app.issuer, {
      grant_type: 'client_credentials',
      client_assertion_type: jwtBearer,
      client_assertion: request,
    })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  test('RO-03 sends an error only to a redirect URI that the client registered', async () => {
    const redirect_uri = 'https://evil.example/'
    for (const request of ['x', await requestObjectOf(client, key, { redirect_uri })]) {
      const url = await agent.authorize(app, objectUrl(client, { request, redirect_uri }))
      expect(`${url.origin}${url.pathname}`).toBe(`${app.issuer}/oauth/errors`)
    }
  })
})

describe('RO-04', () => {
  test('RO-04 accepts only one of several concurrent decisions on two nodes about an object with jti', async () => {
    await using second = await startServer({ ...options, beside: app, issuer: app.issuer })
    const claims = { jti: randomUUID(), exp: seconds(300), prompt: 'consent' }
    const request = await requestObjectOf(client, key, claims)
    const url = objectUrl(client, { request, redirect_uri: redirectUri })
    const pages = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        agent.browse(index % 2 === 0 ? url : url.replace(app.issuer, second.issuer)),
      ),
    )
    const answers = await Promise.all(pages.map((page) => agent.submit(page, { confirm: 'yes' })))
    const codes = answers.filter((answer) =>
      new URL(answer.headers.get('location') ?? '', app.issuer).searchParams.has('code'),
    )
    expect(codes).toHaveLength(1)
  })

  test('RO-04 accepts an object with jti either in a pushed or in an authorization request, but not in both', async () => {
    const claims = () => ({ jti: randomUUID(), exp: seconds(300) })
    const pushed = await requestObjectOf(client, key, claims())
    expect(await push(pushed)).toBeUndefined()
    await isRefused('after a push', pushed)
    const used = await requestObjectOf(client, key, claims())
    expect(await authorize({ request: used })).toHaveProperty('code')
    await isRefused('after a decision', used)
  })

  test('RO-04 accepts the jti of a rejected object in a valid object', async () => {
    const claims = { jti: randomUUID(), exp: seconds(300) }
    await isRefused('a wrong audience', await requestObjectOf(client, key, { ...claims, aud: 'x' }))
    expect(await authorize({ request: await requestObjectOf(client, key, claims) })).toHaveProperty(
      'code',
    )
  })

  test('RO-04 does not extend the validity of an object if a later request creates another record of its use', async () => {
    const request = await requestObjectOf(client, key, { exp: seconds(60) })
    const page = await new UserAgent().browse(objectUrl(client, { request }))
    const next = new URL(new URL(page.address).searchParams.get('next') ?? '', app.issuer)
    const request_object_read = next.searchParams.get('request_object_read') ?? ''
    app.advance(50_000)
    const again = await new UserAgent().browse(
      objectUrl(client, { request, redirect_uri: redirectUri, request_object_read }),
    )
    const later = new URL(new URL(again.address).searchParams.get('next') ?? '', app.issuer)
    app.advance(40_000)
    for (const record of [request_object_read, later.searchParams.get('request_object_read') ?? ''])
      expect((await authorize({ request, request_object_read: record })).error).toBe(
        'invalid_request_object',
      )
  })
})

describe('RO-05', () => {
  test('RO-05 returns 413 or 431 for a request object that is too long', async () => {
    const request = await requestObjectOf(client, key, { state: 'x'.repeat(20_000) })
    const body = new URLSearchParams({ client_id: client.clientId, request })
    const answer = await agent.fetch(`${app.issuer}/oauth/authorize`, { method: 'POST', body })
    expect(answer.status).toBe(413)
    const { status } = await rawHttp(app, { target: `/oauth/authorize?${body}` })
    expect(status).toBe(431)
  })

  test('RO-05 refuses deeply nested claims and many parameters', async () => {
    const deep = `${'['.repeat(3_000)}${']'.repeat(3_000)}`
    const answer = await authorize({
      request: await requestObjectOf(client, key, { scope: 'openid', claims: JSON.parse(deep) }),
    })
    expect(answer).not.toHaveProperty('code')
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, 'x']))
    const refused = await authorize({ request: await requestObjectOf(client, key, many) })
    expect(refused.error).toBe('invalid_request')
  })

  test('RO-05 ignores claims with names of Object.prototype members', async () => {
    const claims = JSON.parse('{"__proto__":{"admin":true},"constructor":"x","toString":"y"}')
    const request = await requestObjectOf(client, key, claims)
    expect(await authorize({ request })).toHaveProperty('code')
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })
})
