import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { authorizeUrl, formIn, newPkce, tokenRequest, UserAgent } from '../support/user-agent.ts'

describe('decision §2 an issuer with a path', () => {
  let app: TestServer
  let origin: string
  beforeAll(async () => {
    app = await startServer({ basePath: '/app' })
    origin = new URL(app.issuer).origin
  })
  afterAll(() => app.close())

  test('RFC 8414 §3.1, RFC 9728 §3.1 serves the metadata only at /.well-known/NAME, /.well-known/NAME/app and /app/.well-known/NAME', async () => {
    for (const name of ['oauth-authorization-server', 'oauth-protected-resource']) {
      const inserted = await fetch(`${origin}/.well-known/${name}/app`)
      const appended = await fetch(`${origin}/app/.well-known/${name}`)
      const metadata = (await inserted.json()) as Record<string, unknown>
      const atRoot = await fetch(`${origin}/.well-known/${name}`)
      expect(await appended.json()).toEqual(metadata)
      expect(await atRoot.json()).toEqual(metadata)
      expect(metadata.issuer ?? metadata.resource).toBe(app.issuer)
      for (const path of [
        `/.well-known/${name}/`,
        `/.well-known/${name}/other`,
        `/.well-known/${name}/app/`,
        `/app/.well-known/${name}/app`,
        `/other/.well-known/${name}`,
      ])
        expect([path, (await fetch(`${origin}${path}`)).status]).toEqual([path, 404])
    }
  })

  test('lists existing URLs below the path in the metadata', async () => {
    const response = await fetch(`${origin}/.well-known/oauth-authorization-server/app`)
    const metadata = (await response.json()) as Record<string, string>
    expect(metadata.authorization_endpoint).toBe(`${app.issuer}/oauth/authorize`)
    expect(metadata.token_endpoint).toBe(`${app.issuer}/oauth/token`)
    const token = await fetch(`${metadata.token_endpoint}`, {
      method: 'POST',
      body: new URLSearchParams(),
    })
    expect([400, 401]).toContain(token.status)
  })

  test('refers to the metadata in a challenge', async () => {
    for (const path of ['/oauth/ping', '/oauth/info']) {
      const response = await fetch(`${app.issuer}${path}`)
      expect(response.status).toBe(401)
      const address = /resource_metadata="([^"]+)"/.exec(
        response.headers.get('www-authenticate') ?? '',
      )?.[1]
      expect(await (await fetch(`${address}`)).json()).toMatchObject({ resource: app.issuer })
    }
  })

  test('returns 404 for other paths at the root', async () => {
    for (const path of [
      '/oauth/ping',
      '/oauth/token',
      '/oauth/authorize',
      '/login',
      '/logout',
      '/oauth/style.css',
      '/apple/login',
      '/APP/login',
    ]) {
      const { status, text } = await rawHttp({ issuer: origin }, { target: path })
      expect([200, 303, 401, 405].includes(status), path).toBe(false)
      expect(text).not.toContain('csrf_token')
    }
  })

  test('uses only URLs below the path in the whole flow', async () => {
    const client = await app.client()
    const { verifier, challenge } = newPkce()
    const url = authorizeUrl(app.issuer, {
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      state: 'xyz',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const agent = new UserAgent()
    const toLogin = await agent.fetch(url)
    expect(toLogin.headers.get('location')).toMatch(
      /^\/app\/login\?next=%2Fapp%2Foauth%2Fauthorize%3F/,
    )
    const page = await agent.browse(url)
    const html = await page.text()
    expect(formIn(html).action).toBe('/app/login')
    const stylesheet = /<link rel="stylesheet" href="([^"]+)">/.exec(html)?.[1]
    expect(stylesheet).toBe('/app/oauth/style.css')
    expect((await fetch(`${origin}${stylesheet}`)).headers.get('content-type')).toContain(
      'text/css',
    )

    const response = await agent.authorize(app, url)
    expect(response.searchParams.get('iss')).toBe(app.issuer)
    const { status, body } = await tokenRequest(
      app.issuer,
      {
        grant_type: 'authorization_code',
        code: `${response.searchParams.get('code')}`,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      },
      { basic: client },
    )
    expect(status).toBe(200)
    const headers = { authorization: `Bearer ${body.access_token}` }
    expect((await fetch(`${app.issuer}/oauth/ping`, { headers })).status).toBe(200)
    expect((await fetch(`${app.issuer}/oauth/ping?access_token=${body.access_token}`)).status).toBe(
      200,
    )
  })

  test('redirects below the path after login, logout and errors', async () => {
    const agent = new UserAgent()
    const entered = await agent.logIn(app)
    expect(entered.headers.get('location')).toBe('/app/')
    const form = formIn(
      await (await agent.fetch(`${app.issuer}/login?prompt=login&next=//evil.example`)).text(),
    )
    expect(form.hidden.next).toBe('/app/')
    const body = new URLSearchParams({ csrf_token: form.hidden.csrf_token ?? '' })
    const left = await agent.fetch(`${app.issuer}/logout`, { method: 'POST', body })
    expect(left.headers.get('location')).toBe('/app/')
    const error = await agent.fetch(`${app.issuer}/oauth/authorize?client_id=x`)
    expect(error.headers.get('location')).toMatch(/^\/app\/oauth\/errors\?/)
    const missing = await agent.fetch(`${app.issuer}/oauth/absent`)
    expect(missing.status).toBe(404)
    expect(await missing.text()).toContain('href="/app/"')
  })
})

describe('other paths by settings', () => {
  test('uses oauthPrefix, loginPath and logoutPath', async () => {
    await using app = await startServer({
      oauthPrefix: '/auth/v2',
      loginPath: '/sign-in',
      logoutPath: '/sign-out',
    })
    const { issuer } = app
    const metadata = await fetch(`${issuer}/.well-known/oauth-authorization-server`)
    expect(await metadata.json()).toMatchObject({
      authorization_endpoint: `${issuer}/auth/v2/authorize`,
      token_endpoint: `${issuer}/auth/v2/token`,
    })
    for (const path of ['/oauth/ping', '/oauth/authorize', '/login', '/logout'])
      expect((await fetch(`${issuer}${path}`)).status).toBe(404)
    expect((await fetch(`${issuer}/auth/v2/ping`)).status).toBe(401)
    expect((await fetch(`${issuer}/sign-out`)).status).toBe(405)
    const { clientId } = await app.client()
    const toLogin = await fetch(`${issuer}/auth/v2/authorize?client_id=${clientId}`, {
      redirect: 'manual',
    })
    expect(toLogin.headers.get('location')).toMatch(/^\/sign-in\?next=%2Fauth%2Fv2%2Fauthorize/)
    const page = await fetch(`${issuer}${toLogin.headers.get('location')}`)
    const html = await page.text()
    expect(formIn(html).action).toBe('/sign-in')
    expect(html).toContain('href="/auth/v2/style.css"')
  })

  test.each([
    'oauth',
    '/oauth/',
    '//oauth',
    '/',
    '',
    '/o auth',
    '/oauth?x',
    '/../x'.replace('..', '%2e'),
  ])('rejects the path "%s" at start-up', async (oauthPrefix) => {
    await expect(startServer({ oauthPrefix })).rejects.toThrow('oauthPrefix')
  })

  test('names the right address if a proxy removed the path of the issuer [T4323]', async () => {
    await using app = await startServer({ issuer: 'https://api.example.org/app' })
    const response = await app.server.fetch(
      new Request('https://api.example.org/oauth/token', { method: 'POST' }),
    )
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      error_description: expect.stringContaining(
        'The endpoint is /app/oauth/token, and a proxy must not remove /app.',
      ),
    })
  })

  test('generates URLs of an https issuer behind a proxy', async () => {
    await using app = await startServer({ issuer: 'https://api.example.org/app' })
    const inserted = `${new URL(app.issuer).origin}/.well-known/oauth-authorization-server/app`
    expect(await (await fetch(inserted)).json()).toMatchObject({
      issuer: 'https://api.example.org/app',
      token_endpoint: 'https://api.example.org/app/oauth/token',
    })
  })
})

test('accepts a login below the path in the application', async () => {
  await using app = await startServer({ basePath: '/app' })
  const session = await logIn(app)
  const response = await session.agent.fetch(`${app.issuer}/api/me`, {
    headers: { authorization: `Bearer ${session.jwt}` },
  })
  expect(await response.json()).toEqual({ id: app.user.id, email: app.user.email, kind: 'session' })
})
