import { describe, expect, test } from 'vitest'
import { newPkce } from '../../support/user-agent.ts'
import { redirectUri } from './harness.ts'
import { newBrowser, type World } from './world.ts'

const form = 'Content-Type: application/x-www-form-urlencoded'

const parsed = (text: string): Record<string, unknown> => JSON.parse(text)

/** The endpoints and pages, as they come through the adapter. */
export const describeProtocol = (world: () => World): void => {
  const basic = ({ client }: World, secret = client.clientSecret) =>
    `Basic ${btoa(`${client.clientId}:${secret}`)}`
  const token = (
    body: string,
    { authorization = basic(world()), headers = [form], query = '' } = {},
  ) =>
    world().send(world().oauth('/token'), {
      method: 'POST',
      ...(authorization === '' ? {} : { authorization }),
      headers,
      body,
      query,
    })
  const authorizeUrl = (parameters: Record<string, string>) => {
    const { app, client } = world()
    const all = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      ...parameters,
    }
    return `${app.url}${app.place.oauthPrefix}/authorize?${new URLSearchParams(all)}`
  }

  test('login, consent, code, token, resource, refresh', async () => {
    const { app, user } = world()
    const { verifier, challenge } = newPkce()
    const url = authorizeUrl({
      state: 'x y&z',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const agent = newBrowser(app)
    const first = await agent.fetch(url)
    expect(first.status).toBe(303)
    const login = new URL(first.headers.get('location') ?? '', url)
    expect(login.pathname).toBe(world().path(app.place.loginPath))
    const next = login.searchParams.get('next') ?? ''
    expect(next.startsWith(world().oauth('/authorize?'))).toBe(true)

    const entered = await agent.submit(await agent.browse(login), {
      email: user.email,
      password: 'correct horse battery staple',
    })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, next])
    const consent = await agent.browse(new URL(next, url))
    expect(consent.status).toBe(200)
    const decided = await agent.submit(consent, { confirm: 'yes' })
    expect(decided.status).toBe(303)
    const answer = new URL(decided.headers.get('location') ?? '')
    expect(answer.origin + answer.pathname).toBe(redirectUri)
    expect(answer.searchParams.get('state')).toBe('x y&z')
    expect(answer.searchParams.get('iss')).toBe(app.place.issuer)

    const redeemed = await token(
      `${new URLSearchParams({
        grant_type: 'authorization_code',
        code: answer.searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        code_verifier: verifier,
      })}`,
    )
    expect(redeemed.status).toBe(200)
    expect(redeemed.headers.get('cache-control')).toBe('no-store')
    const issued = parsed(redeemed.text)
    const authorization = `Bearer ${issued.access_token}`
    expect((await world().ask('/api/me', { authorization })).body).toEqual({
      id: user.id,
      kind: 'access_token',
    })
    const info = await world().send(world().oauth('/info'), { authorization })
    expect(parsed(info.text)).toMatchObject({ user: { id: user.id }, scopes: ['notes:read'] })

    const refreshed = await token(`grant_type=refresh_token&refresh_token=${issued.refresh_token}`)
    expect(refreshed.status).toBe(200)
    expect((await world().ask('/api/me', { authorization })).status).toBe(401)
  })

  test('denied: the client learns it', async () => {
    const { app, session } = world()
    const consent = await session.agent.browse(authorizeUrl({ prompt: 'consent' }))
    const decided = await session.agent.submit(consent, { confirm: 'no' })
    const answer = new URL(decided.headers.get('location') ?? '')
    expect(answer.searchParams.get('error')).toBe('access_denied')
    expect(answer.searchParams.get('iss')).toBe(app.place.issuer)
  })

  describe('client credentials', () => {
    const grant = 'grant_type=client_credentials'
    const inBody = () => {
      const { clientId, clientSecret } = world().client
      return `&client_id=${clientId}&client_secret=${clientSecret}`
    }

    test.each(['in the header', 'in the body'])(
      'valid, %s: a token of the owner',
      async (where) => {
        const answer =
          where === 'in the header'
            ? await token(grant)
            : await token(grant + inBody(), { authorization: '' })
        expect(answer.status).toBe(200)
        const authorization = `Bearer ${parsed(answer.text).access_token}`
        const { body } = await world().ask('/api/me', { authorization })
        expect(body).toEqual({ id: world().user.id, kind: 'access_token' })
      },
    )

    test.each<[string, () => Promise<{ status: number; headers: Headers; text: string }>, string]>([
      ['none', () => token(grant, { authorization: '' }), '401 invalid_client'],
      [
        'a wrong secret',
        () => token(grant, { authorization: basic(world(), 'wrong') }),
        '401 invalid_client Basic',
      ],
      [
        'an unknown client',
        () => token(grant, { authorization: `Basic ${btoa('nobody:x')}` }),
        '401 invalid_client Basic',
      ],
      ['both at once', () => token(grant + inBody()), '400 invalid_request'],
      ['malformed', () => token(grant, { authorization: 'Basic !' }), '401 invalid_client Basic'],
      ['a bearer token', () => token(grant, { authorization: 'Bearer a' }), '401 invalid_client'],
    ])('%s: refused', async (_, send, expected) => {
      const { status, headers, text } = await send()
      const challenge = headers.get('www-authenticate')?.split(' ')[0]
      const said = [status, parsed(text).error, challenge].filter(Boolean).join(' ')
      expect(said.startsWith(expected)).toBe(true)
    })

    test("an inactive owner's: 401 invalid_client", async () => {
      const { app, other } = world()
      const client = await app.control.createClient(other.id)
      const authorization = `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}`
      await app.control.setActive(other.id, false)
      const refused = await token(grant, { authorization })
      await app.control.setActive(other.id, true)
      expect([refused.status, parsed(refused.text).error]).toEqual([401, 'invalid_client'])
    })
  })

  describe('a form', () => {
    const grant = 'grant_type=client_credentials'
    const refusal = async (answer: Promise<{ status: number; text: string }>) => {
      const { status, text } = await answer
      return `${status} ${parsed(text).error}`
    }

    test.each([
      `${grant}&${grant}`,
      `${grant}&scope=notes%3Aread&scope=notes%3Aread`,
      `${grant}&scope=notes%3Aread&scope=notes%3Awrite`,
    ])('with a doubled parameter, %s: 400 invalid_request', async (body) => {
      expect(await refusal(token(body))).toBe('400 invalid_request')
    })
    test.each(['grant_type[]=client_credentials', 'grant_type[a]=client_credentials', 'x=1', ''])(
      'without the parameter, %s: 400 invalid_request',
      async (body) => expect(await refusal(token(body))).toBe('400 invalid_request'),
    )
    test('its query is never read in its place', async () => {
      expect(await refusal(token('x=1', { query: `?${grant}` }))).toBe('400 invalid_request')
    })
    test('an unknown parameter may be doubled', async () => {
      expect((await token(`${grant}&foo=1&foo=2&bar[]=3`)).status).toBe(200)
    })
    test.each([
      ['JSON', ['Content-Type: application/json'], '{"grant_type":"client_credentials"}'],
      ['text', ['Content-Type: text/plain'], grant],
      ['no type', [], grant],
      ['a type that only looks alike', [`${form}X`], grant],
      ['two types', [form, 'Content-Type: application/json'], grant],
    ])('%s: 400 invalid_request', async (_, headers, body) => {
      expect(await refusal(token(body, { headers }))).toBe('400 invalid_request')
    })
    test('another character set: refused', async () => {
      // A body parser of the application may answer first, with a status of its own.
      const { status } = await token(grant, { headers: [`${form}; charset=utf-16`] })
      expect([400, 415]).toContain(status)
    })
    test('its type may be written otherwise', async () => {
      const headers = ['content-type: APPLICATION/X-www-form-urlencoded;charset=UTF-8']
      expect((await token(grant, { headers })).status).toBe(200)
    })
    test('over 64 KiB: 413', async () => {
      expect((await token(`${grant}&x=${'a'.repeat(70_000)}`)).status).toBe(413)
    })
  })

  test('a doubled parameter of an authorization request leads to the error view, never to the client', async () => {
    const { agent } = world().session
    for (const name of ['client_id', 'redirect_uri', 'state']) {
      const url = authorizeUrl({ state: 'a' })
      const value = new URL(url).searchParams.get(name) ?? ''
      const answer = await agent.fetch(`${url}&${name}=${encodeURIComponent(value)}`)
      expect(answer.status).toBe(303)
      const view = new URL(answer.headers.get('location') ?? '', url)
      expect(view.pathname).toBe(world().oauth('/errors'))
      expect(view.searchParams.get('error')).toBe('invalid_request')
      expect((await agent.fetch(view)).status).toBe(400)
    }
  })

  test('several cookies of one answer stay several', async () => {
    const { headers } = await fetch(new URL(world().oauth('/two-cookies'), world().app.url))
    expect(headers.getSetCookie()).toEqual(['a=1; Path=/, x', 'b=2; Path=/'])
  })

  describe('HEAD', () => {
    test('is answered as GET is, without a body, and guarded like it', async () => {
      const { app, user } = world()
      const value = await app.control.personalToken(user.id, { scopes: ['notes:read'] })
      const head = (authorization?: string) =>
        world().send(world().path('/api/notes'), {
          method: 'HEAD',
          ...(authorization === undefined ? {} : { authorization }),
        })
      for (const [answer, status] of [
        [await head(), 401],
        [await head('Bearer bad'), 401],
        [await head(`Bearer ${value}`), 200],
        [await world().send(world().oauth('/style.css'), { method: 'HEAD' }), 200],
        [await world().send(world().path(app.place.loginPath), { method: 'HEAD' }), 200],
      ] as const)
        expect([answer.status, answer.text]).toEqual([status, ''])
    })
  })

  describe('another method', () => {
    test.each([
      ['OPTIONS', '/token', 'POST'],
      ['GET', '/token', 'POST'],
      ['PUT', '/authorize', 'GET, HEAD, POST'],
      ['DELETE', '/info', 'GET, HEAD'],
      ['OPTIONS', '/ping', 'GET, HEAD, POST'],
    ])('%s %s: 405 with what is allowed', async (method, path, allow) => {
      const answer = await world().send(world().oauth(path), { method })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    })

    test('OPTIONS tells nothing of a guarded resource', async () => {
      const { app, user } = world()
      const value = await app.control.personalToken(user.id, { scopes: ['notes:read'] })
      const { status, headers, text } = await world().send(world().path('/api/notes'), {
        method: 'OPTIONS',
        authorization: `Bearer ${value}`,
      })
      expect([200, 204, 404, 405]).toContain(status)
      expect(text).not.toContain('created_at')
      expect(headers.get('set-cookie')).toBeNull()
    })
  })

  describe('addresses', () => {
    test.each(['oauth-authorization-server', 'oauth-protected-resource'])(
      '/.well-known/%s stands at the root of the host, and under the path of the issuer',
      async (name) => {
        const { app } = world()
        const base = world().path('')
        for (const path of [`/.well-known/${name}${base}`, `${base}/.well-known/${name}`]) {
          const response = await fetch(new URL(path, app.url))
          expect([path, response.status]).toEqual([path, 200])
          expect(JSON.stringify(await response.json())).toContain(`"${app.place.issuer}"`)
        }
      },
    )

    test('come from the issuer, whatever host, scheme or target a request names', async () => {
      const path = `/.well-known/oauth-authorization-server${world().path('')}`
      const metadata = (await world().send(path)).text
      expect(metadata).toContain(
        `"${world().app.place.issuer}${world().app.place.oauthPrefix}/token"`,
      )
      for (const headers of [
        ['Host: evil.example'],
        ['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: gopher', 'X-Forwarded-Prefix: /x'],
        ['Forwarded: host=evil.example;proto=http'],
      ])
        expect((await world().send(path, { headers })).text).toBe(metadata)
      expect((await world().send(`http://evil.example${path}`)).text).toBe(metadata)
    })

    test('a redirect of ours names no host', async () => {
      const url = new URL(authorizeUrl({}))
      const answer = await world().send(url.pathname + url.search, {
        headers: ['Host: evil.example'],
      })
      expect(answer.headers.get('location')).toMatch(/^\/(?!\/)/)
    })

    test("what is none of ours is the application's, or a page of ours under our prefix", async () => {
      const ours = await world().send(world().oauth('/nothing'))
      expect([ours.status, ours.headers.get('x-frame-options')]).toEqual([404, 'DENY'])
      for (const path of ['/nothing', '/oauthx', '//oauth/token', '/.well-known/other']) {
        const theirs = await world().send(world().path(path))
        expect([path, theirs.status]).toEqual([path, 404])
        expect(theirs.headers.get('x-frame-options')).toBeNull()
      }
    })
  })

  test('a store that is out: 503 with Retry-After, and never a verdict on a credential', async () => {
    const { app, user, session } = world()
    const value = await app.control.personalToken(user.id, { scopes: [] })
    const { cookie, jwt } = session
    await app.control.breakStore(true)
    try {
      for (const answer of [
        await world().send(world().path('/api/me'), { authorization: `Bearer ${value}` }),
        await world().send(world().path('/api/public'), { query: `?access_token=${value}` }),
        await world().send(world().path('/api/me'), { authorization: `Bearer ${jwt}`, cookie }),
        await world().send(world().path('/'), { cookie }),
        await world().send(world().oauth('/ping'), { authorization: `Bearer ${value}` }),
        await token('grant_type=client_credentials'),
      ]) {
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
        expect(answer.headers.get('www-authenticate')).toBeNull()
        expect(answer.headers.get('set-cookie')).toBeNull()
      }
    } finally {
      await app.control.breakStore(false)
    }
    expect((await world().ask('/api/me', { authorization: `Bearer ${value}` })).status).toBe(200)
  })

  test('the REST application refuses characters that a query must not contain; pages do not', async () => {
    const { body, status } = await world().ask('/api/public', { query: '?a=%zz' })
    expect([status, body]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })])
    for (const query of ['?a=^', '?a=[b]', '?a={', '?a=%4'])
      expect((await world().ask('/api/public', { query })).status).toBe(400)
    expect((await world().ask('/api/public', { query: '?a=%41&b=c;d' })).status).toBe(200)
    expect((await world().send(world().path('/'), { query: '?a=^' })).status).toBe(200)
  })
}
