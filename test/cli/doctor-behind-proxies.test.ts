import { describe, expect, test } from 'vitest'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { cookieProblems } from '../../src/cli/doctor/pages.ts'
import { type ChangingProxy, type Passing, throughProxy } from './changing-proxy.ts'

const failing = (findings: readonly Finding[]): Record<string, string> =>
  Object.fromEntries(
    findings.filter(({ state }) => state === 'fail').map(({ check, advice }) => [check, advice]),
  )

const isCors = (name: string): boolean => name.startsWith('access-control-')
const without = (headers: Passing['headers'], leaves: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !leaves(name)))

describe('the cookies of a page', () => {
  const problemsOf = (...cookies: readonly string[]) =>
    cookieProblems(
      { headers: new Headers(cookies.map((cookie): [string, string] => ['set-cookie', cookie])) },
      'https://login.example.org',
    )

  test('are checked only if their names belong to the server', () => {
    const flags = 'Path=/; Secure; HttpOnly; SameSite=Lax'
    expect(
      problemsOf(`__Host-oauth2server_session=x; ${flags}`, 'AWSALB=x', '__Host-theirs=x'),
    ).toEqual([])
    expect(problemsOf('AWSALB=x', '__Host-oauth2server_session=x; Path=/; Secure')).toEqual([
      'The cookie __Host-oauth2server_session lacks HttpOnly, SameSite',
    ])
    expect(problemsOf(`oauth2server_session=x; ${flags}`)).toEqual([
      'The name of the cookie oauth2server_session does not begin with __Host-',
    ])
  })
})

describe('the doctor, behind a proxy that changes requests or responses', () => {
  test('reports no failure behind a proxy without changes', async () => {
    expect(failing(await throughProxy({}, { logIn: true }))).toEqual({})
    expect(failing(await throughProxy({ basePath: '/app' }, { logIn: true }))).toEqual({})
  })

  test('ignores cookies that the proxy adds', async () => {
    const after: ChangingProxy['after'] = (passing) => {
      const cookies = [passing.headers['set-cookie'] ?? []].flat()
      passing.headers['set-cookie'] = [...cookies, 'AWSALB=x; Path=/', 'INGRESSCOOKIE=y']
    }
    const findings = await throughProxy({ after }, { logIn: true })
    expect(failing(findings)).toEqual({})
  })

  const all = /.*/
  test.each<[string, ChangingProxy, Record<string, RegExp>]>([
    [
      'a server that is configured with another issuer',
      { issuer: 'http://localhost:1' },
      {
        'metadata-issuer': /"http:\/\/localhost:1".*BASE_URL/,
        addresses: /not at http:\/\/localhost:\d+: authorization_endpoint, .*BASE_URL/,
        'resource-metadata-resource': all,
        'resource-metadata-server': all,
        challenge: /resource_metadata/,
      },
    ],
    [
      'metadata with another scheme in its URLs',
      {
        after(passing, url) {
          if (passing.path.includes('/.well-known/oauth-authorization'))
            passing.body = passing.body.replaceAll(`${url}/`, `${url.replace('http:', 'https:')}/`)
        },
      },
      { addresses: /not at http:\/\/localhost:\d+: .*, for instance "https:/ },
    ],
    [
      'missing CORS headers',
      {
        after(passing) {
          passing.headers = without(passing.headers, isCors)
        },
      },
      {
        'cors-metadata': /OPTIONS has no Access-Control-Allow-Origin.*GET has no/,
        'cors-token': all,
        'cors-revocation': all,
        'cors-pushed_authorization_request': all,
        'cors-challenge': /does not expose WWW-Authenticate/,
      },
    ],
    [
      'a rejected OPTIONS request',
      {
        before(passing) {
          if (passing.method !== 'OPTIONS') return false
          passing.status = 405
          return true
        },
      },
      {
        'cors-metadata': /returns 405/,
        'cors-token': /returns 405/,
        'cors-revocation': all,
        'cors-pushed_authorization_request': all,
      },
    ],
    [
      'CORS headers that let any site read any page with credentials',
      {
        after(passing) {
          passing.headers['access-control-allow-origin'] = 'https://doctor.example'
          passing.headers['access-control-allow-credentials'] = 'true'
        },
      },
      {
        'cors-metadata': /allows credentials/,
        'cors-token': all,
        'cors-revocation': all,
        'cors-pushed_authorization_request': all,
        'no-cors-authorization': /RFC 9700 §2\.6/,
        'no-cors-login': all,
      },
    ],
    [
      'metadata that is not forwarded at the root, before the path of the issuer',
      {
        basePath: '/app',
        before(passing) {
          if (passing.path.startsWith('/app')) return false
          passing.status = 404
          return true
        },
      },
      {
        metadata: /\/\.well-known\/oauth-authorization-server\/app returns 404/,
        'resource-metadata': all,
        'cors-metadata': all,
        challenge: /does not describe/,
      },
    ],
    [
      'metadata that is an HTML page',
      {
        after(passing) {
          if (passing.path.startsWith('/.well-known/oauth-auth'))
            passing.headers['content-type'] = 'text/html'
        },
      },
      { metadata: /content type text\/html instead of application\/json/ },
    ],
    [
      'a rejected HEAD request',
      {
        before(passing) {
          if (passing.method !== 'HEAD') return false
          passing.status = 405
          return true
        },
      },
      { 'metadata-head': /405/, 'resource-metadata-head': all, 'login-head': all },
    ],
    [
      'a 401 response without WWW-Authenticate',
      {
        after(passing) {
          passing.headers = without(passing.headers, (name) => name === 'www-authenticate')
        },
      },
      {
        challenge: /no WWW-Authenticate.*resource_metadata is missing/,
        'challenge-invalid': all,
      },
    ],
    [
      'pages without the headers that prevent framing, caching and referrers',
      {
        after(passing) {
          const lost = ['content-security-policy', 'cache-control', 'referrer-policy']
          if (passing.headers['content-type']?.includes('html'))
            passing.headers = without(passing.headers, (name) => lost.includes(name))
        },
      },
      {
        'login-page': /frame-ancestors.*RFC 9700 §4\.16.*Referrer-Policy.*Cache-Control/,
        'error-page': all,
      },
    ],
    [
      'cookies without their security attributes',
      {
        after(passing) {
          const cookies = [passing.headers['set-cookie'] ?? []].flat()
          if (cookies.length > 0)
            passing.headers['set-cookie'] = cookies.map((cookie) =>
              cookie.replace(/;.*/, '; Path=/'),
            )
        },
      },
      { 'login-cookies': /lacks Secure, HttpOnly, SameSite/ },
    ],
    [
      'an open redirect',
      {
        before(passing, url) {
          const { searchParams } = new URL(passing.path, url)
          const to = searchParams.get('redirect_uri')
          if (to === null) return false
          passing.status = 302
          passing.headers = { location: to }
          return true
        },
      },
      { 'unknown-client': /open redirector.*RFC 9700 §4\.11\.2/i },
    ],
    [
      'error responses that the proxy replaces by pages with status 200',
      {
        after(passing) {
          if (passing.status < 400 || !passing.path.endsWith('/token')) return
          passing.status = 200
          passing.headers = { 'access-control-allow-origin': '*', 'content-type': 'text/html' }
          passing.body = '<p>Sorry</p>'
        },
      },
      { 'token-errors': /is 200.*invalid_request.*no-store.*GET returns 200/ },
    ],
  ])('reports %s', async (_, proxy, expected) => {
    const found = failing(await throughProxy(proxy))
    expect(Object.keys(found).sort(), JSON.stringify(found, undefined, 1)).toEqual(
      Object.keys(expected).sort(),
    )
    for (const [check, pattern] of Object.entries(expected)) expect(found[check]).toMatch(pattern)
  })

  /** Returns a proxy that stores token responses, and returns them for repeated requests. */
  const keepsResponses = (): ChangingProxy => {
    const kept = new Map<string, Passing>()
    return {
      before(passing) {
        const known = kept.get(passing.requestBody)
        if (!passing.path.endsWith('/token') || !known) return false
        Object.assign(passing, { status: known.status, headers: known.headers, body: known.body })
        return true
      },
      after(passing) {
        if (passing.path.endsWith('/token') && passing.status === 200)
          kept.set(passing.requestBody, { ...passing })
      },
    }
  }

  test.each<[string, ChangingProxy, Record<string, RegExp>]>([
    [
      'cached responses of the token endpoint',
      keepsResponses(),
      {
        'flow-code-once': /redeemed twice.*still works/,
        'flow-refresh-reuse': /replaced still works.*still works/,
      },
    ],
    [
      'a missing Authorization header',
      {
        before(passing) {
          passing.requestHeaders = without(
            passing.requestHeaders,
            (name) => name === 'authorization',
          )
          return false
        },
      },
      { 'challenge-invalid': all, 'flow-code': /returns 401/ },
    ],
    [
      'a response without the issuer',
      {
        after({ headers }) {
          headers.location = [headers.location].flat()[0]?.replace(/[?&]iss=[^&]*/, '')
        },
      },
      { 'flow-code': /RFC 9207/ },
    ],
    [
      'only a warning for software names in the responses of the login page',
      {
        after({ headers }) {
          headers['x-powered-by'] = 'Phusion'
        },
      },
      {},
    ],
    [
      'missing client secrets',
      {
        before({ path, requestHeaders }) {
          if (!/\/(?:par|token|revoke)$/.test(path)) return false
          const { authorization } = requestHeaders
          if (`${authorization}`.startsWith('Basic ')) delete requestHeaders.authorization
          return false
        },
      },
      { 'flow-pkce': /As a confidential client: .*401/ },
    ],
    [
      'a code challenge method plain that the proxy changes to S256',
      {
        options: { pushedAuthorizationRequests: 'off' },
        before(passing) {
          passing.path = passing.path.replace('challenge_method=plain', 'challenge_method=S256')
          return false
        },
      },
      { 'flow-pkce-plain': /receives a code/ },
    ],
    [
      'redirect URIs that the proxy shortens to the registered URI and then restores',
      {
        options: { pushedAuthorizationRequests: 'off' },
        before(passing) {
          passing.path = passing.path.replace('callback%2Fother', 'callback')
          return false
        },
      },
      { 'flow-redirect-uri': /callback\/other/ },
    ],
    [
      'a revocation request that the proxy answers without forwarding it',
      {
        before(passing) {
          if (!passing.requestBody.includes('token=') || !passing.path.endsWith('/revoke'))
            return false
          passing.headers = { 'access-control-allow-origin': '*' }
          return true
        },
      },
      { 'flow-revocation': /An access token that was revoked still works; A refresh token/ },
    ],
    [
      'cookies without Secure after a login',
      {
        after(passing) {
          const cookies = [passing.headers['set-cookie'] ?? []].flat()
          if (passing.method === 'POST' && cookies.length > 0)
            passing.headers['set-cookie'] = cookies.map((cookie) => cookie.replace(/; Secure/i, ''))
        },
      },
      { 'flow-cookies': /lacks Secure/ },
    ],
    [
      'the login page of another server',
      {
        before(passing) {
          if (!passing.path.startsWith('/login')) return false
          passing.status = 404
          return true
        },
      },
      { 'flow-code': /\/login returns 404/ },
    ],
  ])('reports %s', async (_, proxy, expected) => {
    const found = failing(await throughProxy(proxy, { logIn: true }))
    expect(Object.keys(found).sort(), JSON.stringify(found, undefined, 1)).toEqual(
      Object.keys(expected).sort(),
    )
    for (const [check, pattern] of Object.entries(expected)) expect(found[check]).toMatch(pattern)
  })

  test('reports the remaining login checks as skipped if no client receives tokens', async () => {
    const findings = await throughProxy(
      {
        before(passing) {
          if (!passing.path.startsWith('/login')) return false
          passing.status = 404
          return true
        },
      },
      { logIn: true },
    )
    const states = findings.filter(({ check }) => check.startsWith('flow-'))
    expect(states.map(({ state, check }) => `${state} ${check}`)).toEqual([
      'fail flow-code',
      'skip flow-redirect-uri',
      'skip flow-pkce',
      'skip flow-pkce-plain',
      'skip flow-code-once',
      'skip flow-refresh',
      'skip flow-refresh-reuse',
      'skip flow-revocation',
      'ok flow-cookies',
    ])
  })

  const forwards: ChangingProxy = {
    options: { trustedProxies: ['127.0.0.1'] },
    before({ requestHeaders }) {
      requestHeaders['x-forwarded-for'] = '198.51.100.7'
      return false
    },
  }
  test.each<[string, ChangingProxy, readonly { state: string; advice: RegExp }[]]>([
    [
      'reports a loopback address if the doctor reached the server over the network',
      { reachedAt: '203.0.113.5' },
      [{ state: 'warn', advice: /127\.0\.0\.1.*limits count all users as one.*TRUSTED_PROXIES=/ }],
    ],
    [
      'reports an address of the network, because the doctor cannot identify its owner',
      { reachedAt: '203.0.113.5', ...forwards },
      [{ state: 'skip', advice: /198\.51\.100\.7.*TRUSTED_PROXIES=/ }],
    ],
    [
      'reports nothing if the doctor reached the server over loopback',
      { reachedAt: '127.0.0.1' },
      [],
    ],
    [
      'reports nothing if the doctor reached the server over IPv6 loopback',
      { reachedAt: '::1' },
      [],
    ],
  ])(
    'checks the address from which the server received a login: %s',
    async (_, proxy, expected) => {
      const findings = await throughProxy(proxy, { logIn: true })
      expect(findings.filter(({ check }) => check === 'trusted-proxies')).toEqual(
        expected.map(({ state, advice }) => ({
          state,
          check: 'trusted-proxies',
          advice: expect.stringMatching(advice),
        })),
      )
      expect(failing(findings)).toEqual({})
    },
  )
})
