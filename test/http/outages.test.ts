import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { authorizeUrl, formIn } from '../support/user-agent.ts'

let failing: { readonly operation: string; readonly error: Error } | undefined
let app: TestServer
let session: LoggedIn
let token: string
let clientId: string
beforeAll(async () => {
  app = await startServer({
    aroundStore: ({ name }, operation) => {
      if (failing?.operation === name) throw failing.error
      return operation()
    },
  })
  session = await logIn(app)
  token = await app.personalToken(['notes:read'])
  clientId = (await app.client()).clientId
})
afterAll(() => app.close())
afterEach(() => {
  failing = undefined
})

interface Case {
  readonly operation: string
  readonly path: () => string
  readonly init?: () => RequestInit
  /** The format of the error: a page for people, or JSON for programs. */
  readonly format: 'html' | 'json'
}

const asSession = (): Record<string, string> => ({ cookie: session.cookie, 'user-agent': browser })
const withJwt = () => ({ headers: { ...asSession(), authorization: `Bearer ${session.jwt}` } })
const withToken = () => ({ headers: { authorization: `Bearer ${token}` } })

// The other endpoints: test/contracts/outages.test.ts.
const cases: readonly (readonly [string, Case])[] = [
  [
    'a token at a guarded resource',
    { operation: 'tokens.findByAccess', path: () => '/api/me', init: withToken, format: 'json' },
  ],
  [
    'a token at a resource that accepts anonymous callers',
    {
      operation: 'tokens.findByAccess',
      path: () => '/api/public',
      init: withToken,
      format: 'json',
    },
  ],
  [
    'a token in the query',
    {
      operation: 'tokens.findByAccess',
      path: () => `/api/me?access_token=${token}`,
      format: 'json',
    },
  ],
  [
    'a session at a guarded resource',
    { operation: 'sessions.find', path: () => '/api/me', init: withJwt, format: 'json' },
  ],
  [
    'a session at a resource that accepts anonymous callers',
    { operation: 'sessions.find', path: () => '/api/public', init: withJwt, format: 'json' },
  ],
  [
    'a cookie alone at a resource that accepts anonymous callers',
    {
      operation: 'sessions.find',
      path: () => '/api/public',
      init: () => ({ headers: asSession() }),
      format: 'json',
    },
  ],
  [
    "a session at the application's page",
    {
      operation: 'sessions.find',
      path: () => '/',
      init: () => ({ headers: asSession() }),
      format: 'json',
    },
  ],
  [
    'a session at the login',
    {
      operation: 'sessions.find',
      path: () => '/login',
      init: () => ({ headers: asSession() }),
      format: 'html',
    },
  ],
]

const ask = async (operation: string, error: Error, { path, init }: Case) => {
  failing = { operation, error }
  const response = await fetch(`${app.issuer}${path()}`, { redirect: 'manual', ...init?.() })
  failing = undefined
  return { response, text: await response.text() }
}

describe('decision §6.4 a store outage rejects no credentials', () => {
  test.each(cases)('returns 503 with Retry-After for %s', async (_, given) => {
    const error = new StoreUnavailable('the disk at /var/lib is gone')
    const { response, text } = await ask(given.operation, error, given)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(response.headers.getSetCookie()).toEqual([])
    expect(response.headers.get('location')).toBeNull()
    expect(response.headers.get('cache-control')).toMatch(/\bno-store\b/)
    expect(text).not.toMatch(/disk|\/var\/lib/)
    if (given.format === 'json')
      expect(JSON.parse(text)).toMatchObject({ error: 'temporarily_unavailable' })
    else expect(text).toContain('The service is not available right now.')
  })

  test('redirects to the client with the error if the redirect URI was already validated', async () => {
    const url = authorizeUrl(app.issuer, { client_id: clientId, scope: '' })
    const init = { headers: asSession() }
    const { response } = await ask('sessions.find', new StoreUnavailable('gone'), {
      operation: '',
      path: () => url.slice(app.issuer.length),
      init: () => init,
      format: 'html',
    })
    expect(response.status).toBe(303)
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe(
      'temporarily_unavailable',
    )
  })

  test('accepts the same token and session after the outage', async () => {
    expect((await fetch(`${app.issuer}/api/me`, withToken())).status).toBe(200)
    expect((await fetch(`${app.issuer}/api/me`, withJwt())).status).toBe(200)
  })
})

describe('HT-07 an internal error', () => {
  test.each(cases)('returns 500 without details for %s', async (_, given) => {
    const silenced = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const before = app.log.length
    const { response, text } = await ask(
      given.operation,
      new Error('SQLITE_CORRUPT in /var/lib'),
      given,
    )
    expect(response.status).toBe(500)
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(response.headers.getSetCookie()).toEqual([])
    expect(text).not.toMatch(/SQLITE|\/var\/lib|\bat .*:\d+|node_modules/)
    const logged = app.log.slice(before).map(({ event }) => event)
    // The application's own error handler logs the errors of guards.
    expect(logged.length + silenced.mock.calls.length).toBe(1)
    silenced.mockRestore()
  })

  test('sends a page with its usual headers, and JSON with its usual body', async () => {
    const error = new Error('x')
    const page = await ask('sessions.find', error, {
      operation: '',
      path: () => '/login',
      init: () => ({ headers: asSession() }),
      format: 'html',
    })
    expect(page.response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.text).toContain('Something went wrong on our side.')
    const json = await ask('tokens.findByAccess', error, {
      operation: '',
      path: () => '/oauth/ping',
      init: withToken,
      format: 'json',
    })
    expect(JSON.parse(json.text)).toEqual({
      error: 'server_error',
      error_description: expect.any(String),
    })
    expect(formIn(page.text).action).toBe('')
  })
})
