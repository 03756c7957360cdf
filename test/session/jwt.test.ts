import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  InvalidSettings,
  JWTDecodeError,
  JWTExpiredToken,
  JWTExtendedException,
  JWTInvalidHeaderError,
  JWTInvalidIssuer,
  JWTNoAuthorizationError,
  type VerifyJwt,
} from 'svc-oauth2server'
import { jwtVerifyToken } from 'svc-oauth2server/utils'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { secretKey, startServer, type TestServer } from '../support/server.ts'
import { claimsOf, forgedJwt, type LoggedIn, logIn, sessionKey } from '../support/session.ts'
import { authorizeUrl } from '../support/user-agent.ts'

interface HttpResponse {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Returns the response of the guarded resource to a browser with these headers. */
const me = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  { agent }: Pick<LoggedIn, 'agent'>,
  headers: Record<string, string>,
  path = '/api/me',
): Promise<HttpResponse> => {
  const response = await agent.fetch(`${issuer}${path}`, { headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const session = { status: 200, body: expect.objectContaining({ kind: 'session' }) }
const refusal = (status: number, message: string, errors?: readonly object[]): HttpResponse => ({
  status,
  body: { status, message, ...(errors && { errors }) },
})
const missing = (header: string, type?: string): HttpResponse =>
  refusal(400, 'Missing required header argument.', [{ header, ...(type && { type }) }])
const noAuthorization = refusal(400, 'The JWT token is not valid.')
const decodeError = refusal(400, 'The JWT token has invalid format.')

describe('specification, named errors: constructors of the JWT errors', () => {
  test.each([
    ['JWTExtendedException', JWTExtendedException, 400, 'The JWT token is not valid.'],
    ['JWTDecodeError', JWTDecodeError, 400, 'The JWT token has invalid format.'],
    ['JWTExpiredToken', JWTExpiredToken, 403, 'The JWT token is expired.'],
    ['JWTInvalidHeaderError', JWTInvalidHeaderError, 400, 'Missing required header argument.'],
    ['JWTInvalidIssuer', JWTInvalidIssuer, 403, 'The JWT token is not valid.'],
    ['JWTNoAuthorizationError', JWTNoAuthorizationError, 400, 'The JWT token is not valid.'],
  ])(
    '%s has the specified status and message, and takes errors, a cause and further values [T764]',
    async (name, JwtError, status, message) => {
      const plain = new JwtError()
      expect(plain).toBeInstanceOf(JWTExtendedException)
      expect(plain).toBeInstanceOf(Error)
      expect(plain).toMatchObject({ name, status, message, errors: undefined, further: {} })
      expect(plain.toWire()).toEqual({ status, message })

      const cause = new Error('why')
      const errors = [{ field: 'sub', message: 'unknown' }]
      const full = new JwtError({ errors, cause, realm: 'x', attempt: 2 })
      expect(full).toMatchObject({ name, status, message, errors, cause })
      expect(full.further).toEqual({ realm: 'x', attempt: 2 })
      expect(full.toWire()).toEqual({ status, message, errors })

      const verify: VerifyJwt = () => {
        throw full
      }
      await using app = await startServer({ jwtVeryficationFactory: verify })
      const browser = await logIn(app)
      const headers = { authorization: `Bearer ${browser.jwt}` }
      for (const path of ['/api/me', '/api/public'])
        expect(await me(app, browser, headers, path)).toEqual({
          status,
          body: { status, message, errors },
        })
    },
  )
})

describe('the JWT that pages embed', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  test('jwt() returns a hidden field named authorized_token, only for a session [T664]', async () => {
    const { agent, jwt } = await logIn(app)
    const page = await (await agent.fetch(`${app.issuer}/`)).text()
    expect(page).toMatch(
      /<input type="hidden" name="authorized_token" value="[\w-]+\.[\w-]+\.[\w-]+">/,
    )
    expect(jwt).not.toBe('')
    const anonymous = await fetch(`${app.issuer}/`)
    expect(await anonymous.text()).not.toContain('authorized_token')
    expect(anonymous.headers.get('cache-control')).toBe('no-store')
  })

  test('decision §3 has the specified header and claims [T139]', async () => {
    const { agent, identifier, jwt } = await logIn(app)
    const now = Math.floor(app.now() / 1000)
    expect(claimsOf(`.${jwt}`)).toEqual({ alg: 'HS256', typ: 'session+jwt' })
    const claims = claimsOf(jwt)
    expect(claims).toEqual({
      sub: String(app.user.id),
      iat: now,
      exp: now + 86_400,
      jti: expect.stringMatching(/^[\w-]{22,}$/),
      aud: app.issuer,
      sid: expect.any(String),
    })
    expect(claims.sid).not.toBe(identifier)
    const again = claimsOf(
      /authorized_token" value="([^"]+)/.exec(
        await (await agent.fetch(`${app.issuer}/`)).text(),
      )?.[1] ?? '',
    )
    expect(again.jti).not.toBe(claims.jti)
    expect(again.sid).toBe(claims.sid)
  })

  test('RFC 7519 §4 ignores unknown claims [T140]', async () => {
    const browser = await logIn(app)
    const jwt = forgedJwt({ ...claimsOf(browser.jwt), scope: 'x', admin: true, iss: 'x' })
    expect(await me(app, browser, { authorization: `Bearer ${jwt}` })).toEqual(session)
  })

  test('does not replace the session cookie in requests for pages', async () => {
    const { jwt } = await logIn(app)
    for (const value of [jwt, await app.personalToken()]) {
      const headers = { authorization: `Bearer ${value}` }
      const page = await fetch(`${app.issuer}/?access_token=${value}`, { headers })
      expect(await page.text()).toContain('Nobody is logged in.')
      const login = await fetch(`${app.issuer}/login?access_token=${value}`, {
        headers,
        redirect: 'manual',
      })
      expect(login.status).toBe(200)
      const { clientId } = await app.client()
      const url = `${authorizeUrl(app.issuer, { client_id: clientId })}&access_token=${value}`
      const toLogin = await fetch(url, { headers, redirect: 'manual' })
      expect(toLogin.headers.get('location')).toMatch(/^\/login\?/)
    }
  })

  test('JW-03 never fetches a URL from a JWT [T149]', async () => {
    const browser = await logIn(app)
    let requests = 0
    const bait = createServer((_req, res) => {
      requests += 1
      res.end('{"keys":[]}')
    })
    await new Promise<void>((resolve) => bait.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(bait.address() as { port: number }).port}/keys`
    for (const name of ['jku', 'x5u', 'iss', 'kid']) {
      const jwt = forgedJwt(
        { ...claimsOf(browser.jwt), iss: url },
        { header: { [name]: url }, key: 'x' },
      )
      expect(await me(app, browser, { authorization: `Bearer ${jwt}` })).toEqual(decodeError)
    }
    await new Promise((resolve) => bait.close(resolve))
    expect(requests).toBe(0)
  })
})

describe('OAUTH2SERVER_JWT_EXPIRES_IN', () => {
  test('sets the lifetime of the JWT, independent of the session', async () => {
    await using app = await startServer({ jwtExpiresIn: 60 })
    const browser = await logIn(app)
    const headers = { authorization: `Bearer ${browser.jwt}` }
    app.advance(59)
    expect(await me(app, browser, headers)).toEqual(session)
    app.advance(1)
    const expired = refusal(403, 'The JWT token is expired.')
    expect(await me(app, browser, headers)).toEqual(expired)
    expect(await me(app, browser, headers, '/api/public')).toEqual(expired)
    const page = await (await browser.agent.fetch(`${app.issuer}/`)).text()
    const fresh = /authorized_token" value="([^"]+)/.exec(page)?.[1]
    expect(await me(app, browser, { authorization: `Bearer ${fresh}` })).toEqual(session)
  })

  test('JW-04 rejects a JWT with a longer lifetime than configured', async () => {
    await using app = await startServer({ jwtExpiresIn: 60 })
    const browser = await logIn(app)
    const now = app.now() / 1000
    for (const [claims, expected] of [
      [{ iat: now, exp: now + 60 }, session],
      [{ iat: now, exp: now + 61 }, noAuthorization],
      [{ iat: now - 30, exp: now + 31 }, noAuthorization],
      [{ iat: now, exp: app.now() }, noAuthorization],
      // Clocks of two nodes may differ by a minute.
      [{ iat: now + 60, exp: now + 120 }, session],
      [{ iat: now + 61, exp: now + 120 }, noAuthorization],
    ] as const) {
      const jwt = forgedJwt({ ...claimsOf(browser.jwt), ...claims })
      expect(await me(app, browser, { authorization: `Bearer ${jwt}` })).toEqual(expected)
    }
  })
})

describe('OAUTH2SERVER_JWT_AUTH_HEADER and OAUTH2SERVER_JWT_AUTH_HEADER_TYPE', () => {
  type Sent = (jwt: string) => Record<string, string>
  test.each<
    [
      string,
      { jwtAuthHeader?: string; jwtAuthHeaderType?: string | null },
      Sent,
      readonly (readonly [Sent, HttpResponse])[],
    ]
  >([
    [
      'another header',
      { jwtAuthHeader: 'X-Session-JWT' },
      (jwt) => ({ 'x-session-jwt': `Bearer ${jwt}` }),
      [
        [() => ({}), missing('X-Session-JWT', 'Bearer')],
        [(jwt) => ({ 'x-session-jwt': jwt }), missing('X-Session-JWT', 'Bearer')],
        [(jwt) => ({ 'x-session-jwt': `JWT ${jwt}` }), missing('X-Session-JWT', 'Bearer')],
        [() => ({ 'x-session-jwt': 'Bearer a.b' }), decodeError],
      ],
    ],
    [
      'another type',
      { jwtAuthHeaderType: 'JWT' },
      (jwt) => ({ authorization: `jwt ${jwt}` }),
      [
        [() => ({}), missing('Authorization', 'JWT')],
        [(jwt) => ({ authorization: `Bearer ${jwt}` }), missing('Authorization', 'JWT')],
        [(jwt) => ({ authorization: jwt }), missing('Authorization', 'JWT')],
        [() => ({ authorization: 'JWT a' }), decodeError],
      ],
    ],
    [
      'a missing type',
      { jwtAuthHeaderType: null },
      (jwt) => ({ authorization: jwt }),
      [
        [() => ({}), missing('Authorization')],
        [() => ({ authorization: '' }), missing('Authorization')],
        [(jwt) => ({ authorization: `Bearer ${jwt}` }), decodeError],
        [() => ({ authorization: 'a.b' }), decodeError],
      ],
    ],
    [
      'another header without a type',
      { jwtAuthHeader: 'X-Session-JWT', jwtAuthHeaderType: null },
      (jwt) => ({ 'X-SESSION-JWT': jwt }),
      [
        [() => ({}), missing('X-Session-JWT')],
        [() => ({ 'x-session-jwt': '' }), missing('X-Session-JWT')],
        [(jwt) => ({ 'x-session-jwt': `Bearer ${jwt}` }), decodeError],
        [(jwt) => ({ 'x-session-jwt': `${jwt}, ${jwt}` }), decodeError],
      ],
    ],
  ])('accepts a JWT only as configured: %s [T752]', async (_, settings, right, wrong) => {
    await using app = await startServer(settings)
    const browser = await logIn(app)
    expect(await me(app, browser, right(browser.jwt))).toEqual(session)
    for (const [sent, expected] of wrong)
      expect(await me(app, browser, sent(browser.jwt))).toEqual(expected)

    // An access token is still sent in the header of RFC 6750.
    const token = { authorization: `Bearer ${await app.personalToken()}` }
    const holder = { status: 200, body: { id: app.user.id, kind: 'personal_token' } }
    expect(await me(app, browser, token)).toEqual(holder)
    expect(await me(app, browser, { authorization: 'Bearer bad' })).toMatchObject({ status: 401 })

    // A JWT without its session is rejected even if anonymous callers are allowed.
    for (const path of ['/api/me', '/api/public']) {
      const stranger = await fetch(`${app.issuer}${path}`, { headers: right(browser.jwt) })
      expect(stranger.status).toBe(401)
      expect(stranger.headers.get('www-authenticate')).not.toContain('error')
    }
  })

  test('ignores a JWT in Authorization if another header is configured [T779]', async () => {
    await using app = await startServer({ jwtAuthHeader: 'X-Session-JWT' })
    const browser = await logIn(app)
    const inBoth = {
      authorization: `Bearer ${browser.jwt}`,
      'x-session-jwt': `Bearer ${browser.jwt}`,
    }
    for (const headers of [inBoth, { authorization: inBoth.authorization }])
      for (const path of ['/api/me', '/api/public'])
        expect((await me(app, browser, headers, path)).status).toBe(401)
  })
})

describe('OAUTH2SERVER_JWT_VERYFICATION_FACTORY', () => {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'oauth2server-factory-'))
    await writeFile(join(root, 'package.json'), '{"type":"module"}')
    await writeFile(
      join(root, 'verify.js'),
      `export const verifyByProof = async (headers, context) => {
        if (headers.get('x-proof') !== 'yes') throw new Error('no proof for ' + context.userId)
        return { sub: String(context.userId) }
      }
      export const as_written = () => ({})
      export const noFunction = 1`,
    )
  })
  afterAll(() => rm(root, { recursive: true }))

  test('passes the request headers and the properties of the session to the function [T753]', async () => {
    const verify = vi.fn<VerifyJwt>(() => ({ sub: 'x' }))
    await using app = await startServer({ jwtVeryficationFactory: verify, jwtExpiresIn: 77 })
    const browser = await logIn(app)
    expect(await me(app, browser, { 'x-proof': 'yes', 'x-other': 'too' })).toEqual(session)
    const [headers, context] = verify.mock.calls[0] ?? []
    expect(headers?.get('x-proof')).toBe('yes')
    expect(headers?.get('x-other')).toBe('too')
    expect(context).toEqual({
      userId: app.user.id,
      sessionId: claimsOf(browser.jwt).sid,
      audience: app.issuer,
      keys: [sessionKey()],
      now: app.now(),
      expiresIn: 77,
      header: 'Authorization',
      headerType: 'Bearer',
    })
  })

  test('the function is called only for sessions, not for tokens or anonymous callers', async () => {
    const verify = vi.fn<VerifyJwt>(() => ({ sub: 'x' }))
    await using app = await startServer({ jwtVeryficationFactory: verify })
    await fetch(`${app.issuer}/api/me`, {
      headers: { authorization: `Bearer ${await app.personalToken()}` },
    })
    const stranger = await fetch(`${app.issuer}/api/me`, {
      headers: { authorization: 'Bearer a.b.c' },
    })
    expect(stranger.status).toBe(401)
    expect(verify).not.toHaveBeenCalled()
  })

  test('a function can extend the built-in verification', async () => {
    const verify: VerifyJwt = async (headers, context) => {
      const claims = await jwtVerifyToken(headers, context)
      if (!headers.has('x-proof')) throw new JWTNoAuthorizationError({ errors: ['no proof'] })
      return claims
    }
    await using app = await startServer({ jwtVeryficationFactory: verify })
    const browser = await logIn(app)
    const authorization = `Bearer ${browser.jwt}`
    expect(await me(app, browser, { authorization, 'x-proof': 'yes' })).toEqual(session)
    expect(await me(app, browser, { authorization })).toEqual({
      status: 400,
      body: { status: 400, message: 'The JWT token is not valid.', errors: ['no proof'] },
    })
    expect(await me(app, browser, { authorization: 'Bearer a.b.c', 'x-proof': 'yes' })).toEqual(
      decodeError,
    )
  })

  test.each(['./verify.js:verify_by_proof', './verify.js:verifyByProof'])(
    'the import path %s is relative to the application root [T780]',
    async (jwtVeryficationFactory) => {
      await using app = await startServer({ jwtVeryficationFactory, applicationRoot: root })
      const browser = await logIn(app)
      expect(await me(app, browser, { 'x-proof': 'yes' })).toEqual(session)
      expect(await me(app, browser, { 'x-proof': 'yes' }, '/api/public')).toEqual(session)
    },
  )

  test.each([
    './verify.js:as_written',
    'svc_oauth2server.utils:jwt_verify_token',
    'svc_oauth2server.utils:jwtVerifyToken',
  ])('the import path %s is found', async (jwtVeryficationFactory) => {
    await using app = await startServer({ jwtVeryficationFactory, applicationRoot: root })
    const browser = await logIn(app)
    expect(await me(app, browser, { authorization: `Bearer ${browser.jwt}` })).toEqual(session)
  })

  test.each([
    './verify.js:absent',
    './absent.js:verify',
    './verify.js:noFunction',
    'svc_oauth2server.absent:x',
    'a missing colon',
    ':x',
  ])(
    'refuses to start with the import path %s, and reports the setting',
    async (jwtVeryficationFactory) => {
      const start = startServer({ jwtVeryficationFactory, applicationRoot: root })
      await expect(start).rejects.toThrow(InvalidSettings)
      await expect(start).rejects.toThrow('OAUTH2SERVER_JWT_VERYFICATION_FACTORY')
    },
  )

  test.each<[string, VerifyJwt]>([
    [
      'throws an unexpected error',
      () => {
        throw new Error('secret detail')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('secret detail')
      },
    ],
    ['returns nothing', () => undefined as never],
    ['returns true', () => true as never],
    ['returns null', () => null as never],
  ])('returns 500 without details to every session if the function %s', async (_, verify) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await using app = await startServer({ jwtVeryficationFactory: verify })
    const browser = await logIn(app)
    for (const path of ['/api/me', '/api/public']) {
      const response = await browser.agent.fetch(`${app.issuer}${path}`, {
        headers: { authorization: `Bearer ${browser.jwt}` },
      })
      expect(response.status).toBe(500)
      expect(await response.text()).not.toMatch(/secret detail|\bat .*:\d+/)
    }
    log.mockRestore()
  })
})

describe('rotated secret keys', () => {
  const next = 'the next secret key, of more than 32 bytes'
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  test('a new current key signs new JWTs, while existing sessions, JWTs, CSRF tokens and access tokens remain valid', async () => {
    const browser = await logIn(app)
    const token = await app.personalToken()
    await using rotated = await startServer({
      beside: app,
      issuer: app.issuer,
      secretKeys: [next, secretKey],
    })
    expect(await me(rotated, browser, { authorization: `Bearer ${browser.jwt}` })).toEqual(session)
    expect(await me(rotated, browser, { authorization: `Bearer ${token}` })).toMatchObject({
      status: 200,
    })

    const page = await (await browser.agent.fetch(`${rotated.issuer}/`)).text()
    const fresh = /authorized_token" value="([^"]+)/.exec(page)?.[1] ?? ''
    expect(
      forgedJwt(JSON.parse(Buffer.from(fresh.split('.')[1] ?? '', 'base64url').toString()), {
        key: sessionKey(next),
      }),
    ).toBe(fresh)
    // The node that was not restarted does not have the new key.
    expect(await me(app, browser, { authorization: `Bearer ${fresh}` })).toEqual(decodeError)

    const logout = await browser.agent.fetch(`${rotated.issuer}/logout`, {
      method: 'POST',
      body: new URLSearchParams({ csrf_token: browser.csrfToken }),
    })
    expect(logout.status).toBe(303)
  })

  test('JW-02 rejects a JWT signed with a removed key', async () => {
    await using own = await startServer({ secretKeys: [next] })
    const browser = await logIn(own)
    expect(await me(own, browser, { authorization: `Bearer ${browser.jwt}` })).toEqual(session)
    const old = forgedJwt(claimsOf(browser.jwt), { key: sessionKey(secretKey) })
    expect(await me(own, browser, { authorization: `Bearer ${old}` })).toEqual(decodeError)
  })
})
