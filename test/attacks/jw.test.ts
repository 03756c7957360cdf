import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deviceGrant } from '../support/device.ts'
import { rawHttp } from '../support/raw-http.ts'
import { secretKey } from '../support/server.ts'
import { browser, claimsOf, type LoggedIn, logIn, sessionKey } from '../support/session.ts'
import {
  type AttackServer,
  expectBearer,
  expectJson,
  type HttpResponse,
  startAttackServer,
} from './support/attack-server.ts'

let attack: AttackServer
let session: LoggedIn
beforeAll(async () => {
  attack = await startAttackServer()
  session = await attack.browser('a')
})
afterAll(() => attack.close())

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

type Hash = 'sha256' | 'sha384' | 'sha512'

/** Creates a signed JWS. A header or payload that is a text is used unchanged. */
const jws = (
  header: unknown,
  payload: unknown,
  { key = sessionKey(), hash = 'sha256' }: { key?: Uint8Array | string; hash?: Hash } = {},
): string => {
  const signed = `${base64(header)}.${base64(payload)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

const ours = { alg: 'HS256', typ: 'session+jwt' }
/** Returns the claims of the session's JWT with changes. The value undefined removes a claim. */
const claims = (changed: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...claimsOf(session.jwt),
  ...changed,
})
const now = (): number => Math.floor(attack.server.now() / 1000)

/** Sends a JWT in the scheme Bearer from the browser of the session. */
const present = (jwt: string, path = '/api/me'): Promise<HttpResponse> =>
  attack.request(path, { agent: session.agent, headers: { authorization: `Bearer ${jwt}` } })

const messages = {
  format: '400 The JWT token has invalid format.',
  expired: '403 The JWT token is expired.',
  permission: '400 The JWT token is not valid.',
  user: '403 The JWT token is not valid.',
  missing: '400 Missing required header argument.',
} as const

const expectRefused = (answer: HttpResponse, why: keyof typeof messages): void => {
  expect(`${answer.status} ${answer.body.message}`, answer.text).toBe(messages[why])
  const members = why === 'missing' ? ['errors', 'message', 'status'] : ['message', 'status']
  expect(Object.keys(answer.body).sort()).toEqual(members)
  expect(answer.headers.get('cache-control')).toMatch(/no-store/)
}

test('accepts the JWT of the session, and a JWT with the same claims that the test signed', async () => {
  for (const jwt of [session.jwt, jws(ours, claims())])
    expect((await present(jwt)).body).toMatchObject({ kind: 'session' })
})

describe('JW-01 The header alg and the signature [T143]', () => {
  const signature = (): string => session.jwt.split('.')[2] ?? ''
  const unsigned = (header: unknown, behind = ''): string =>
    `${base64(header)}.${base64(claims())}.${behind}`
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

  test.each<[string, () => string]>([
    ['alg none', () => unsigned({ ...ours, alg: 'none' })],
    ['alg None', () => unsigned({ ...ours, alg: 'None' })],
    ['alg nOnE', () => unsigned({ ...ours, alg: 'nOnE' })],
    [
      'alg none with the signature of the session’s JWT',
      () => unsigned({ ...ours, alg: 'none' }, signature()),
    ],
    ['alg none with a valid signature', () => jws({ ...ours, alg: 'none' }, claims())],
    ['a missing alg', () => jws({ typ: ours.typ }, claims())],
    ['alg null', () => jws({ ...ours, alg: null }, claims())],
    ['an empty alg', () => jws({ ...ours, alg: '' }, claims())],
    ['a list as alg', () => jws({ ...ours, alg: ['HS256'] }, claims())],
    ['an object as alg', () => jws({ ...ours, alg: { a: 1 } }, claims())],
    ['alg HS384', () => jws({ ...ours, alg: 'HS384' }, claims(), { hash: 'sha384' })],
    ['alg HS512', () => jws({ ...ours, alg: 'HS512' }, claims(), { hash: 'sha512' })],
    ['alg hs256', () => jws({ ...ours, alg: 'hs256' }, claims())],
    ['alg RS256', () => jws({ ...ours, alg: 'RS256' }, claims())],
    ['alg ES256 with a key in the header', () => es256(ec)],
    ['an empty signature', () => unsigned(ours)],
    ['half a signature', () => unsigned(ours, signature().slice(0, 20))],
    [
      'the signature of another JWT',
      () => `${jws(ours, claims({ jti: 'x' })).replace(/\.[^.]*$/, '')}.${signature()}`,
    ],
    ['a signature with an additional character', () => `${jws(ours, claims())}A`],
  ])('rejects a JWT with %s', async (_, jwt) => {
    for (const path of ['/api/me', '/api/public'])
      expectRefused(await present(jwt(), path), 'format')
  })

  const es256 = ({ publicKey }: typeof ec): string =>
    jws({ ...ours, alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) }, claims())
})

describe('JW-02 Wrong keys [T144]', () => {
  test.each<[string, () => string | Uint8Array]>([
    ['an empty key', () => ''],
    ['the word “secret”', () => 'secret'],
    ['the secret key of the application', () => secretKey],
    ['the client secret', () => attack.clients.conf.clientSecret],
    ['the identifier in the cookie', () => session.identifier],
    ['the ID of the session', () => String(claims().sid)],
    ['the CSRF token', () => session.csrfToken],
    ['32 zero bytes', () => new Uint8Array(32)],
    [
      'a key derived from another secret key',
      () => sessionKey('another secret key of 32 bytes, or so'),
    ],
  ])('rejects a JWT that is signed with %s', async (_, key) => {
    expectRefused(await present(jws(ours, claims(), { key: key() })), 'format')
  })

  test('rejects the public key of access tokens as an HMAC key', async () => {
    await using signing = await startAttackServer({ accessTokenFormat: 'jwt' })
    const own = await signing.browser('a')
    await signing.code()
    const { body } = await signing.request('/oauth/jwks')
    const [jwk] = body.keys as readonly Record<string, unknown>[]
    expect(jwk).toMatchObject({ alg: 'ES256' })
    const pem = createPublicKey({ key: jwk as never, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    })
    const given = claimsOf(own.jwt)
    for (const key of [String(pem), `\n ${pem}`, JSON.stringify(jwk), String(jwk?.x)]) {
      for (const header of [ours, { ...ours, typ: 'at+jwt' }, { ...ours, kid: jwk?.kid }]) {
        const answer = await signing.request('/api/me', {
          agent: own.agent,
          headers: { authorization: `Bearer ${jws(header, given, { key })}` },
        })
        expect([400, 401]).toContain(answer.status)
      }
    }
  })

  test('accepts an earlier key only while it is configured', async () => {
    const earlier = 'an earlier secret key of more than 32 bytes'
    const key = sessionKey(earlier)
    await using rotated = await startAttackServer({ secretKeys: [secretKey, earlier] })
    const own = await rotated.browser('a')
    const headers = { authorization: `Bearer ${jws(ours, claimsOf(own.jwt), { key })}` }
    expect((await rotated.request('/api/me', { agent: own.agent, headers })).status).toBe(200)
    expectRefused(await present(jws(ours, claims(), { key })), 'format')
  })
})

describe('JW-03 Other header parameters [T148]', () => {
  /** The key of an attacker. The header of a forged JWT contains or names this key. */
  const own = 'a key of the attacker of more than 32 bytes'
  let asked = 0
  const site = createServer((_request, response) => {
    asked += 1
    response.end(JSON.stringify({ keys: [{ kty: 'oct', k: base64(own), alg: 'HS256' }] }))
  })
  let url = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/keys`
  })
  afterAll(() => new Promise<void>((resolve) => void site.close(() => resolve())))

  test.each<[string, () => Record<string, unknown>]>([
    ['a path as kid', () => ({ kid: '../../dev/null' })],
    ['SQL as kid', () => ({ kid: "' or 1=1 --" })],
    ['a long kid', () => ({ kid: 'x'.repeat(8_000) })],
    ['a list as kid', () => ({ kid: ['x'] })],
    ['a jwk', () => ({ jwk: { kty: 'oct', k: base64(own) } })],
    ['a jku', () => ({ jku: url })],
    ['the jku of a cloud metadata service', () => ({ jku: 'http://169.254.169.254/' })],
    ['an x5u', () => ({ x5u: url })],
    ['an x5c', () => ({ x5c: [base64(own)] })],
  ])('rejects a JWT with %s, without fetching a key', async (_, more) => {
    const header = { ...ours, ...more() }
    for (const key of [own, '', 'null']) {
      const answer = await present(jws(header, claims(), { key }))
      expectRefused(answer, 'format')
    }
    expect(asked).toBe(0)
    expect(attack.server.log.filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each<[string, unknown]>([
    ['an unknown extension in crit', { ...ours, crit: ['x'], x: 1 }],
    ['an empty crit', { ...ours, crit: [] }],
    ['a text as crit', { ...ours, crit: 'exp' }],
    ['b64 with the value false', { ...ours, b64: false, crit: ['b64'] }],
    ['a text instead of an object', '"HS256"'],
    ['a list instead of an object', '[{"alg":"HS256","typ":"session+jwt"}]'],
    ['a duplicate alg', '{"alg":"HS256","typ":"session+jwt","alg":"none"}'],
    ['a nested alg', '{"alg":{"alg":"HS256"},"typ":"session+jwt"}'],
    ['invalid JSON', '{"alg":"HS256","typ":"session+jwt"'],
  ])('rejects a signed JWT whose header contains %s', async (_, header) => {
    expectRefused(await present(jws(header, claims())), 'format')
  })

  test('rejects a JWT in JSON serialization', async () => {
    const [protectedHeader, payload, signature] = jws(ours, claims()).split('.')
    const flat = JSON.stringify({ protected: protectedHeader, payload, signature })
    const general = JSON.stringify({
      payload,
      signatures: [{ protected: protectedHeader, signature }],
    })
    for (const json of [flat, general]) {
      const { status } = await present(json)
      expect([400, 401]).toContain(status)
      const { status: coded } = await present(base64(json))
      expect(coded).toBe(401)
    }
  })

  test('verifies each JWT, even after a valid JWT with the same beginning', async () => {
    const good = jws(ours, claims())
    for (let round = 0; round < 3; round += 1) {
      expect((await present(good)).status).toBe(200)
      expectRefused(await present(`${good.slice(0, -2)}xx`), 'format')
      expectRefused(await present(jws(ours, claims({ sub: '0' }))), 'user')
    }
  })
})

describe('JW-04 The times exp, nbf and iat', () => {
  const day = 86_400

  test.each<[string, () => Record<string, unknown>, keyof typeof messages]>([
    ['a missing exp', () => ({ exp: undefined }), 'permission'],
    ['a null exp', () => ({ exp: null }), 'permission'],
    ['a text as exp', () => ({ exp: '9999999999' }), 'permission'],
    ['a list as exp', () => ({ exp: [9_999_999_999] }), 'permission'],
    ['an exp equal to the current time', () => ({ iat: now() - 60, exp: now() }), 'expired'],
    ['an exp of a second ago', () => ({ iat: now() - 60, exp: now() - 1 }), 'expired'],
    ['an exp of a day ago', () => ({ iat: now() - day, exp: now() - day + 1 }), 'expired'],
    ['a negative exp', () => ({ exp: -1 }), 'expired'],
    ['an exp of 0', () => ({ exp: 0 }), 'expired'],
    ['an exp in milliseconds', () => ({ exp: (now() + 60) * 1000 }), 'permission'],
    ['a longer lifetime than configured', () => ({ exp: now() + day + 1 }), 'permission'],
    ['an nbf in the future', () => ({ nbf: now() + 3_600 }), 'permission'],
    ['a text as nbf', () => ({ nbf: '0' }), 'permission'],
    ['an iat of tomorrow', () => ({ iat: now() + day, exp: now() + day + 60 }), 'permission'],
    [
      'an iat that is more than 60 s in the future',
      () => ({ iat: now() + 61, exp: now() + 120 }),
      'permission',
    ],
    ['a missing iat', () => ({ iat: undefined }), 'permission'],
    ['a text as iat', () => ({ iat: String(now()) }), 'permission'],
    [
      'an iat that is older than the maximum lifetime',
      () => ({ iat: now() - day - 1, exp: now() + 60 }),
      'expired',
    ],
  ])('rejects a JWT with %s', async (_, changed, why) => {
    expectRefused(await present(jws(ours, claims(changed()))), why)
  })

  test.each(['1e400', '-1e400', 'NaN', 'Infinity', '0x7fffffff', '9e999'])(
    'rejects a JWT with exp %s',
    async (exp) => {
      const text = JSON.stringify(claims()).replace(/"exp":\d+/, `"exp":${exp}`)
      expect(text).toContain(exp)
      expect([400, 403]).toContain((await present(jws(ours, text))).status)
    },
  )

  test('accepts a JWT one second before its expiry, and an iat that is less than 60 s in the future [T138]', async () => {
    const { status } = await present(jws(ours, claims({ iat: now() - 60, exp: now() + 1 })))
    expect(status).toBe(200)
    const ahead = { iat: now() + 59, exp: now() + 120 }
    expect((await present(jws(ours, claims(ahead)))).status).toBe(200)
  })

  test('rejects an expired JWT', async () => {
    await using other = await startAttackServer({ jwtExpiresIn: 60 })
    const { agent, jwt } = await other.browser('a')
    const headers = { authorization: `Bearer ${jwt}` }
    other.server.advance(59)
    expect((await other.request('/api/me', { agent, headers })).status).toBe(200)
    other.server.advance(1)
    expectRefused(await other.request('/api/me', { agent, headers }), 'expired')
  })
})

describe('JW-06 JWTs for other purposes', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a missing typ', { typ: undefined }, {}],
    ['the typ JWT', { typ: 'JWT' }, {}],
    ['the typ dpop+jwt', { typ: 'dpop+jwt' }, {}],
    ['the typ id_token+jwt', { typ: 'id_token+jwt' }, {}],
    ['a typ in a list', { typ: ['session+jwt'] }, {}],
    ['a missing aud', {}, { aud: undefined }],
    ['another aud', {}, { aud: 'https://other.example' }],
    ['an aud that begins like the issuer', {}, { aud: 'http://localhost:1/x' }],
    ['a missing jti', {}, { jti: undefined }],
    ['a missing sid', {}, { sid: undefined }],
    ['a missing sub', {}, { sub: undefined }],
  ])('rejects a JWT with %s', async (_, header, changed) => {
    expectRefused(await present(jws({ ...ours, ...header }, claims(changed))), 'permission')
  })

  test.each<[string, () => Promise<Record<string, unknown>>]>([
    ['the sub of another user', async () => ({ sub: String(attack.users.b.user.id) })],
    ['a sub of another type', async () => ({ sub: [claims().sub] })],
    ['an unknown sid', async () => ({ sid: 'x' })],
    [
      'the sid of another session of the same user',
      async () => ({ sid: claimsOf((await attack.newBrowser('a')).jwt).sid }),
    ],
  ])('rejects a JWT with %s', async (_, changed) => {
    const { status, body } = await present(jws(ours, claims(await changed())))
    expect([400, 403]).toContain(status)
    expect(body.message).toBe('The JWT token is not valid.')
  })

  test('treats a JWT with typ at+jwt as an unknown access token', async () => {
    for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt'])
      expectBearer(await present(jws({ ...ours, typ }, claims())), 'invalid_token')
  })

  test('rejects the JWT of a session as a token, code, device code or CSRF token [T150]', async () => {
    const { jwt, agent } = session
    const free = await attack.client()
    const before = await attack.state()
    expectBearer(await attack.ping(jwt))
    expectBearer(await attack.request('/api/me', { headers: { authorization: `Bearer ${jwt}` } }))
    expectBearer(await attack.request(`/api/me?access_token=${jwt}`), 'invalid_token')
    const dpop = { agent, headers: { authorization: `DPoP ${jwt}` } }
    expect((await attack.request('/api/me', dpop)).body.error).toBe('invalid_token')
    expectJson(await attack.token({ code: jwt }), 400, 'invalid_grant')
    expectJson(await attack.refresh(jwt), 400, 'invalid_grant')
    const device = { grant_type: deviceGrant, device_code: jwt }
    expectJson(await attack.token(device, { client: free }), 400, 'invalid_grant')
    const forms = [
      ['/logout', {}],
      ['/account/settings/applications/tokens/new/', { name: 'Mine' }],
    ] as const
    for (const [path, fields] of forms) {
      const body = new URLSearchParams({ ...fields, csrf_token: jwt, authorized_token: jwt })
      expect((await attack.request(path, { agent, method: 'POST', body })).status).toBe(403)
    }
    expect(await attack.state()).toEqual(before)
  })

  test('rejects other credentials as the JWT of a session [T151]', async () => {
    const { accessToken, refreshToken } = await attack.grant()
    for (const value of [refreshToken, attack.clients.conf.clientSecret, session.csrfToken])
      expectBearer(await present(value), 'invalid_token')
    // A valid access token authenticates the request independently of the session.
    expect((await present(accessToken)).body.kind).toBe('access_token')
  })

  test('rejects an access token as the JWT of a session, and an access token that is signed with the session key [T152]', async () => {
    await using signing = await startAttackServer({ accessTokenFormat: 'jwt' })
    const { agent } = await signing.browser('a')
    const { accessToken } = await signing.grant()
    const [header = '', ...rest] = accessToken.split('.')
    const headers = (value: string) => ({ headers: { authorization: `Bearer ${value}` } })
    const kind = async (value: string) => signing.request('/api/me', { agent, ...headers(value) })
    expect((await kind(accessToken)).body.kind).toBe('access_token')
    const parsed = JSON.parse(Buffer.from(header, 'base64url').toString()) as object
    for (const typ of ['session+jwt', 'JWT', undefined]) {
      const posing = [base64({ ...parsed, typ }), ...rest].join('.')
      expectRefused(await kind(posing), 'format')
    }
    // Sign an access token with the key of sessions.
    const given = JSON.parse(Buffer.from(rest[0] ?? '', 'base64url').toString()) as object
    for (const alg of ['HS256', 'ES256', 'none'])
      expectBearer(await kind(jws({ ...parsed, alg }, given)), 'invalid_token')
  })
})

describe('JW-07 Header format [T142]', () => {
  /** Sends this header with the cookie of the session. */
  const raw = async (authorization: string | undefined, path = '/api/me') => {
    const headers = [`Cookie: ${session.cookie}`, `User-Agent: ${browser}`]
    const line = authorization === undefined ? [] : [`Authorization: ${authorization}`]
    const answer = await rawHttp(attack.server, { target: path, headers: [...headers, ...line] })
    return { ...answer, body: answer.status === 431 ? {} : JSON.parse(answer.text) }
  }

  test.each<[string, () => string | undefined, keyof typeof messages]>([
    ['a missing header', () => undefined, 'missing'],
    ['an empty header', () => '', 'missing'],
    ['a header with only Bearer', () => 'Bearer', 'missing'],
    ['the JWT without a scheme', () => session.jwt, 'missing'],
    ['the scheme Token', () => `Token ${session.jwt}`, 'missing'],
    ['Bearer a.b', () => 'Bearer a.b', 'format'],
    ['Bearer a.b.c.d.e', () => 'Bearer a.b.c.d.e', 'format'],
    ['Bearer ...', () => 'Bearer ...', 'format'],
    ['Bearer ..', () => 'Bearer ..', 'format'],
    ['Bearer .', () => 'Bearer .', 'format'],
    ['a word after the JWT', () => `Bearer ${session.jwt} x`, 'format'],
    ['the scheme twice', () => `Bearer Bearer ${session.jwt}`, 'format'],
    ['invalid base64url', () => `Bearer ${session.jwt.replace(/\./, '.*')}`, 'format'],
    ['padding at the end', () => `Bearer ${session.jwt}=`, 'format'],
    ['a list as payload', () => `Bearer ${jws(ours, '[1]')}`, 'format'],
    ['null as payload', () => `Bearer ${jws(ours, 'null')}`, 'format'],
    ['a text as payload', () => `Bearer ${jws(ours, '"x"')}`, 'format'],
    ['an empty payload', () => `Bearer ${jws(ours, '')}`, 'format'],
    ['padding of the header', () => `Bearer ${session.jwt.replace('.', '=.')}`, 'format'],
    [
      'the standard base64 alphabet',
      () => `Bearer ${session.jwt.replace(/\.[^.]{2}/, '.+/')}`,
      'format',
    ],
    ['a byte order mark before the JWT', () => `Bearer \xEF\xBB\xBF${session.jwt}`, 'format'],
    ['a byte order mark as payload', () => `Bearer ${jws(ours, '\uFEFF')}`, 'format'],
    ['invalid UTF-8', () => `Bearer ${session.jwt.replace(/\.[^.]*\./, '._w.')}`, 'format'],
  ])('rejects %s', async (_, header, why) => {
    const { status, body } = await raw(header())
    expect(`${status} ${body.message}`).toBe(messages[why])
  })

  test.each(['Bearer abc', 'Bearer a b'])(
    'treats %s as an unknown opaque token',
    async (header) => {
      const { status, body } = await raw(header)
      expect([status, body.error]).toEqual([401, 'invalid_token'])
    },
  )

  test('returns 431 for a JWT that exceeds the maximum length of headers', async () => {
    expect((await raw(`Bearer ${jws(ours, claims({ x: 'x'.repeat(1_000_000) }))}`)).status).toBe(
      431,
    )
    expectRefused(await present(jws(ours, claims({ sub: 'x'.repeat(8_000) }))), 'user')
  })

  test('treats a request with the cookie but without a JWT as anonymous', async () => {
    const { status, body } = await raw(undefined, '/api/public')
    expect([status, body]).toEqual([200, { kind: 'anonymous', user: null }])
  })

  test('returns a challenge without an error for a JWT without a session', async () => {
    for (const value of [session.jwt, 'a.b', 'a.b.c', '...', jws(ours, claims({ sub: '0' }))])
      expectBearer(
        await attack.request('/api/me', { headers: { authorization: `Bearer ${value}` } }),
      )
  })

  test('reads the JWT from the configured header without a scheme', async () => {
    await using other = await startAttackServer({
      jwtAuthHeader: 'X-Session-JWT',
      jwtAuthHeaderType: null,
    })
    const { agent, jwt } = await logIn({ issuer: other.issuer, ...other.users.a })
    other.saw(jwt)
    const ask = (headers: Record<string, string>) => other.request('/api/me', { agent, headers })
    expect((await ask({ 'x-session-jwt': jwt })).status).toBe(200)
    for (const [headers, why] of [
      [{}, 'missing'],
      [{ 'x-session-jwt': '' }, 'missing'],
      [{ 'x-session-jwt': `Bearer ${jwt}` }, 'format'],
      [{ 'x-session-jwt': 'a b c' }, 'format'],
    ] as const)
      expectRefused(await ask(headers), why)
    expectBearer(
      await ask({ authorization: `Bearer ${jwt}`, 'x-session-jwt': jwt }),
      'invalid_token',
    )
  })
})
