import { describe, expect, test } from 'vitest'
import { forgedJwt, sessionKey } from '../../support/session.ts'
import {
  anonymous,
  bare,
  decodeError,
  expiredToken,
  identified,
  invalidIssuer,
  missingHeader,
  noAuthorization,
} from './expected-responses.ts'
import { secretKey } from './harness.ts'
import { machine, newBrowser, type Presented, pageOf, type World } from './world.ts'

/** Defines tests of decision §3 for sessions and their JWTs, and for session cookies that another sender replays. */
export const describeSessions = (world: () => World): void => {
  const both = async (presented: Presented, guarded: unknown, open: unknown = guarded) => {
    expect(await world().ask('/api/me', presented)).toEqual(guarded)
    expect(await world().ask('/api/public', presented)).toEqual(open)
  }
  const ofSession = (jwt: string): Presented => ({
    authorization: `Bearer ${jwt}`,
    cookie: world().session.cookie,
  })
  const signed = (changed: Record<string, unknown>, header = {}) =>
    forgedJwt(world().claims(changed), { header, key: sessionKey(secretKey) })
  const seconds = async () => Math.floor((await world().app.control.advance(0)) / 1000)
  const theUser = () => {
    const { id, email } = world().user
    return [
      identified({ id, email, kind: 'session' }),
      identified({ kind: 'session', user: { id } }),
    ] as const
  }

  describe('a session', () => {
    test('authenticates the user with the JWT of the page, and requires no scopes', async () => {
      const presented = ofSession(world().session.jwt)
      await both(presented, ...theUser())
      expect((await world().ask('/api/notes', presented)).status).toBe(200)
    })

    test('without a JWT, returns 400, or treats the request as anonymous if the resource allows anonymous callers', () =>
      both({ cookie: world().session.cookie }, missingHeader, anonymous))

    test.each(['Bearer', 'Bearer ', ''])(
      'returns 400 for the header "%s", even if the resource allows anonymous callers',
      (authorization) => both({ authorization, cookie: world().session.cookie }, missingHeader),
    )

    test.each(['Basic YTpi', 'Token abc', 'JWT a.b.c'])(
      'ignores the header "%s", which has another scheme',
      (authorization) =>
        both({ authorization, cookie: world().session.cookie }, missingHeader, anonymous),
    )

    test.each(['a.b', 'a.b.c', '..', 'a.b.c.d.e'])('returns 400 for the JWT %s', (jwt) =>
      both(ofSession(jwt), decodeError),
    )
    test('returns 400 for a JWT that is signed with another key', () =>
      both(ofSession(forgedJwt(world().claims(), { key: 'another key' })), decodeError))
    test('returns 403 for an expired JWT', async () =>
      both(ofSession(signed({ exp: (await seconds()) - 1 })), expiredToken))
    test('returns 403 for the JWT of another user or of another session', async () => {
      await both(ofSession(world().others.jwt), invalidIssuer)
      await both(ofSession(world().second.jwt), invalidIssuer)
    })
    test.each(['sub', 'exp', 'aud', 'jti', 'sid'])('returns 400 for a JWT without %s', (claim) =>
      both(ofSession(signed({ [claim]: undefined })), noAuthorization),
    )
    test('returns 400 for a JWT with another aud or typ', async () => {
      await both(ofSession(signed({ aud: 'https://other.example' })), noAuthorization)
      await both(ofSession(signed({}, { typ: 'JWT' })), noAuthorization)
    })

    test('of an inactive user: returns 401 and a challenge without an error until reactivation', async () => {
      const { app, other } = world()
      const { jwt, cookie } = world().others
      const presented = { authorization: `Bearer ${jwt}`, cookie }
      await app.control.setActive(other.id, false)
      await both(presented, bare)
      await both({ cookie }, bare, anonymous)
      await app.control.setActive(other.id, true)
      expect((await world().ask('/api/me', presented)).status).toBe(200)
    })

    test('returns 401 and a challenge without an error for two session cookies', async () => {
      const { cookie, jwt } = world().session
      const cookies = `${cookie}; ${world().second.cookie}`
      await both({ authorization: `Bearer ${jwt}`, cookie: cookies }, bare)
      await both({ authorization: `Bearer ${jwt}`, cookie: [cookie, cookie] }, bare)
    })

    test('returns 401 and a challenge without an error after the logout', async () => {
      const { app, second } = world()
      const url = `${app.url}${app.place.logoutPath}`
      const body = new URLSearchParams({ csrf_token: second.csrfToken })
      expect((await second.agent.fetch(url, { method: 'POST', body })).status).toBe(303)
      await both({ authorization: `Bearer ${second.jwt}`, cookie: second.cookie }, bare)
    })
  })

  describe('a JWT without its session', () => {
    test.each<[string, () => string[]]>([
      ['a missing cookie', () => []],
      [
        'an unknown session cookie',
        () => [world().session.cookie.replace(/=.*/, `=${'A'.repeat(43)}`)],
      ],
      ['a cookie with another name', () => ['theme=dark']],
    ])('returns 401 and a challenge without an error for %s', (_, cookie) =>
      both({ authorization: `Bearer ${world().session.jwt}`, cookie: cookie() }, bare),
    )
  })

  describe('a replayed session cookie', () => {
    const replayed = async (headers: readonly string[]) => {
      const { jwt, cookie } = world().session
      const before = (await world().app.control.events()).length
      await both({ authorization: `Bearer ${jwt}`, cookie, headers }, bare)
      const events = (await world().app.control.events()).slice(before)
      expect(events).toContain('session.moved')
      await both(ofSession(jwt), ...theUser())
    }

    test('is rejected from another browser, and remains valid for the user', () =>
      replayed(['User-Agent: curl/8']))

    test('is rejected from another IP address, and remains valid for the user', async () => {
      if (!world().app.place.isProxied) return
      await replayed(['X-Forwarded-For: 198.51.100.9'])
      // The server uses the rightmost address that is not a trusted proxy. A client can forge the addresses to its
      // left.
      await replayed([`X-Forwarded-For: ${machine}, 198.51.100.9`])
      await replayed([`X-Forwarded-For: ${machine}`, 'X-Forwarded-For: 198.51.100.9'])
    })

    test('is accepted with any X-Forwarded-For if no proxy is trusted', async () => {
      if (world().app.place.isProxied) return
      const presented = ofSession(world().session.jwt)
      await both({ ...presented, headers: ['X-Forwarded-For: 198.51.100.9'] }, ...theUser())
    })
  })

  describe("the application's page", () => {
    test('shows the logged-in user, and embeds the JWT for its scripts', async () => {
      const { app, session, user } = world()
      const { status, headers, html, jwt } = await pageOf(app, session.agent)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toMatch(/^text\/html/)
      expect(headers.get('cache-control')).toContain('no-store')
      expect(html).toContain(user.email)
      expect(html).toContain(`<input type="hidden" name="authorized_token" value="${jwt}">`)
      const [, script = ''] = /<script src="([^"]+)"/.exec(html) ?? []
      expect(script).toBe(world().oauth('/session.js'))
      const served = await session.agent.fetch(new URL(script, app.url))
      expect(served.headers.get('content-type')).toMatch(/^text\/javascript/)
      expect(await served.text()).toContain('"Authorization", "Bearer "')
    })

    test('shows no user without the cookie, even if the request has a token', async () => {
      const { app, user } = world()
      const token = await app.control.personalToken(user.id, { scopes: [] })
      const agent = newBrowser(app, { authorization: `Bearer ${token}` })
      const { status, html, jwt, headers } = await pageOf(app, agent)
      expect([status, jwt]).toEqual([200, ''])
      expect(html).not.toContain(user.email)
      // A new browser receives a cookie with the page, because the forms of the page are bound to the cookie.
      expect(headers.getSetCookie()).toEqual([expect.stringContaining('oauth2server_session=')])
    })

    test('shows no user if the cookie comes from another browser', async () => {
      const { app, session } = world()
      const { html } = await pageOf(app, session.agent, { 'user-agent': 'curl/8' })
      expect(html).not.toContain(world().user.email)
    })
  })
}
