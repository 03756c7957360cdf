import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, claimsOf, forgedJwt, type LoggedIn, logIn } from '../support/session.ts'

/** The credentials of a request. A header is given by its value; cookies and the query by name. */
interface Presented {
  readonly authorization?: string | readonly string[]
  readonly cookie?: string | readonly string[]
  readonly query?: string
}

interface HttpResponse {
  readonly status: number
  /** The parameters of the `WWW-Authenticate` header; `bare` if it names no error. */
  readonly challenge: 'none' | 'bare' | Readonly<Record<string, string>>
  readonly body: unknown
}

interface World {
  readonly app: TestServer
  /** The browser of the user. */
  readonly session: LoggedIn
  /** The same user in a second browser, and another user. */
  readonly second: LoggedIn
  readonly other: LoggedIn
  readonly token: string
  readonly expired: string
  readonly revoked: string
  readonly ofInactive: string
  /** Claims of the session's JWT with changes; undefined removes one. */
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
const jwtError = (status: number, message: string): HttpResponse => ({
  status,
  challenge: 'none',
  body: { status, message },
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
const missingHeader = jwtError(400, 'Missing required header argument.')
const anonymous = identified({ kind: 'anonymous', user: null })

type Present = (world: World) => Presented
/** The responses of the two routes; `both` if they are equal. */
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
      'two headers, junk first',
      ({ token }) => ({ authorization: ['Bearer junk', `Bearer ${token}`] }),
    ],
    [
      'two headers, junk last',
      ({ token }) => ({ authorization: [`Bearer ${token}`, 'Bearer junk'] }),
    ],
    ['two headers, one of them empty', ({ token }) => ({ authorization: [`Bearer ${token}`, ''] })],
    [
      'a JWT and a token, two headers',
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
      'header and query, the same',
      ({ token }) => ({ authorization: `Bearer ${token}`, query: `?access_token=${token}` }),
    ],
    [
      'header and query, junk in the query',
      ({ token }) => ({ authorization: `Bearer ${token}`, query: '?access_token=junk' }),
    ],
    [
      'header and an empty query token',
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
      'two tokens in the query, one name encoded',
      ({ token }) => ({ query: `?access_token=${token}&%61ccess_token=${token}` }),
    ],
  ])('%s: returns 400 invalid_request [T529]', (_, present) =>
    check(present, { both: twoCredentials }),
  )
})

describe('decision §3 an opaque token', () => {
  const holder = () => ({
    guarded: identified({ id: world.app.user.id, kind: 'personal_token' }),
    anonymous: identified({ kind: 'personal_token', user: { id: world.app.user.id } }),
  })

  test('in the query, with a header of another scheme: authenticates its user', () =>
    check(
      ({ token }) => ({ authorization: 'Basic YTpi', query: `?access_token=${token}` }),
      holder(),
    ))

  test.each<[string, Present]>([
    ['in the header', ({ token }) => ({ authorization: `Bearer ${token}` })],
    ['in the query', ({ token }) => ({ query: `?access_token=${token}` })],
    [
      'with a live session, whose cookie is ignored',
      ({ token, other }) => ({ authorization: `Bearer ${token}`, cookie: other.cookie }),
    ],
    [
      'in the query with a live session',
      ({ token, other }) => ({ query: `?access_token=${token}`, cookie: other.cookie }),
    ],
  ])('valid, %s: authenticates its user [T641]', (_, present) => check(present, holder()))

  test.each<[string, (world: World) => string]>([
    ['unknown', () => 'A'.repeat(60)],
    ['short', () => 'bad'],
    ['expired', ({ expired }) => expired],
    ['revoked', ({ revoked }) => revoked],
    ["an inactive user's", ({ ofInactive }) => ofInactive],
    [
      'with its case flipped',
      ({ token }) =>
        token.replace(/[a-z]/i, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())),
    ],
    ['the first half of a valid one', ({ token }) => token.slice(0, 30)],
    ['a valid one and more', ({ token }) => `${token}=`],
    ['a JWT of typ at+jwt', ({ claims }) => forgedJwt(claims(), { header: { typ: 'at+jwt' } })],
    [
      'a JWT of typ application/AT+JWT',
      ({ claims }) => forgedJwt(claims(), { header: { typ: 'application/AT+JWT' } }),
    ],
  ])(
    '%s: returns 401 invalid_token, also where anonymous is allowed, and never uses the cookie [T755]',
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

  test('without a required scope: returns 403 insufficient_scope with the scope [T645]', async () => {
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

describe('decision §3 a value with dots', () => {
  const noSession: readonly [string, (world: World) => Presented['cookie']][] = [
    ['a missing cookie', () => []],
    ['a dead cookie', () => `oauth2server_session=${'A'.repeat(43)}`],
    ['a cookie that is none of ours', () => 'oauth2server_session=x; __proto__=x'],
    [
      'two session cookies in one header',
      ({ session, other }) => `${session.cookie}; ${other.cookie}`,
    ],
    ['two session cookies in two headers', ({ session }) => [session.cookie, session.cookie]],
  ]
  test.each(noSession)('and %s: returns 401 with a bare challenge [T751]', async (_, cookie) => {
    for (const value of [world.session.jwt, 'a.b.c', 'a.b', '.', jwt({}).slice(7)]) {
      const presented = { authorization: `Bearer ${value}`, cookie: cookie(world) ?? [] }
      await check(() => presented, { both: bare })
    }
  })

  const ofSession = (authorization: string): Presented => ({
    authorization,
    cookie: world.session.cookie,
  })
  const key = Buffer.from('another key of more than 32 bytes in length')

  test.each<[string, (world: World) => string]>([
    ['two parts', () => 'Bearer a.b'],
    ['five parts', () => 'Bearer a.b.c.d.e'],
    ['dots only', () => 'Bearer ..'],
    ['more words', ({ session }) => `Bearer ${session.jwt} extra`],
    ['bad base64', ({ session }) => `Bearer ${session.jwt.replace('.', '.~')}`],
    ['a header that is not JSON', ({ claims }) => jwt(claims(), {}).replace(/ [^.]+/, ' e30x')],
    ['a payload that is not JSON', () => jwt('{')],
    ['a payload that is not an object', () => jwt([1])],
    ['a payload that is a text', () => jwt('"x"')],
    ['a byte order mark before it', ({ session }) => `Bearer \xEF\xBB\xBF${session.jwt}`],
    ['an 8-bit character in it', ({ session }) => `Bearer ${session.jwt}\xE9`],
    ['an empty signature', ({ session }) => `Bearer ${session.jwt.replace(/[^.]+$/, '')}`],
    [
      'the signature of another JWT',
      ({ session, other }) =>
        `Bearer ${session.jwt.replace(/[^.]+$/, '')}${other.jwt.split('.')[2]}`,
    ],
    [
      "another payload under the session's signature",
      ({ session, other }) =>
        `Bearer ${session.jwt.replace(/\.[^.]+\./, `.${other.jwt.split('.')[1]}.`)}`,
    ],
    ['a foreign key', ({ claims }) => jwt(claims(), { key })],
    ['an empty key', ({ claims }) => jwt(claims(), { key: '' })],
    ['the key "secret"', ({ claims }) => jwt(claims(), { key: 'secret' })],
    [
      'the secret key itself instead of the one derived for sessions',
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
      'HS384 under the right key',
      ({ claims }) => jwt(claims(), { header: { alg: 'HS384' }, hash: 'sha384' }),
    ],
    [
      'HS512 under the right key',
      ({ claims }) => jwt(claims(), { header: { alg: 'HS512' }, hash: 'sha512' }),
    ],
    [
      'kid that names a file, and its content as key',
      ({ claims }) => jwt(claims(), { header: { kid: '../../../dev/null' }, key: '' }),
    ],
    ['kid that is SQL', ({ claims }) => jwt(claims(), { header: { kid: "' or 1=1 --" }, key })],
    [
      'a key of its own in jwk',
      ({ claims }) =>
        jwt(claims(), { header: { jwk: { kty: 'oct', k: key.toString('base64url') } }, key }),
    ],
    ['crit', ({ claims }) => jwt(claims(), { header: { crit: ['x'], x: true } })],
    ['b64 false', ({ claims }) => jwt(claims(), { header: { crit: ['b64'], b64: false } })],
    [
      'an encrypted JWT',
      () => `Bearer ${Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString('base64url')}..a.b.c`,
    ],
    [
      'JSON serialization',
      ({ session }) => {
        const [h, p, s] = session.jwt.split('.')
        return `Bearer {"protected":"${h}"."payload":"${p}"."signature":"${s}"}`
      },
    ],
  ])('with a session, %s: returns 400 JWTDecodeError [T141]', (_, value) =>
    check((world) => ofSession(value(world)), { both: decodeError }),
  )

  test.each<[string, () => Record<string, unknown>]>([
    ['exp now', () => ({ exp: seconds() })],
    ['exp long past', () => ({ exp: 1 })],
    ['negative exp', () => ({ exp: -1 })],
    [
      'iat a whole lifetime ago, with any exp',
      () => ({ iat: seconds() - 86_400, exp: seconds() + 9_999 }),
    ],
  ])('with a session, expired (%s): returns 403 JWTExpiredToken [T137]', (_, changed) =>
    check(({ claims }) => ofSession(jwt(claims(changed()))), { both: expiredToken }),
  )

  test.each<[string, (world: World) => string]>([
    ["another user's", ({ other }) => `Bearer ${other.jwt}`],
    ["another session's of the same user", ({ second }) => `Bearer ${second.jwt}`],
    [
      'this session, another user',
      ({ claims, other }) => jwt(claims({ sub: claimsOf(other.jwt).sub })),
    ],
    [
      'this user, another session',
      ({ claims, second }) => jwt(claims({ sid: claimsOf(second.jwt).sid })),
    ],
    ['a longer user ID', ({ claims }) => jwt(claims({ sub: `${claims().sub}0` }))],
    [
      'the identifier in the cookie instead of the name of the session',
      ({ claims, session }) => jwt(claims({ sid: session.identifier })),
    ],
  ])('with a session, %s: returns 403 JWTInvalidIssuer [T147]', (_, value) =>
    check((world) => ofSession(value(world)), { both: invalidIssuer }),
  )

  test.each<[string, (world: World) => string]>([
    ['a missing typ', ({ claims }) => jwt(claims(), { header: { typ: undefined } })],
    ['typ JWT', ({ claims }) => jwt(claims(), { header: { typ: 'JWT' } })],
    ['typ of a logout token', ({ claims }) => jwt(claims(), { header: { typ: 'logout+jwt' } })],
    ['another aud', ({ claims }) => jwt(claims({ aud: 'https://other.example' }))],
    ['aud of a path below', ({ claims }) => jwt(claims({ aud: `${world.app.issuer}/x` }))],
    ...['sub', 'iat', 'exp', 'jti', 'aud', 'sid'].map(
      (name): [string, (world: World) => string] => [
        `no ${name}`,
        ({ claims }) => jwt(claims({ [name]: undefined })),
      ],
    ),
    ['a life longer than configured', ({ claims }) => jwt(claims({ exp: seconds() + 86_401 }))],
    ['exp in milliseconds', ({ claims }) => jwt(claims({ exp: (seconds() + 60) * 1000 }))],
    [
      'an infinite exp',
      ({ claims }) => jwt(JSON.stringify(claims({ exp: 0 })).replace('"exp":0', '"exp":1e400')),
    ],
    ['exp as a text', ({ claims }) => jwt(claims({ exp: '9999999999' }))],
    ['iat as a text', ({ claims }) => jwt(claims({ iat: '1' }))],
    [
      'iat tomorrow',
      ({ claims }) => jwt(claims({ iat: seconds() + 86_400, exp: seconds() + 90_000 })),
    ],
    ['nbf tomorrow', ({ claims }) => jwt(claims({ nbf: seconds() + 86_400 }))],
  ])('with a session, %s: returns 400 JWTNoAuthorizationError [T136]', (_, value) =>
    check((world) => ofSession(value(world)), { both: noAuthorization }),
  )
})

/** `Authorization` headers with a scheme that this server does not use, such as a proxy in front of it requires. */
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
    ['Bearer', 'Bearer'],
    ['the scheme in lower case', 'bearer'],
    ['two spaces', 'Bearer '],
  ])('with the JWT of its page (%s): authenticates its user [T639]', (_, word) =>
    check(({ session }) => ({ authorization: `${word} ${session.jwt}`, cookie: session.cookie }), {
      guarded: identified({ id: world.app.user.id, email: world.app.user.email, kind: 'session' }),
      anonymous: identified({ kind: 'session', user: { id: world.app.user.id } }),
    }),
  )

  test('without a JWT header: returns 400 JWTInvalidHeaderError; is anonymous where that is allowed [T640]', () =>
    check(({ session }) => ({ cookie: session.cookie }), { guarded: missingHeader, anonymous }))

  test.each(['Bearer', 'Bearera.b.c', ''])(
    'with the header "%s", of another type: returns 400 JWTInvalidHeaderError, and is never anonymous [T765]',
    (authorization) =>
      check(({ session }) => ({ authorization, cookie: session.cookie }), { both: missingHeader }),
  )

  test.each(foreign)(
    'with the header "%s" of another scheme: is treated as without a header',
    (authorization) =>
      check(({ session }) => ({ authorization, cookie: session.cookie }), {
        guarded: missingHeader,
        anonymous,
      }),
  )

  test('with an empty token in the query: returns 401 invalid_token', () =>
    check(({ session }) => ({ cookie: session.cookie, query: '?access_token=' }), {
      both: invalidToken,
    }))
})

describe('decision §3 no session', () => {
  test.each(['Bearer', 'DPoP abc', 'Bearera.b.c', ''])(
    'and the header "%s" without a valid token: returns 401 invalid_token',
    (authorization) => check(() => ({ authorization }), { both: invalidToken }),
  )

  test.each(foreign)(
    'and the header "%s" of another scheme: is anonymous [T1062]',
    (authorization) => check(() => ({ authorization }), { guarded: bare, anonymous }),
  )

  test('and two headers, one of another scheme: returns 400 invalid_request', () =>
    check(({ token }) => ({ authorization: ['Basic YTpi', `Bearer ${token}`] }), {
      both: twoCredentials,
    }))

  test.each<[string, Present]>([
    ['nothing', () => ({})],
    ['a dead cookie', () => ({ cookie: `oauth2server_session=${'A'.repeat(43)}` })],
    [
      'two session cookies',
      ({ session, other }) => ({ cookie: `${session.cookie}; ${other.cookie}` }),
    ],
    [
      'the same session cookie twice',
      ({ session }) => ({ cookie: [session.cookie, session.cookie] }),
    ],
    ['a cookie whose name has the same end', ({ session }) => ({ cookie: `x${session.cookie}` })],
    [
      'the name of the session instead of its identifier',
      ({ claims }) => ({ cookie: `oauth2server_session=${claims().sid}` }),
    ],
    ['cookies named as members of every object', () => ({ cookie: '__proto__=x; constructor=y' })],
    ['an array-shaped parameter', ({ token }) => ({ query: `?access_token%5B%5D=${token}` })],
  ])(
    'and %s: returns 401 with a bare challenge; is anonymous where that is allowed [T754]',
    (_, present) => check(present, { guarded: bare, anonymous }),
  )
})
