import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { authorizeUrl, formIn, UserAgent } from '../support/user-agent.ts'

let failure: Error | undefined
let app: TestServer
let session: LoggedIn
let clientId: string
beforeAll(async () => {
  app = await startServer({
    allowPrivateUseRedirectUris: true,
    aroundStore: ({ name }, operation) => {
      if (failure && name === 'sessions.find') throw failure
      return operation()
    },
  })
  session = await logIn(app)
  clientId = (await app.client()).clientId
})
afterAll(() => app.close())

const policy =
  "default-src 'none'; script-src 'self'; connect-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

const post = (path: string, fields: Record<string, string>, agent = session.agent) =>
  agent.fetch(`${app.issuer}${path}`, { method: 'POST', body: new URLSearchParams(fields) })

const get = (path: string, agent = session.agent) => agent.fetch(`${app.issuer}${path}`)

const failingWith = async (error: Error): Promise<Response> => {
  failure = error
  try {
    return await get('/login')
  } finally {
    failure = undefined
  }
}

const authorization = () =>
  authorizeUrl('', { client_id: clientId, redirect_uri: redirectUri, scope: 'notes:read' })

const consentForm = async () => formIn(await (await get(authorization())).text()).hidden

const credentials = () => ({ email: app.user.email, password: app.password })

const browsing = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

const pages: [string, number, () => Promise<Response>][] = [
  ['the login page', 200, () => get('/login', new UserAgent())],
  [
    'a failed login',
    403,
    async () => {
      const { hidden } = formIn(await (await get('/login?prompt=login')).text())
      return post('/login', { ...hidden, email: 'x', password: 'y' })
    },
  ],
  ['a login without a CSRF token', 403, () => post('/login', credentials())],
  [
    'a login with a body that is not a form',
    400,
    () => session.agent.fetch(`${app.issuer}/login`, { method: 'POST', body: 'x' }),
  ],
  [
    'a login with a body that is too large',
    413,
    () => post('/login', { email: 'x'.repeat(70_000) }),
  ],
  ['a logout without a CSRF token', 403, () => post('/logout', {})],
  [
    'a logout with a body that is not a form',
    400,
    () => session.agent.fetch(`${app.issuer}/logout`, { method: 'POST', body: 'x' }),
  ],
  [
    'the login page of a pending authorization request',
    200,
    () => get(`/login?next=${encodeURIComponent(authorization())}`, new UserAgent()),
  ],
  [
    'a failed login with a pending authorization request',
    403,
    () => post('/login', { next: authorization(), ...credentials() }, new UserAgent()),
  ],
  ['the consent page', 200, () => get(authorization())],
  [
    'a decision with a wrong CSRF token',
    403,
    async () =>
      post('/oauth/authorize', { ...(await consentForm()), csrf_token: 'x', confirm: 'yes' }),
  ],
  [
    'a consent form with an unknown decision',
    400,
    async () => post('/oauth/authorize', { ...(await consentForm()), confirm: 'maybe' }),
  ],
  [
    'a decision about an unknown authorization request',
    400,
    () =>
      post('/oauth/authorize', {
        authorization_request: 'x',
        confirm: 'yes',
        csrf_token: session.csrfToken,
      }),
  ],
  [
    'a decision without a login',
    403,
    () => post('/oauth/authorize', { confirm: 'yes' }, new UserAgent()),
  ],
  [
    'an authorization request with a body that is not a form',
    400,
    () => session.agent.fetch(`${app.issuer}/oauth/authorize`, { method: 'POST', body: 'x' }),
  ],
  ['the error view', 400, () => get('/oauth/errors?error=x&error_description=y')],
  ['the error view without parameters', 400, () => get('/oauth/errors')],
  ['an unknown path', 404, () => get('/oauth/absent')],
  [
    'a POST of a browser to an unknown path',
    404,
    () => session.agent.fetch(`${app.issuer}/oauth/absent`, { method: 'POST', headers: browsing }),
  ],
  ['an unavailable store', 503, () => failingWith(new StoreUnavailable('gone'))],
  ['an unexpected error', 500, () => failingWith(new Error('gone'))],
]

describe('decision §6.3 the security headers of pages [T531]', () => {
  test.each(pages)(
    'every security header is in the response to %s, with the status %i',
    async (_, status, open) => {
      const response = await open()
      expect(response.status).toBe(status)
      const { headers } = response
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(headers.get('content-security-policy')).toBe(policy)
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      for (const name of [
        'etag',
        'last-modified',
        'x-powered-by',
        'server',
        'location',
        'access-control-allow-origin',
      ])
        expect(headers.get(name), name).toBeNull()
      const html = await response.text()
      expect(html).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr" data-locale="en">/)
      const ours = '<script src="/oauth/page.js" type="module"></script>'
      expect(html.replace(ours, '')).not.toMatch(
        /<script|<style|<iframe|\sstyle=|\son[a-z]+=|javascript:|<base/i,
      )
      // The page loads nothing from another origin.
      for (const [, address] of html.matchAll(/(?:src|href|action)="([^"]*)"/g))
        expect(address).toMatch(/^(?:#main$|data:,$|\/(?!\/))/)
    },
  )

  test('redirects and JSON responses are not cacheable', async () => {
    const redirects = [
      await get('/login?next=/x'),
      await get('/oauth/authorize?client_id=x'),
      await get(
        authorizeUrl('', { client_id: clientId, redirect_uri: redirectUri, scope: 'bogus' }),
      ),
      await get(authorization(), new UserAgent()),
    ]
    const json = [
      await get('/logout'),
      await post('/oauth/token', {}),
      await get('/oauth/ping', new UserAgent()),
      await get('/oauth/token'),
    ]
    for (const { status, headers } of [...redirects, ...json]) {
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-powered-by')).toBeNull()
      expect(headers.get('etag')).toBeNull()
      if (status === 303) expect(headers.get('location')).not.toBeNull()
      else expect(headers.get('content-type')).toBe('application/json')
    }
    for (const { status } of redirects) expect(status).toBe(303)
    expect(json.map(({ status }) => status)).toEqual([405, 400, 401, 405])
  })

  test('the stylesheet is cacheable and loads nothing', async () => {
    const response = await get('/oauth/style.css')
    expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('public, no-cache')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('set-cookie')).toBeNull()
    const css = await response.text()
    expect(css).not.toMatch(/@import|https?:\/\/(?!www\.w3\.org)/)
    expect(css).toContain('.decision')
  })
})

describe('accessibility of pages', () => {
  test.each<[string, () => Promise<Response>]>([
    ['the login page', () => get('/login', new UserAgent())],
    ['the consent page', () => get(authorization())],
    ['the error view', () => get('/oauth/errors?error=x')],
    ['the page of an unknown path', () => get('/oauth/absent')],
  ])('%s has one heading, a title, labels, and buttons with a text', async (_, open) => {
    const html = await (await open()).text()
    expect(html.match(/<h1>/g)).toHaveLength(1)
    expect(html).toMatch(/<title>[^<]+<\/title>/)
    expect(html).toMatch(/<meta charset="utf-8">/)
    expect(html).toMatch(/<meta name="viewport"/)
    expect(html).toMatch(/<main id="main"[^>]*>[\s\S]*<\/main>/)
    for (const [input] of html.matchAll(/<input (?!type="hidden")[^>]*>/g)) {
      const id = / id="([^"]+)"/.exec(input)?.[1]
      expect(html).toContain(`<label for="${id}">`)
      expect(input).toMatch(/ autocomplete="(?:username|current-password)"/)
    }
    for (const [, text] of html.matchAll(/<button type="submit"[^>]*>([^<]*)<\/button>/g))
      expect(text?.trim()).not.toBe('')
  })

  test('an error in the login form is marked as an alert', async () => {
    const html = await (await post('/login', credentials(), new UserAgent())).text()
    expect(html).toMatch(/<p class="notice" role="alert">[^<]+<\/p>/)
  })
})
