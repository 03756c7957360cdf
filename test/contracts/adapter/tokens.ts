import { describe, expect, test } from 'vitest'
import {
  anonymous,
  bare,
  identified,
  insufficient,
  invalidToken,
  twoCredentials,
} from './expected-responses.ts'
import type { Presented, World } from './world.ts'

/** How a token is presented. */
const carriers: Readonly<Record<string, (token: string) => Presented>> = {
  'in the header': (token) => ({ authorization: `Bearer ${token}` }),
  'in the query': (token) => ({ query: `?access_token=${token}` }),
}

const json = ['Content-Type: application/json']
const note = JSON.stringify({ text: 'a note' })

/** Every kind of token, created for a user; each lives for an hour. */
const kinds = {
  personal_token: {
    make: ({ app }: World, user: string | number, scopes: readonly string[]) =>
      app.control.personalToken(user, { scopes, expiresIn: 3600 }),
    kind: 'personal_token',
  },
  'access token': {
    make: ({ app, client }: World, user: string | number, scopes: readonly string[]) =>
      app.control.accessToken(user, client.clientId, scopes),
    kind: 'access_token',
  },
} as const

/** Decision §3: every kind of token × every state × every carrier. */
export const describeTokens = (world: () => World): void => {
  const both = async (presented: Presented, guarded: unknown, open: unknown = guarded) => {
    expect(await world().ask('/api/me', presented)).toEqual(guarded)
    expect(await world().ask('/api/public', presented)).toEqual(open)
  }

  describe('no credential', () => {
    test('returns 401 with a bare challenge; is anonymous where that is allowed', () =>
      both({}, bare, anonymous))
    test('names the required scope, with the same status', async () => {
      expect(await world().ask('/api/notes')).toEqual(bare)
      const { issuer } = world().app.place
      const { origin, pathname } = new URL(issuer)
      const metadata = `${origin}/.well-known/oauth-protected-resource${pathname.replace(/\/$/, '')}`
      const challenge = async (path: string, method: string) =>
        (await world().send(world().path(path), { method })).headers.get('www-authenticate')
      const named = (scope: string) =>
        `Bearer realm="${issuer}", ${scope}resource_metadata="${metadata}"`
      expect(await challenge('/api/notes', 'GET')).toBe(named('scope="notes:read", '))
      expect(await challenge('/api/notes', 'HEAD')).toBe(named('scope="notes:read", '))
      expect(await challenge('/api/notes', 'POST')).toBe(named('scope="notes:write", '))
      expect(await challenge('/api/me', 'GET')).toBe(named(''))
    })
    test('RFC 9728 §5.1 lets scripts of other sites read the challenge', async () => {
      for (const authorization of [undefined, 'Bearer bad']) {
        const { status, headers } = await world().send(world().path('/api/notes'), {
          headers: ['Origin: https://evil.example'],
          ...(authorization === undefined ? {} : { authorization }),
        })
        expect([status, headers.get('access-control-allow-origin')]).toEqual([401, '*'])
        expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate')
        expect(headers.get('access-control-allow-credentials')).toBeNull()
      }
    })
  })

  describe.each(Object.entries(kinds))('%s', (_, { make, kind }) => {
    describe.each(Object.entries(carriers))('%s', (_, carry) => {
      test('valid: authenticates its user, with the e-mail address only if it has that scope', async () => {
        const { user } = world()
        const plain = carry(await make(world(), user.id, []))
        await both(
          plain,
          identified({ id: user.id, kind }),
          identified({ kind, user: { id: user.id } }),
        )
        const withEmail = carry(await make(world(), user.id, ['user:email']))
        expect(await world().ask('/api/me', withEmail)).toEqual(
          identified({ id: user.id, email: user.email, kind }),
        )
      })

      test('with the required scope: is accepted; with another: returns 403 with the required one', async () => {
        const { user } = world()
        const reads = carry(await make(world(), user.id, ['notes:read']))
        const writes = carry(await make(world(), user.id, ['notes:write']))
        const post = { method: 'POST', headers: json, body: note }
        expect((await world().ask('/api/notes', reads)).status).toBe(200)
        expect(await world().ask('/api/notes', writes)).toEqual(insufficient('notes:read'))
        expect(await world().ask('/api/notes', { ...writes, ...post })).toEqual(
          identified(
            { id: expect.any(Number), text: 'a note', created_at: expect.any(String) },
            201,
          ),
        )
        expect(await world().ask('/api/notes', { ...reads, ...post })).toEqual(
          insufficient('notes:write'),
        )
      })

      test('expired, revoked or unknown: returns 401 invalid_token, also where anonymous is allowed', async () => {
        const { app, user } = world()
        const revoked = await make(world(), user.id, [])
        await app.control.revoke(revoked)
        const expired = await make(world(), user.id, [])
        await app.control.advance(3600)
        for (const token of [expired, revoked, 'A'.repeat(60), 'bad'])
          await both(carry(token), invalidToken)
      })

      test('of an inactive user: returns 401 immediately; reactivation restores it', async () => {
        const { app, other } = world()
        const presented = carry(await make(world(), other.id, []))
        await app.control.setActive(other.id, false)
        await both(presented, invalidToken)
        await app.control.setActive(other.id, true)
        expect((await world().ask('/api/me', presented)).status).toBe(200)
      })

      test('together with a session cookie: the token decides, valid or not', async () => {
        const { session, other } = world()
        const { cookie } = session
        const valid = carry(await make(world(), other.id, []))
        expect(await world().ask('/api/me', { ...valid, cookie })).toEqual(
          identified({ id: other.id, kind }),
        )
        await both({ ...carry('A'.repeat(60)), cookie }, invalidToken)
      })

      test('sent twice: returns 400 invalid_request', async () => {
        const token = await make(world(), world().user.id, [])
        const authorization = `Bearer ${token}`
        const query = `?access_token=${token}`
        const twice: Presented[] = [
          { authorization, query },
          { authorization, query: '?access_token=' },
          { authorization: [authorization, authorization] },
          { authorization: ['Bearer junk', authorization] },
          { authorization: [authorization, 'Bearer junk'] },
          { authorization: `${authorization},${authorization}` },
          { query: `${query}&access_token=${token}` },
          { query: `${query}&%61ccess_token=junk` },
          { authorization: `Bearer ${world().session.jwt}`, query, cookie: world().session.cookie },
        ]
        for (const presented of twice) await both(presented, twoCredentials)
      })
    })
  })

  describe('an empty access_token in the query', () => {
    test.each(['?access_token=', '?access_token', '?%61ccess_token=', '?a=b&access_token='])(
      '%s: returns 401 invalid_token, and is never anonymous or a session',
      async (query) => {
        await both({ query }, invalidToken)
        await both({ query, cookie: world().session.cookie }, invalidToken)
      },
    )

    test('twice, or together with a header: returns 400 invalid_request', async () => {
      const { cookie, jwt } = world().session
      const query = '?access_token='
      for (const presented of [
        { query: `${query}&${query.slice(1)}` },
        { query: `${query}&${query.slice(1)}`, cookie },
        { query, cookie, authorization: `Bearer ${jwt}` },
        { query, authorization: 'Bearer' },
      ])
        await both(presented, twoCredentials)
    })
  })

  describe('a malformed header without a session', () => {
    test.each(['Bearer', 'Bearer ', 'Bearerabc', 'DPoP abc', ''])(
      '"%s": returns 401 invalid_token',
      (authorization) => both({ authorization }, invalidToken),
    )
    test.each(['Bearer a b', 'Bearer \xE9', 'Bearer "a"', 'Bearer =a'])(
      '"%s": returns 401 invalid_token too',
      (authorization) => both({ authorization }, invalidToken),
    )
    test.each(['Basic YTpi', 'Basic a.b', 'Token abc', 'Digest username="a", realm="b"'])(
      '"%s" of another scheme: is treated as without a header',
      (authorization) => both({ authorization }, bare, anonymous),
    )
    test('a token in the body of a request is ignored', async () => {
      const token = await kinds.personal_token.make(world(), world().user.id, ['notes:write'])
      for (const [type, body] of [
        ['application/json', JSON.stringify({ access_token: token, text: 'x' })],
        ['application/x-www-form-urlencoded', `access_token=${token}`],
      ]) {
        const headers = [`Content-Type: ${type}`]
        const presented = { method: 'POST', headers, body: body ?? '' }
        expect(await world().ask('/api/notes', presented)).toEqual(bare)
      }
    })
  })
}
