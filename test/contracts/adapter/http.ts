import { describe, expect, test } from 'vitest'
import { rawHttp } from '../../support/raw-http.ts'
import type { Presented, World } from './world.ts'

/** Defines tests of URLs, methods, headers and outages. */
export const describeHttp = (world: () => World): void => {
  test('ends the JSON of the server with a newline, so that the prompt of a shell follows on its own line [T4107]', async () => {
    const base = world().path('')
    const ofServer = [
      `/.well-known/oauth-authorization-server${base}`,
      `${base}${world().app.place.oauthPrefix}/info`,
    ]
    for (const path of ofServer)
      expect([path, (await world().send(path)).text]).toEqual([
        path,
        expect.stringMatching(/\}\n$/),
      ])
  })

  describe('the URLs of the server', () => {
    test.each(['oauth-authorization-server', 'oauth-protected-resource'])(
      'serves /.well-known/%s at the root of the host and below the path of the issuer',
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

    test('derives URLs in the metadata from the issuer, not from the headers or the target of the request', async () => {
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

    test('redirects to a path without a host', async () => {
      const url = new URL(world().authorizeUrl({}))
      const answer = await world().send(url.pathname + url.search, {
        headers: ['Host: evil.example'],
      })
      expect(answer.headers.get('location')).toMatch(/^\/(?!\/)/)
    })

    test('returns its 404 page for unknown paths below its prefix, and leaves other paths to the application', async () => {
      const ours = await world().send(world().oauth('/nothing'))
      expect([ours.status, ours.headers.get('x-frame-options')]).toEqual([404, 'DENY'])
      for (const path of ['/nothing', '/oauthx', '//oauth/token', '/.well-known/other']) {
        const theirs = await world().send(world().path(path))
        expect([path, theirs.status]).toEqual([path, 404])
        expect(theirs.headers.get('x-frame-options')).toBeNull()
      }
    })
  })

  describe('an unusual request target', () => {
    test('returns 400, 401 or 404 for another spelling of /api/me', async () => {
      const odd = [
        '/API/me',
        '/api/ME',
        '/api//me',
        '//api/me',
        '/api/%6de',
        '/api/me/',
        '/api/me;x',
      ]
      for (const path of [
        ...odd,
        '/api/./me',
        '/x/../api/me',
        '/api/me%00',
        '/api%2fme',
        '/api/me%',
      ])
        expect([path, (await world().send(world().path(path))).status]).toEqual([
          path,
          expect.toSatisfy((status: number) => [400, 401, 404].includes(status)),
        ])
    })

    test.each([
      '/token/',
      '//token',
      '/%74oken',
      '/token;x',
      '/x/../token',
      '/%zz',
      '/%',
      '/token%00',
      '/..%2ftoken',
      '/\\token',
      '/token?%',
      '/authorize?client_id=%zz',
      '/errors?error=%zz',
      `/${'x'.repeat(5000)}`,
    ])('returns a status from 300 to 499 for %s below the prefix', async (path) => {
      for (const method of ['GET', 'POST', 'TRACE']) {
        const { status } = await world().send(world().oauth(path), { method })
        expect(status).toBeLessThan(500)
        expect(status).toBeGreaterThanOrEqual(300)
      }
    })

    test('returns no 5xx for an HTTP/1.0 request without a Host header', async () => {
      const target = world().oauth('/style.css')
      const { status } = await rawHttp({ issuer: world().app.url }, { target, version: '1.0' })
      expect(status).toBeLessThan(500)
    })
  })

  describe('a dot segment in the path', () => {
    const settingsPath = '/account/settings/applications/'

    test.each([
      '..',
      '%2e%2e',
      '%2E%2e',
      '.%2e',
      '%2e.',
      './..',
      'x/../..',
      'x%2f..%2f..',
      'x/%2e%2e/..',
      'x%5c..%5c..',
    ])('returns 404 for %j', async (dots) => {
      const { app, session, user } = world()
      const { cookie } = session
      const authorization = `Bearer ${await app.control.personalToken(user.id, { scopes: [] })}`
      expect((await world().send(world().path(settingsPath), { cookie })).status).toBe(200)
      const up = app.place.oauthPrefix
        .split('/')
        .slice(1)
        .map(() => '/..')
        .join('')
      const within = up.replace(/\/\.\.$/, `/${dots}`)
      const statuses = async (path: string, presented: Presented, method = 'GET') => {
        const { status, headers } = await world().send(path, { ...presented, method })
        return [path, method, status, headers.get('location')]
      }
      for (const path of [
        world().oauth(within + settingsPath),
        world().path(`/x/${dots}${settingsPath}`),
      ])
        for (const method of ['GET', 'POST', 'PUT'])
          expect(await statuses(path, { cookie }, method)).toEqual([path, method, 404, null])
      for (const path of [
        world().oauth(`/x/${dots}/token`),
        world().oauth(`${within}/api/me`),
        world().path(`/x/${dots}/api/me`),
        world().path(`/api/${dots}/api/me`),
        world().path(`/api/x/${dots}/me`),
        world().path(`/api/me/${dots}`),
      ])
        for (const method of ['GET', 'POST'])
          expect(await statuses(path, { authorization }, method)).toEqual([path, method, 404, null])
    })

    test.each(['/oauth/.', '/oauth/%2e', '/./oauth/ping', '/oauth/./ping'])(
      'returns 404 for the path %s',
      async (path) => {
        const target = world().path(path.replace('/oauth', world().app.place.oauthPrefix))
        expect([path, (await world().send(target)).status]).toEqual([path, 404])
      },
    )

    test.each(['..\\.', 'x\\..\\..', '.\t.'])('returns 400 or 404 for %j', async (dots) => {
      const { cookie } = world().session
      const path = world().path(`/x/${dots}${settingsPath}`)
      expect([400, 404]).toContain((await world().send(path, { cookie })).status)
    })

    test('accepts a dot in a file name and dot segments in the query', async () => {
      const { app, user } = world()
      const authorization = `Bearer ${await app.control.personalToken(user.id, { scopes: [] })}`
      for (const query of ['?a=/../b', '?a=..', '?a=%2e%2e'])
        expect((await world().send(world().path('/api/me'), { authorization, query })).status).toBe(
          200,
        )
      const style = await world().send(world().oauth('/style.css'), { query: '?/../x' })
      expect(style.status).toBe(200)
    })
  })

  describe('an absolute request target with credentials', () => {
    test.each(['user:pass-in-target@', 'user@', ':pass-in-target@', '@'])(
      'returns 400 or 404 for the user info %s, and neither returns nor logs the password',
      async (userInfo) => {
        const { app, session, user } = world()
        const { cookie } = session
        const authorization = `Bearer ${await app.control.personalToken(user.id, { scopes: [] })}`
        for (const [path, presented] of [
          [world().oauth('/ping'), { authorization }],
          [world().oauth('/style.css'), {}],
          [world().path('/account/settings/applications/'), { cookie }],
          [world().path(app.place.loginPath), {}],
          [world().path('/api/me'), { authorization }],
          [world().path('/api/public'), {}],
        ] as const)
          for (const method of path.includes('/api/') ? ['GET'] : ['GET', 'POST', 'OPTIONS']) {
            const target = `http://${userInfo}${new URL(app.url).host}${path}`
            const answer = await world().send(target, { ...presented, method })
            expect([400, 404], `${method} ${target}: ${answer.status}`).toContain(answer.status)
            expect(answer.text + JSON.stringify([...answer.headers])).not.toMatch(/pass-in-target/)
          }
        expect(JSON.stringify(await app.control.events())).not.toMatch(/pass-in-target/)
      },
    )
  })

  describe('an empty access_token', () => {
    test.each([
      'access_token=',
      'access_token',
      '%61ccess_token=',
      'access%5Ftoken',
      'a=1&access_token=&access_token=',
    ])('returns 400 or 401 for the query ?%s, with and without a session', async (parameter) => {
      const { cookie } = world().session
      for (const path of [
        world().path('/api/public'),
        world().path('/api/me'),
        world().oauth('/ping'),
      ])
        for (const presented of [{}, { cookie }]) {
          const { status } = await world().send(path, { ...presented, query: `?${parameter}` })
          expect([400, 401], `${path} ${status}`).toContain(status)
        }
    })
  })

  describe('HEAD', () => {
    test('returns the status of GET without a body, and requires the same credentials', async () => {
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

  describe('other methods', () => {
    test.each([
      ['OPTIONS', '/token', 'POST'],
      ['GET', '/token', 'POST'],
      ['PUT', '/authorize', 'GET, HEAD, POST'],
      ['DELETE', '/info', 'GET, HEAD'],
      ['OPTIONS', '/ping', 'GET, HEAD, POST'],
    ])('returns 405 with the allowed methods for %s %s', async (method, path, allow) => {
      const answer = await world().send(world().oauth(path), { method })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    })

    test('returns no data of a guarded resource for OPTIONS', async () => {
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

  test('sends several cookies of a response in separate headers', async () => {
    const { headers } = await fetch(new URL(world().oauth('/two-cookies'), world().app.url))
    expect(headers.getSetCookie()).toEqual(['a=1; Path=/, x', 'b=2; Path=/'])
  })

  test('returns 503 with Retry-After during a store outage, and rejects no credential', async () => {
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
        await world().token('grant_type=client_credentials'),
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
}
