import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deviceGrant } from '../support/device.ts'
import { rawHttp } from '../support/raw-http.ts'
import { secretKey } from '../support/server.ts'
import { browser, claimsOf, type LoggedIn, logIn, sessionKey } from '../support/session.ts'
import {
  type Answer,
  type AttackServer,
  expectBearer,
  expectJson,
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

/** Creates a JWS of these parts with any key. Text is used unchanged. */
const jws = (
  header: unknown,
  payload: unknown,
  { key = sessionKey(), hash = 'sha256' }: { key?: Uint8Array | string; hash?: Hash } = {},
): string => {
  const signed = `${base64(header)}.${base64(payload)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

const ours = { alg: 'HS256', typ: 'session+jwt' }
/** Returns the claims of the session's JWT with changes; undefined removes a claim. */
const claims = (changed: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...claimsOf(session.jwt),
  ...changed,
})
const now = (): number => Math.floor(attack.server.now() / 1000)

/** Returns the response to the session's browser for this value in the scheme Bearer. */
const present = (jwt: string, path = '/api/me'): Promise<Answer> =>
  attack.request(path, { agent: session.agent, headers: { authorization: `Bearer ${jwt}` } })

const messages = {
  format: '400 The JWT token has invalid format.',
  expired: '403 The JWT token is expired.',
  permission: '400 The JWT token is not valid.',
  user: '403 The JWT token is not valid.',
  missing: '400 Missing required header argument.',
} as const

const expectRefused = (answer: Answer, why: keyof typeof messages): void => {
  expect(`${answer.status} ${answer.body.message}`, answer.text).toBe(messages[why])
  expect(Object.keys(answer.body).sort()).toEqual(['message', 'status'])
  expect(answer.headers.get('cache-control')).toMatch(/no-store/)
}

test('accepts the JWT of the session, also when signed by the test, as a control for the next tests', async () => {
  for (const jwt of [session.jwt, jws(ours, claims())])
    expect((await present(jwt)).body).toMatchObject({ kind: 'session' })
})

describe('JW-01 alg none and friends [T143]', () => {
  const signature = (): string => session.jwt.split('.')[2] ?? ''
  const unsigned = (header: unknown, behind = ''): string =>
    `${base64(header)}.${base64(claims())}.${behind}`
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

  test.each<[string, () => string]>([
    ['none', () => unsigned({ ...ours, alg: 'none' })],
    ['None', () => unsigned({ ...ours, alg: 'None' })],
    ['nOnE', () => unsigned({ ...ours, alg: 'nOnE' })],
    ['none, and a signature', () => unsigned({ ...ours, alg: 'none' }, signature())],
    ['none, well signed', () => jws({ ...ours, alg: 'none' }, claims())],
    ['absent', () => jws({ typ: ours.typ }, claims())],
    ['null', () => jws({ ...ours, alg: null }, claims())],
    ['empty', () => jws({ ...ours, alg: '' }, claims())],
    ['a list', () => jws({ ...ours, alg: ['HS256'] }, claims())],
    ['an object', () => jws({ ...ours, alg: { a: 1 } }, claims())],
    ['HS384', () => jws({ ...ours, alg: 'HS384' }, claims(), { hash: 'sha384' })],
    ['HS512', () => jws({ ...ours, alg: 'HS512' }, claims(), { hash: 'sha512' })],
    ['hs256', () => jws({ ...ours, alg: 'hs256' }, claims())],
    ['RS256', () => jws({ ...ours, alg: 'RS256' }, claims())],
    ['ES256, of a key of its own', () => es256(ec)],
    ['an empty signature', () => unsigned(ours)],
    ['half a signature', () => unsigned(ours, signature().slice(0, 20))],
    [
      'the signature of another token',
      () => `${jws(ours, claims({ jti: 'x' })).replace(/\.[^.]*$/, '')}.${signature()}`,
    ],
    ['a signature with a bit more', () => `${jws(ours, claims())}A`],
  ])('%s: invalid format', async (_, jwt) => {
    for (const path of ['/api/me', '/api/public'])
      expectRefused(await present(jwt(), path), 'format')
  })

  const es256 = ({ publicKey }: typeof ec): string =>
    jws({ ...ours, alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) }, claims())
})

describe('JW-02 Key confusion [T144]', () => {
  test.each<[string, () => string | Uint8Array]>([
    ['an empty key', () => ''],
    ['secret', () => 'secret'],
    ['the secret key of the application itself', () => secretKey],
    ['the client secret', () => attack.clients.conf.clientSecret],
    ['the identifier in the cookie', () => session.identifier],
    ['the id of the session', () => String(claims().sid)],
    ['the key that CSRF tokens are made with', () => session.csrfToken],
    ['32 zero bytes', () => new Uint8Array(32)],
    [
      'a key derived from another secret key',
      () => sessionKey('another secret key of 32 bytes, or so'),
    ],
  ])('signed with %s: invalid format', async (_, key) => {
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

  test('accepts an earlier key until it is removed', async () => {
    const earlier = 'an earlier secret key of more than 32 bytes'
    const key = sessionKey(earlier)
    await using rotated = await startAttackServer({ secretKeys: [secretKey, earlier] })
    const own = await rotated.browser('a')
    const headers = { authorization: `Bearer ${jws(ours, claimsOf(own.jwt), { key })}` }
    expect((await rotated.request('/api/me', { agent: own.agent, headers })).status).toBe(200)
    expectRefused(await present(jws(ours, claims(), { key })), 'format')
  })
})

describe('JW-03 kid, jku, jwk, x5u, crit, zip, b64 [T148]', () => {
  /** An attacker who signs with an own key and names its location. */
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
    ['kid, a path', () => ({ kid: '../../dev/null' })],
    ['kid, SQL', () => ({ kid: "' or 1=1 --" })],
    ['kid, huge', () => ({ kid: 'x'.repeat(8_000) })],
    ['kid, a list', () => ({ kid: ['x'] })],
    ['jwk', () => ({ jwk: { kty: 'oct', k: base64(own) } })],
    ['jku', () => ({ jku: url })],
    ['jku, of the machine in the cloud', () => ({ jku: 'http://169.254.169.254/' })],
    ['x5u', () => ({ x5u: url })],
    ['x5c', () => ({ x5c: [base64(own)] })],
  ])('%s: refused, and nobody is asked', async (_, more) => {
    const header = { ...ours, ...more() }
    for (const key of [own, '', 'null']) {
      const answer = await present(jws(header, claims(), { key }))
      expectRefused(answer, 'format')
    }
    expect(asked).toBe(0)
    expect(attack.server.log.filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each<[string, unknown]>([
    ['an unknown crit', { ...ours, crit: ['x'], x: 1 }],
    ['crit, empty', { ...ours, crit: [] }],
    ['crit of no list', { ...ours, crit: 'exp' }],
    ['b64 false', { ...ours, b64: false, crit: ['b64'] }],
    ['no object', '"HS256"'],
    ['a list', '[{"alg":"HS256","typ":"session+jwt"}]'],
    ['alg twice, the last one none', '{"alg":"HS256","typ":"session+jwt","alg":"none"}'],
    ['nested', '{"alg":{"alg":"HS256"},"typ":"session+jwt"}'],
    ['no JSON', '{"alg":"HS256","typ":"session+jwt"'],
  ])('well signed, but with a header that has %s: invalid format', async (_, header) => {
    expectRefused(await present(jws(header, claims())), 'format')
  })

  test('rejects JSON serialization', async () => {
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

  test('does not reuse the verification of another JWT', async () => {
    const good = jws(ours, claims())
    for (let round = 0; round < 3; round += 1) {
      expect((await present(good)).status).toBe(200)
      expectRefused(await present(`${good.slice(0, -2)}xx`), 'format')
      expectRefused(await present(jws(ours, claims({ sub: '0' }))), 'user')
    }
  })
})

describe('JW-04 exp, nbf, iat', () => {
  const day = 86_400

  test.each<[string, () => Record<string, unknown>, keyof typeof messages]>([
    ['exp missing', () => ({ exp: undefined }), 'permission'],
    ['exp null', () => ({ exp: null }), 'permission'],
    ['exp as text', () => ({ exp: '9999999999' }), 'permission'],
    ['exp a list', () => ({ exp: [9_999_999_999] }), 'permission'],
    ['exp now', () => ({ iat: now() - 60, exp: now() }), 'expired'],
    ['exp a second ago', () => ({ iat: now() - 60, exp: now() - 1 }), 'expired'],
    ['exp long ago', () => ({ iat: now() - day, exp: now() - day + 1 }), 'expired'],
    ['exp negative', () => ({ exp: -1 }), 'expired'],
    ['exp 0', () => ({ exp: 0 }), 'expired'],
    ['exp in milliseconds', () => ({ exp: (now() + 60) * 1000 }), 'permission'],
    ['a longer life than configured', () => ({ exp: now() + day + 1 }), 'permission'],
    ['nbf in the future', () => ({ nbf: now() + 3_600 }), 'permission'],
    ['nbf as text', () => ({ nbf: '0' }), 'permission'],
    ['iat tomorrow', () => ({ iat: now() + day, exp: now() + day + 60 }), 'permission'],
    [
      'iat further ahead than clocks differ',
      () => ({ iat: now() + 61, exp: now() + 120 }),
      'permission',
    ],
    ['iat missing', () => ({ iat: undefined }), 'permission'],
    ['iat as text', () => ({ iat: String(now()) }), 'permission'],
    [
      'iat before the life it may have',
      () => ({ iat: now() - day - 1, exp: now() + 60 }),
      'expired',
    ],
  ])('%s', async (_, changed, why) => {
    expectRefused(await present(jws(ours, claims(changed()))), why)
  })

  test.each(['1e400', '-1e400', 'NaN', 'Infinity', '0x7fffffff', '9e999'])(
    'rejects exp %s',
    async (exp) => {
      const text = JSON.stringify(claims()).replace(/"exp":\d+/, `"exp":${exp}`)
      expect(text).toContain(exp)
      expect([400, 403]).toContain((await present(jws(ours, text))).status)
    },
  )

  test('accepts a JWT one second before its expiry, and an iat of another clock [T138]', async () => {
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

describe('JW-06 Other-purpose JWTs under the same key', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['no typ', { typ: undefined }, {}],
    ['typ JWT', { typ: 'JWT' }, {}],
    ['typ dpop+jwt', { typ: 'dpop+jwt' }, {}],
    ['typ id_token+jwt', { typ: 'id_token+jwt' }, {}],
    ['typ in a list', { typ: ['session+jwt'] }, {}],
    ['no aud', {}, { aud: undefined }],
    ['another aud', {}, { aud: 'https://other.example' }],
    ['an aud that begins like ours', {}, { aud: 'http://localhost:1/x' }],
    ['no jti', {}, { jti: undefined }],
    ['no sid', {}, { sid: undefined }],
    ['no sub', {}, { sub: undefined }],
  ])('%s: permission is denied', async (_, header, changed) => {
    expectRefused(await present(jws({ ...ours, ...header }, claims(changed))), 'permission')
  })

  test.each<[string, () => Promise<Record<string, unknown>>]>([
    ['the sub of another user', async () => ({ sub: String(attack.users.b.user.id) })],
    ['the sub in another type', async () => ({ sub: [claims().sub] })],
    ['another session', async () => ({ sid: 'x' })],
    [
      'another session of the same user',
      async () => ({ sid: claimsOf((await attack.newBrowser('a')).jwt).sid }),
    ],
  ])('%s: the user is not valid', async (_, changed) => {
    const { status, body } = await present(jws(ours, claims(await changed())))
    expect([400, 403]).toContain(status)
    expect(body.message).toBe('The JWT token is not valid.')
  })

  test('treats typ at+jwt as an unknown access token', async () => {
    for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt'])
      expectBearer(await present(jws({ ...ours, typ }, claims())), 'invalid_token')
  })

  test('rejects the JWT of a session as a token, code, device code and CSRF token [T150]', async () => {
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
    // A valid token decides by itself, without the session.
    expect((await present(accessToken)).body.kind).toBe('access_token')
  })

  test('rejects a JWT access token as a session JWT, and signs it with another key [T152]', async () => {
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
    // Signed with the key of sessions, in the shape of an access token.
    const given = JSON.parse(Buffer.from(rest[0] ?? '', 'base64url').toString()) as object
    for (const alg of ['HS256', 'ES256', 'none'])
      expectBearer(await kind(jws({ ...parsed, alg }, given)), 'invalid_token')
  })
})

describe('JW-07 Header shape [T142]', () => {
  /** Returns the response to this header with the cookie of the session. */
  const raw = async (authorization: string | undefined, path = '/api/me') => {
    const headers = [`Cookie: ${session.cookie}`, `User-Agent: ${browser}`]
    const line = authorization === undefined ? [] : [`Authorization: ${authorization}`]
    const answer = await rawHttp(attack.server, { target: path, headers: [...headers, ...line] })
    return { ...answer, body: answer.status === 431 ? {} : JSON.parse(answer.text) }
  }

  test.each<[string, () => string | undefined, keyof typeof messages]>([
    ['no header', () => undefined, 'missing'],
    ['an empty one', () => '', 'missing'],
    ['Bearer', () => 'Bearer', 'missing'],
    ['the JWT without a word', () => session.jwt, 'missing'],
    ['another word', () => `Token ${session.jwt}`, 'missing'],
    ['Bearer a.b', () => 'Bearer a.b', 'format'],
    ['Bearer a.b.c.d.e', () => 'Bearer a.b.c.d.e', 'format'],
    ['Bearer ...', () => 'Bearer ...', 'format'],
    ['Bearer ..', () => 'Bearer ..', 'format'],
    ['Bearer .', () => 'Bearer .', 'format'],
    ['the JWT and a word', () => `Bearer ${session.jwt} x`, 'format'],
    ['the word twice', () => `Bearer Bearer ${session.jwt}`, 'format'],
    ['invalid base64url', () => `Bearer ${session.jwt.replace(/\./, '.*')}`, 'format'],
    ['padding', () => `Bearer ${session.jwt}=`, 'format'],
    ['a payload that is a list', () => `Bearer ${jws(ours, '[1]')}`, 'format'],
    ['a payload that is null', () => `Bearer ${jws(ours, 'null')}`, 'format'],
    ['a payload that is text', () => `Bearer ${jws(ours, '"x"')}`, 'format'],
    ['an empty payload', () => `Bearer ${jws(ours, '')}`, 'format'],
    ['padding within', () => `Bearer ${session.jwt.replace('.', '=.')}`, 'format'],
    ['plain base64', () => `Bearer ${session.jwt.replace(/\.[^.]{2}/, '.+/')}`, 'format'],
    ['a byte order mark in front of it', () => `Bearer \xEF\xBB\xBF${session.jwt}`, 'format'],
    ['only a byte order mark', () => `Bearer ${jws(ours, '\uFEFF')}`, 'format'],
    ['invalid UTF-8', () => `Bearer ${session.jwt.replace(/\.[^.]*\./, '._w.')}`, 'format'],
  ])('%s', async (_, header, why) => {
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

  test('returns 431 for a JWT beyond the header limit', async () => {
    expect((await raw(`Bearer ${jws(ours, claims({ x: 'x'.repeat(1_000_000) }))}`)).status).toBe(
      431,
    )
    expectRefused(await present(jws(ours, claims({ sub: 'x'.repeat(8_000) }))), 'user')
  })

  test('treats the cookie without a JWT as anonymous where anonymous callers are allowed', async () => {
    const { status, body } = await raw(undefined, '/api/public')
    expect([status, body]).toEqual([200, { kind: 'anonymous', user: null }])
  })

  test('returns 401 without an error code for values with dots and no session', async () => {
    for (const value of [session.jwt, 'a.b', 'a.b.c', '...', jws(ours, claims({ sub: '0' }))])
      expectBearer(
        await attack.request('/api/me', { headers: { authorization: `Bearer ${value}` } }),
      )
  })

  test('follows the settings for another header without a scheme', async () => {
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
