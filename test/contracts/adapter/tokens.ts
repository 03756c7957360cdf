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

/** The two ways to send a token. */
const carriers: Readonly<Record<string, (token: string) => Presented>> = {
  'in the header': (token) => ({ authorization: `Bearer ${token}` }),
  'in the query': (token) => ({ query: `?access_token=${token}` }),
}

const json = ['Content-Type: application/json']
const note = JSON.stringify({ text: 'a note' })

/** The types of tokens. Each function creates a token of a user that expires after an hour. */
const kinds = {
  'personal token': {
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

/** Defines tests of decision §3 for each type of token, in the header and in the query. */
export const describeTokens = (world: () => World): void => {
  const both = async (presented: Presented, guarded: unknown, open: unknown = guarded) => {
    expect(await world().ask('/api/me', presented)).toEqual(guarded)
    expect(await world().ask('/api/public', presented)).toEqual(open)
  }

  test('the response to a request with a token contains the quota of the token, unlike other responses', async () => {
    const { app, client, user } = world()
    const token = await app.control.accessToken(user.id, client.clientId, [])
    const headersOf = async (presented: Presented) =>
      (await world().send(world().path('/api/me'), presented)).headers
    const headers = await headersOf({ authorization: `Bearer ${token}` })
    expect(headers.get('ratelimit-policy')).toBe('"token";q=1000000;w=60')
    expect(headers.get('ratelimit')).toMatch(/^"token";r=999999;t=\d+$/)
    expect((await headersOf({})).get('ratelimit')).toBeNull()
  })

  describe('no credential', () => {
    test('returns 401 and a challenge without an error, or treats the request as anonymous if the resource allows it', () =>
      both({}, bare, anonymous))
    test('returns the required scope in the challenge', async () => {
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

  describe.each(Object.entries(kinds))('a %s', (_, { make, kind }) => {
    describe.each(Object.entries(carriers))('%s', (_, carry) => {
      test('authenticates its user, and returns the e-mail address only with the scope user:email', async () => {
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

      test('is accepted if it has the required scope; otherwise, the response is 403 and contains the required scope', async () => {
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

      test('causes 401 invalid_token if it is expired, revoked or unknown, even if the resource allows anonymous callers', async () => {
        const { app, user } = world()
        const revoked = await make(world(), user.id, [])
        await app.control.revoke(revoked)
        const expired = await make(world(), user.id, [])
        await app.control.advance(3600)
        for (const token of [expired, revoked, 'A'.repeat(60), 'bad'])
          await both(carry(token), invalidToken)
      })

      test('causes 401 if its user is inactive, until reactivation', async () => {
        const { app, other } = world()
        const presented = carry(await make(world(), other.id, []))
        await app.control.setActive(other.id, false)
        await both(presented, invalidToken)
        await app.control.setActive(other.id, true)
        expect((await world().ask('/api/me', presented)).status).toBe(200)
      })

      test('has priority over a session cookie, even if the token is invalid', async () => {
        const { session, other } = world()
        const { cookie } = session
        const valid = carry(await make(world(), other.id, []))
        expect(await world().ask('/api/me', { ...valid, cookie })).toEqual(
          identified({ id: other.id, kind }),
        )
        await both({ ...carry('A'.repeat(60)), cookie }, invalidToken)
      })

      test('causes 400 invalid_request together with a second credential', async () => {
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
      'returns 401 invalid_token for the query %s, with and without a session',
      async (query) => {
        await both({ query }, invalidToken)
        await both({ query, cookie: world().session.cookie }, invalidToken)
      },
    )

    test('returns 400 invalid_request if the parameter is repeated or the request has an Authorization header', async () => {
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
      'returns 401 invalid_token for the header "%s"',
      (authorization) => both({ authorization }, invalidToken),
    )
    test.each(['Bearer a b', 'Bearer \xE9', 'Bearer "a"', 'Bearer =a'])(
      'returns 401 invalid_token for the invalid token in the header "%s"',
      (authorization) => both({ authorization }, invalidToken),
    )
    test.each(['Basic YTpi', 'Basic a.b', 'Token abc', 'Digest username="a", realm="b"'])(
      'ignores the header "%s", which has another scheme',
      (authorization) => both({ authorization }, bare, anonymous),
    )
    test('ignores a token in the body of a request', async () => {
      const token = await kinds['personal token'].make(world(), world().user.id, ['notes:write'])
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
