import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, claimsOf, forgedJwt, type LoggedIn, logIn } from '../support/session.ts'

/** The credentials of a request: the values of its `Authorization` and `Cookie` headers, and its query. */
interface Presented {
  readonly authorization?: string | readonly string[]
  readonly cookie?: string | readonly string[]
  readonly query?: string
}

interface HttpResponse {
  readonly status: number
  /** The parameters of the `WWW-Authenticate` header; `none` without a header, `bare` without an error parameter. */
  readonly challenge: 'none' | 'bare' | Readonly<Record<string, string>>
  readonly body: unknown
}

interface World {
  readonly app: TestServer
  /** The browser of the user. */
  readonly session: LoggedIn
  /** A second browser of the user, and the browser of another user. */
  readonly second: LoggedIn
  readonly other: LoggedIn
  readonly token: string
  readonly expired: string
  readonly revoked: string
  readonly ofInactive: string
  /** Returns the claims of the session's JWT with changes. The value undefined removes a claim. */
  readonly claims: (changed?: Record<string, unknown>) => Record<string, unknown>
}

const prepare = async (): Promise<World> => {
  const app = await startServer({ sessionIdleExpiresIn: 1_000_000 })
  const { server, user, password, issuer } = app
  const personal = (userId = user.id, expiresIn?: number) =>
    server.tokens.createPersonal('Test', userId, {
      scopes: ['notes:read'],
      ...(expiresIn === undefined ? {} : { expiresIn }),
    })
  const other = await server.users.create({ email: 'user-b@example.org', password })
  const inactive = await server.users.create({ email: 'user-c@example.org', password: null })
  const [valid, expired, revoked, ofInactive] = await Promise.all([
    personal(),
    personal(user.id, 60),
    personal(),
    personal(inactive.id),
  ])
  app.advance(60)
  await server.tokens.revoke(revoked)
  await server.users.setActive(inactive.id, false)
  const session = await logIn(app)
  return {
    app,
    session,
    second: await logIn(app),
    other: await logIn({ issuer, password, user: other }),
    token: valid.accessToken,
    expired: expired.accessToken,
    revoked: revoked.accessToken,
    ofInactive: ofInactive.accessToken,
    claims: (changed = {}) => ({ ...claimsOf(session.jwt), ...changed }),
  }
}

let world: World
beforeAll(async () => {
  world = await prepare()
})
afterAll(() => world.app.close())

/**
 * The two routes of the notes application: one that `requireApiAuth()` guards, and one that allows anonymous callers.
 */
const routes = { guarded: '/api/me', anonymous: '/api/public' } as const

const ask = async (
  route: keyof typeof routes,
  { authorization = [], cookie = [], query = '' }: Presented,
): Promise<HttpResponse> => {
  const { status, headers, text } = await rawHttp(world.app, {
    target: `${routes[route]}${query}`,
    headers: [
      `User-Agent: ${browser}`,
      ...[authorization].flat().map((value) => `Authorization: ${value}`),
      ...[cookie].flat().map((value) => `Cookie: ${value}`),
    ],
  })
  const challenge = headers.get('www-authenticate')
  return {
    status,
    challenge: challenge === null ? 'none' : parameters(challenge),
    body: JSON.parse(text),
  }
}

const parameters = (challenge: string): 'bare' | Readonly<Record<string, string>> => {
  expect(challenge).toMatch(/^(?:Bearer|DPoP) [a-z_]+="[^"\\]*"(?:, [a-z_]+="[^"\\]*")*$/)
  const all = Object.fromEntries(
    [...challenge.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  expect(all.realm).toBe(world.app.issuer)
  expect(all.resource_metadata).toBe(`${world.app.issuer}/.well-known/oauth-protected-resource`)
  return 'error' in all ? all : 'bare'
}

const refused = (status: number, error: string): HttpResponse => ({
  status,
  challenge: expect.objectContaining({ error, error_description: expect.any(String) }),
  body: { error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/) },
})
const jwtError = (status: number, message: string, more: object = {}): HttpResponse => ({
  status,
  challenge: 'none',
  body: { status, message, ...more },
})
const identified = (body: object): HttpResponse => ({ status: 200, challenge: 'none', body })

const twoCredentials = refused(400, 'invalid_request')
const invalidToken = refused(401, 'invalid_token')
const bare: HttpResponse = {
  status: 401,
  challenge: 'bare',
  body: { status: 401, message: expect.any(String) },
}
const decodeError = jwtError(400, 'The JWT token has invalid format.')
const expiredToken = jwtError(403, 'The JWT token is expired.')
const invalidIssuer = jwtError(403, 'The JWT token is not valid.')
const noAuthorization = jwtError(400, 'The JWT token is not valid.')
const missingHeader = jwtError(400, 'Missing required header argument.', {
  errors: [{ header: 'Authorization', type: 'Bearer' }],
})
const anonymous = identified({ kind: 'anonymous', user: null })

type Present = (world: World) => Presented
/** The expected responses of the two routes, or one response for both routes. */
type Expected = { readonly both: HttpResponse } | Record<keyof typeof routes, HttpResponse>

const check = async (present: Present, expected: Expected): Promise<void> => {
  const presented = present(world)
  const { guarded, anonymous } =
    'both' in expected ? { guarded: expected.both, anonymous: expected.both } : expected
  expect(await ask('guarded', presented)).toEqual(guarded)
  expect(await ask('anonymous', presented)).toEqual(anonymous)
}

const jwt = (payload: unknown, forgery = {}) => `Bearer ${forgedJwt(payload, forgery)}`
const seconds = () => Math.floor(world.app.now() / 1000)

describe('decision §3 two credentials', () => {
  test.each<[string, Present]>([
    [
      'the same header twice',
      ({ token }) => ({ authorization: [`Bearer ${token}`, `Bearer ${token}`] }),
    ],
    [
      'an invalid header before a valid header',
      ({ token }) => ({ authorization: ['Bearer junk', `Bearer ${token}`] }),
    ],
    [
      'a valid header before an invalid header',
      ({ token }) => ({ authorization: [`Bearer ${token}`, 'Bearer junk'] }),
    ],
    [
      'a valid header before an empty header',
      ({ token }) => ({ authorization: [`Bearer ${token}`, ''] }),
    ],
    [
      'a header with a JWT and a header with a token',
      ({ token, session }) => ({
        authorization: [`Bearer ${session.jwt}`, `Bearer ${token}`],
        cookie: session.cookie,
      }),
    ],
    [
      'two credentials in one header',
      ({ token }) => ({ authorization: `Bearer ${token},Bearer ${token}` }),
    ],
    [
      'the same token in the header and in the query',
      ({ token }) => ({ authorization: `Bearer ${token}`, query: `?access_token=${token}` }),
    ],
    [
      'a token in the header and an invalid token in the query',
      ({ token }) => ({ authorization: `Bearer ${token}`, query: '?access_token=junk' }),
    ],
    [
      'a token in the header and an empty token in the query',
      ({ token }) => ({ authorization: `Bearer ${token}`, query: '?access_token=' }),
    ],
    [
      'a JWT in the header and a token in the query',
      ({ session, token }) => ({
        authorization: `Bearer ${session.jwt}`,
        cookie: session.cookie,
        query: `?access_token=${token}`,
      }),
    ],
    [
      'two tokens in the query',
      ({ token }) => ({ query: `?access_token=${token}&access_token=${token}` }),
    ],
    [
      'two tokens in the query, one with an encoded parameter name',
      ({ token }) => ({ query: `?access_token=${token}&%61ccess_token=${token}` }),
    ],
  ])('returns 400 invalid_request for %s [T529]', (_, present) =>
    check(present, { both: twoCredentials }),
  )
})

describe('decision §3 an opaque token', () => {
  const holder = () => ({
    guarded: identified({ id: world.app.user.id, kind: 'personal_token' }),
    anonymous: identified({ kind: 'personal_token', user: { id: world.app.user.id } }),
  })

  test('authenticates its user if it is in the query and the header has another scheme', () =>
    check(
      ({ token }) => ({ authorization: 'Basic YTpi', query: `?access_token=${token}` }),
      holder(),
    ))

  test.each<[string, Present]>([
    ['in the header', ({ token }) => ({ authorization: `Bearer ${token}` })],
    ['in the query', ({ token }) => ({ query: `?access_token=${token}` })],
    [
      'in the header of a request with a session of another user',
      ({ token, other }) => ({ authorization: `Bearer ${token}`, cookie: other.cookie }),
    ],
    [
      'in the query of a request with a session of another user',
      ({ token, other }) => ({ query: `?access_token=${token}`, cookie: other.cookie }),
    ],
  ])('authenticates its user: a token %s [T641]', (_, present) => check(present, holder()))

  test.each<[string, (world: World) => string]>([
    ['an unknown token', () => 'A'.repeat(60)],
    ['a short token', () => 'bad'],
    ['an expired token', ({ expired }) => expired],
    ['a revoked token', ({ revoked }) => revoked],
    ['a token of an inactive user', ({ ofInactive }) => ofInactive],
    [
      'a token whose first letter is in the other case',
      ({ token }) =>
        token.replace(/[a-z]/i, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())),
    ],
    ['the first half of a valid token', ({ token }) => token.slice(0, 30)],
    ['a valid token with an additional character', ({ token }) => `${token}=`],
    ['a JWT of typ at+jwt', ({ claims }) => forgedJwt(claims(), { header: { typ: 'at+jwt' } })],
    [
      'a JWT of typ application/AT+JWT',
      ({ claims }) => forgedJwt(claims(), { header: { typ: 'application/AT+JWT' } }),
    ],
  ])(
    'returns 401 invalid_token for %s, even with a session or if the resource allows anonymous callers [T755]',
    async (_, value) => {
      const token = value(world)
      const { cookie } = world.session
      const inHeader = { authorization: `Bearer ${token}` }
      await check(() => inHeader, { both: invalidToken })
      await check(() => ({ ...inHeader, cookie }), { both: invalidToken })
      const inQuery = { query: `?access_token=${encodeURIComponent(token)}` }
      await check(() => inQuery, { both: invalidToken })
      await check(() => ({ ...inQuery, cookie }), { both: invalidToken })
    },
  )

  test('returns 403 insufficient_scope with the required scope for a token without the scope [T645]', async () => {
    const { app, token } = world
    const response = await rawHttp(app, {
      method: 'DELETE',
      target: '/api/notes/1',
      headers: [`Authorization: Bearer ${token}`],
    })
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]+", error="insufficient_scope", .*\bscope="notes:write"/,
    )
    expect(JSON.parse(response.text)).toMatchObject({ error: 'insufficient_scope' })
  })
})

describe('decision §3 a token with dots, such as a JWT', () => {
  const noSession: readonly [string, (world: World) => Presented['cookie']][] = [
    ['a missing cookie', () => []],
    ['an unknown session cookie', () => `oauth2server_session=${'A'.repeat(43)}`],
    ['a malformed session cookie', () => 'oauth2server_session=x; __proto__=x'],
    [
      'two session cookies in one header',
      ({ session, other }) => `${session.cookie}; ${other.cookie}`,
    ],
    ['two session cookies in two headers', ({ session }) => [session.cookie, session.cookie]],
  ]
  test.each(noSession)(
    'returns 401 and a challenge without an error for %s [T751]',
    async (_, cookie) => {
      for (const value of [world.session.jwt, 'a.b.c', 'a.b', '.', jwt({}).slice(7)]) {
        const presented = { authorization: `Bearer ${value}`, cookie: cookie(world) ?? [] }
        await check(() => presented, { both: bare })
      }
    },
  )

  const ofSession = (authorization: string): Presented => ({
    authorization,
    cookie: world.session.cookie,
  })
  const key = Buffer.from('another key of more than 32 bytes in length')

  test.each<[string, (world: World) => string]>([
    ['two parts', () => 'Bearer a.b'],
    ['five parts', () => 'Bearer a.b.c.d.e'],
    ['three empty parts', () => 'Bearer ..'],
    ['a word after the JWT', ({ session }) => `Bearer ${session.jwt} extra`],
    ['invalid base64url', ({ session }) => `Bearer ${session.jwt.replace('.', '.~')}`],
    ['a header that is not JSON', ({ claims }) => jwt(claims(), {}).replace(/ [^.]+/, ' e30x')],
    ['a payload that is not JSON', () => jwt('{')],
    ['a payload that is not an object', () => jwt([1])],
    ['a payload that is a string', () => jwt('"x"')],
    ['a byte order mark before the JWT', ({ session }) => `Bearer \xEF\xBB\xBF${session.jwt}`],
    ['an 8-bit character after the JWT', ({ session }) => `Bearer ${session.jwt}\xE9`],
    ['an empty signature', ({ session }) => `Bearer ${session.jwt.replace(/[^.]+$/, '')}`],
    [
      'the signature of another JWT',
      ({ session, other }) =>
        `Bearer ${session.jwt.replace(/[^.]+$/, '')}${other.jwt.split('.')[2]}`,
    ],
    [
      "another payload and the signature of the session's JWT",
      ({ session, other }) =>
        `Bearer ${session.jwt.replace(/\.[^.]+\./, `.${other.jwt.split('.')[1]}.`)}`,
    ],
    ['a signature with another key', ({ claims }) => jwt(claims(), { key })],
    ['a signature with an empty key', ({ claims }) => jwt(claims(), { key: '' })],
    ['a signature with the key "secret"', ({ claims }) => jwt(claims(), { key: 'secret' })],
    [
      'a signature with the secret key instead of the key that is derived for sessions',
      ({ claims }) => jwt(claims(), { key: 'a test secret key of more than 32 bytes' }),
    ],
    ...['none', 'None', 'nOnE', undefined, null, [], { a: 1 }, 'RS256', 'HS256 '].map(
      (alg): [string, (world: World) => string] => [
        `alg ${JSON.stringify(alg)}`,
        ({ claims }) => jwt(claims(), { header: { alg } }),
      ],
    ),
    [
      'alg none without a signature',
      ({ claims }) => jwt(claims(), { header: { alg: 'none' } }).replace(/[^.]+$/, ''),
    ],
    [
      'alg HS384 and a signature with the right key',
      ({ claims }) => jwt(claims(), { header: { alg: 'HS384' }, hash: 'sha384' }),
    ],
    [
      'alg HS512 and a signature with the right key',
      ({ claims }) => jwt(claims(), { header: { alg: 'HS512' }, hash: 'sha512' }),
    ],
    [
      'a path as kid and a signature with the content of the file as key',
      ({ claims }) => jwt(claims(), { header: { kid: '../../../dev/null' }, key: '' }),
    ],
    ['SQL as kid', ({ claims }) => jwt(claims(), { header: { kid: "' or 1=1 --" }, key })],
    [
      'the key of an attacker as jwk',
      ({ claims }) =>
        jwt(claims(), { header: { jwk: { kty: 'oct', k: key.toString('base64url') } }, key }),
    ],
    [
      'an unknown extension in crit',
      ({ claims }) => jwt(claims(), { header: { crit: ['x'], x: true } }),
    ],
    [
      'b64 with the value false',
      ({ claims }) => jwt(claims(), { header: { crit: ['b64'], b64: false } }),
    ],
    [
      'encrypted content',
      () => `Bearer ${Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString('base64url')}..a.b.c`,
    ],
    [
      'JSON serialization',
      ({ session }) => {
        const [h, p, s] = session.jwt.split('.')
        return `Bearer {"protected":"${h}"."payload":"${p}"."signature":"${s}"}`
      },
    ],
  ])('returns 400 JWTDecodeError in a session for a JWT with %s [T141]', (_, value) =>
    check((world) => ofSession(value(world)), { both: decodeError }),
  )

  test.each<[string, () => Record<string, unknown>]>([
    ['the current time as exp', () => ({ exp: seconds() })],
    ['an exp in 1970', () => ({ exp: 1 })],
    ['a negative exp', () => ({ exp: -1 })],
    [
      'an iat at the maximum age and a future exp',
      () => ({ iat: seconds() - 86_400, exp: seconds() + 9_999 }),
    ],
  ])('returns 403 JWTExpiredToken in a session for a JWT with %s [T137]', (_, changed) =>
    check(({ claims }) => ofSession(jwt(claims(changed()))), { both: expiredToken }),
  )

  test.each<[string, (world: World) => string]>([
    ['the JWT of another user', ({ other }) => `Bearer ${other.jwt}`],
    ['the JWT of another session of the user', ({ second }) => `Bearer ${second.jwt}`],
    [
      'a JWT with the sub of another user',
      ({ claims, other }) => jwt(claims({ sub: claimsOf(other.jwt).sub })),
    ],
    [
      'a JWT with the sid of another session of the user',
      ({ claims, second }) => jwt(claims({ sid: claimsOf(second.jwt).sid })),
    ],
    ['a JWT with a longer user ID', ({ claims }) => jwt(claims({ sub: `${claims().sub}0` }))],
    [
      'a JWT with the identifier in the cookie as sid',
      ({ claims, session }) => jwt(claims({ sid: session.identifier })),
    ],
  ])('returns 403 JWTInvalidIssuer in a session for %s [T147]', (_, value) =>
    check((world) => ofSession(value(world)), { both: invalidIssuer }),
  )

  test.each<[string, (world: World) => string]>([
    ['a missing typ', ({ claims }) => jwt(claims(), { header: { typ: undefined } })],
    ['the typ JWT', ({ claims }) => jwt(claims(), { header: { typ: 'JWT' } })],
    ['the typ of a logout token', ({ claims }) => jwt(claims(), { header: { typ: 'logout+jwt' } })],
    ['another aud', ({ claims }) => jwt(claims({ aud: 'https://other.example' }))],
    [
      'an aud below the path of the issuer',
      ({ claims }) => jwt(claims({ aud: `${world.app.issuer}/x` })),
    ],
    ...['sub', 'iat', 'exp', 'jti', 'aud', 'sid'].map(
      (name): [string, (world: World) => string] => [
        `a missing ${name}`,
        ({ claims }) => jwt(claims({ [name]: undefined })),
      ],
    ),
    ['a longer lifetime than configured', ({ claims }) => jwt(claims({ exp: seconds() + 86_401 }))],
    ['an exp in milliseconds', ({ claims }) => jwt(claims({ exp: (seconds() + 60) * 1000 }))],
    [
      'an infinite exp',
      ({ claims }) => jwt(JSON.stringify(claims({ exp: 0 })).replace('"exp":0', '"exp":1e400')),
    ],
    ['a string as exp', ({ claims }) => jwt(claims({ exp: '9999999999' }))],
    ['a string as iat', ({ claims }) => jwt(claims({ iat: '1' }))],
    [
      'an iat of tomorrow',
      ({ claims }) => jwt(claims({ iat: seconds() + 86_400, exp: seconds() + 90_000 })),
    ],
    ['an nbf of tomorrow', ({ claims }) => jwt(claims({ nbf: seconds() + 86_400 }))],
  ])('returns 400 JWTNoAuthorizationError in a session for a JWT with %s [T136]', (_, value) =>
    check((world) => ofSession(value(world)), { both: noAuthorization }),
  )
})

/** `Authorization` headers with schemes that this server does not use, but that a proxy before it may require. */
const foreign = [
  'Basic YTpi',
  'Basic a.b',
  'Token abc',
  'JWT a.b.c',
  'Negotiate a.b.c',
  'Digest username="a", realm="b"',
]

describe('decision §3 a session', () => {
  test.each<[string, string]>([
    ['the scheme Bearer', 'Bearer'],
    ['the scheme in lower case', 'bearer'],
    ['two spaces after the scheme', 'Bearer '],
  ])('authenticates its user with the JWT of the page and %s [T639]', (_, word) =>
    check(({ session }) => ({ authorization: `${word} ${session.jwt}`, cookie: session.cookie }), {
      guarded: identified({ id: world.app.user.id, email: world.app.user.email, kind: 'session' }),
      anonymous: identified({ kind: 'session', user: { id: world.app.user.id } }),
    }),
  )

  test('without an Authorization header, returns 400 JWTInvalidHeaderError, or treats the request as anonymous if the resource allows it [T640]', () =>
    check(({ session }) => ({ cookie: session.cookie }), { guarded: missingHeader, anonymous }))

  test.each(['Bearer', 'Bearera.b.c', ''])(
    'returns 400 JWTInvalidHeaderError for the header "%s", even if the resource allows anonymous callers [T765]',
    (authorization) =>
      check(({ session }) => ({ authorization, cookie: session.cookie }), { both: missingHeader }),
  )

  test.each(foreign)('ignores the header "%s", which has another scheme', (authorization) =>
    check(({ session }) => ({ authorization, cookie: session.cookie }), {
      guarded: missingHeader,
      anonymous,
    }),
  )

  test('returns 401 invalid_token for an empty token in the query', () =>
    check(({ session }) => ({ cookie: session.cookie, query: '?access_token=' }), {
      both: invalidToken,
    }))
})

describe('decision §3 a request without a session', () => {
  test.each(['Bearer', 'DPoP abc', 'Bearera.b.c', ''])(
    'returns 401 invalid_token for the header "%s"',
    (authorization) => check(() => ({ authorization }), { both: invalidToken }),
  )

  test.each(foreign)('ignores the header "%s", which has another scheme [T1062]', (authorization) =>
    check(() => ({ authorization }), { guarded: bare, anonymous }),
  )

  test('returns 400 invalid_request for two headers, even if one of them has another scheme', () =>
    check(({ token }) => ({ authorization: ['Basic YTpi', `Bearer ${token}`] }), {
      both: twoCredentials,
    }))

  test.each<[string, Present]>([
    ['no cookie', () => ({})],
    ['an unknown session cookie', () => ({ cookie: `oauth2server_session=${'A'.repeat(43)}` })],
    [
      'two session cookies',
      ({ session, other }) => ({ cookie: `${session.cookie}; ${other.cookie}` }),
    ],
    [
      'the same session cookie twice',
      ({ session }) => ({ cookie: [session.cookie, session.cookie] }),
    ],
    [
      'a cookie whose name ends with the name of the session cookie',
      ({ session }) => ({ cookie: `x${session.cookie}` }),
    ],
    [
      'the sid of the session instead of its identifier in the cookie',
      ({ claims }) => ({ cookie: `oauth2server_session=${claims().sid}` }),
    ],
    ['cookies named __proto__ and constructor', () => ({ cookie: '__proto__=x; constructor=y' })],
    [
      'the parameter access_token[] in the query',
      ({ token }) => ({ query: `?access_token%5B%5D=${token}` }),
    ],
  ])('treats a request with %s as a request without a credential [T754]', (_, present) =>
    check(present, { guarded: bare, anonymous }),
  )
})
