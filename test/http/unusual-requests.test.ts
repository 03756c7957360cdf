import type { AuthorizationServer } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Listening } from '../adapters/embed.ts'
import { mounted } from '../adapters/hosts/mounted.ts'
import { type RawRequest, type RawResponse, rawHttp } from '../support/raw-http.ts'

// Unusual, but legal or frequent forms of requests, in every adapter. Each has one response, whatever the adapter.

let server: AuthorizationServer
let client: { readonly id: string; readonly secret: string }
let token: string
beforeAll(async () => {
  server = await createTestServer({
    dynamicRegistration: 'open',
    openidConnect: true,
    dangerouslyIgnoreLimits: true,
  })
  const user = await server.users.create({ email: 'ada@example.org', password: null })
  const created = await server.clients.create({
    name: 'Machine',
    userId: user.id,
    redirectUris: ['https://client.example/cb'],
  })
  client = { id: created.client.clientId, secret: created.clientSecret }
  token = (await server.tokens.createPersonal('Test', user.id, { scopes: [] })).accessToken
})
afterAll(() => server.close())

const formType = 'Content-Type: application/x-www-form-urlencoded'
const jsonType = 'Content-Type: application/json'
const html = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const basic = (scheme = 'Basic', id = client.id, secret = client.secret): string =>
  `Authorization: ${scheme} ${btoa(`${id}:${secret}`)}`

interface Asked {
  readonly method?: string
  readonly headers?: readonly string[]
  readonly body?: string
  readonly version?: '1.0'
}

const credentials = () => `client_id=${client.id}&client_secret=${client.secret}`
const grant = 'grant_type=client_credentials'

/** A token request by `client_credentials`. */
const askToken = ({ headers = [], body = `${grant}&${credentials()}`, ...rest }: Asked = {}) => ({
  target: '/oauth/token',
  method: 'POST',
  headers: headers.some((line) => /^content-type:/i.test(line)) ? headers : [formType, ...headers],
  body,
  ...rest,
})

const register = (contentType: string, body = '{"redirect_uris":["https://c.example/cb"]}') => ({
  target: '/oauth/register',
  method: 'POST',
  headers: [contentType],
  body,
})

/** An authorization request of a browser that is not logged in. */
const authorize = (query: string): RawRequest => ({
  target: `/oauth/authorize?client_id=${client.id}&redirect_uri=${encodeURIComponent('https://client.example/cb')}&response_type=code&code_challenge=${'a'.repeat(43)}&code_challenge_method=S256&${query}`,
  headers: [html],
})

const get = (target: string, ...headers: readonly string[]): RawRequest => ({ target, headers })
const post = (target: string, ...headers: readonly string[]): RawRequest => ({
  target,
  method: 'POST',
  headers: [formType, ...headers],
  body: 'a=b',
})
const ping = (...headers: readonly string[]): RawRequest => get('/oauth/ping', ...headers)
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`

/** The rows: a title, a request, and its response as the status with the error, or with where it leads. */
type Row = readonly [title: string, request: () => RawRequest, response: string]

const notUtf8 = '400 invalid_request: The body must be in UTF-8.'
const page404 = '404 page'
const nothing = '404 invalid_request: There is nothing at this address.'

const bodies: readonly Row[] = [
  ['charset=utf8', () => askToken({ headers: [`${formType};charset=utf8`] }), '200'],
  [
    'charset=utf8 with encoded letters',
    () =>
      askToken({
        headers: [`${formType};charset=utf8`],
        body: `${grant}&${credentials()}&x=%C3%A4`,
      }),
    '200',
  ],
  [
    'charset="UTF-8" with encoded letters',
    () =>
      askToken({
        headers: [`${formType}; Charset="UTF-8"`],
        body: `${grant}&${credentials()}&x=%C3%A4`,
      }),
    '200',
  ],
  [
    'charset=iso-8859-1 with encoded letters',
    () =>
      askToken({
        headers: [`${formType};charset=iso-8859-1`],
        body: `${grant}&${credentials()}&x=%E4`,
      }),
    notUtf8,
  ],
  ['JSON in charset=utf8', () => register(`${jsonType};charset=utf8`), '201'],
  [
    'JSON with letters in charset=utf8',
    () =>
      register(
        `${jsonType};charset=utf8`,
        '{"client_name":"\xc3\xa4","redirect_uris":["https://c.example/cb"]}',
      ),
    '201',
  ],
  [
    'JSON with letters in charset=iso-8859-1',
    () => register(`${jsonType};charset=iso-8859-1`, '{"client_name":"\xe4"}'),
    notUtf8,
  ],
  [
    'JSON after a byte order mark',
    () => register(jsonType, '\xef\xbb\xbf{"redirect_uris":["https://c.example/cb"]}'),
    '201',
  ],
  [
    'JSON with a vendor type',
    () => register('Content-Type: application/vnd.api+json'),
    '400 invalid_request: The content type must be application/json.',
  ],
  [
    'Content-Encoding: identity',
    () => askToken({ headers: ['Content-Encoding: identity'] }),
    '200',
  ],
  ['an empty Content-Encoding', () => askToken({ headers: ['Content-Encoding:'] }), '200'],
  [
    'Content-Encoding: gzip',
    () => askToken({ headers: ['Content-Encoding: gzip'] }),
    '400 invalid_request: The body must not be compressed.',
  ],
  [
    'a chunked body',
    () =>
      askToken({
        headers: ['Transfer-Encoding: chunked'],
        body: chunked(`${grant}&${credentials()}`),
      }),
    '200',
  ],
  [
    'an empty body with Content-Length: 0',
    () => askToken({ headers: ['Content-Length: 0'], body: '' }),
    '400 invalid_request: grant_type is missing.',
  ],
  [
    'an empty chunked body',
    () => askToken({ headers: ['Transfer-Encoding: chunked'], body: '0\r\n\r\n' }),
    '400 invalid_request: grant_type is missing.',
  ],
  [
    'no body and no content type',
    () => ({ target: `/oauth/token?${grant}`, method: 'POST', headers: ['Content-Length: 0'] }),
    '400 invalid_request: The content type must be application/x-www-form-urlencoded.',
  ],
  ['Expect: 100-continue', () => askToken({ headers: ['Expect: 100-continue'] }), '200'],
  ['another Expect', () => askToken({ headers: ['Expect: something'] }), '417'],
  ['HTTP/1.0', () => askToken({ version: '1.0' }), '200'],
  ['Range', () => askToken({ headers: ['Range: bytes=0-1'] }), '200'],
]

const parameters: readonly Row[] = [
  ['an empty name', () => askToken({ body: `=x&&${grant}&${credentials()}&` }), '200'],
  [
    'an encoded name',
    () => askToken({ body: `gran%74_type=client%5Fcredentials&${credentials()}` }),
    '200',
  ],
  ['a scope of blanks', () => askToken({ body: `${grant}&scope=++&${credentials()}` }), '200'],
  [
    'a scope with a tab',
    () => askToken({ body: `${grant}&scope=a%09b&${credentials()}` }),
    '400 invalid_scope: The scope parameter is malformed.',
  ],
  [
    'a repeated parameter',
    () => askToken({ body: `${grant}&${grant}&${credentials()}` }),
    '400 invalid_request: grant_type is given more than once.',
  ],
  [
    'a repeated parameter of another grant',
    () => askToken({ body: `${grant}&code=a&code=b&${credentials()}` }),
    '400 invalid_request: code is given more than once.',
  ],
  [
    'a repeated unknown parameter',
    () => askToken({ body: `${grant}&x=1&x=2&${credentials()}` }),
    '200',
  ],
  [
    'credentials in the query',
    () => ({ ...askToken({ body: grant }), target: `/oauth/token?${credentials()}` }),
    '401 invalid_client: The request names no client. Send client_id, and the credential of the client if it has one.',
  ],
  [
    'another client in the query, which is ignored',
    () => ({ ...askToken(), target: '/oauth/token?client_id=other&grant_type=password' }),
    '200',
  ],
  [
    'the same client in the header and the body',
    () => askToken({ headers: [basic()], body: `${grant}&client_id=${client.id}` }),
    '200',
  ],
  [
    'another client in the header than in the body',
    () => askToken({ headers: [basic()], body: `${grant}&client_id=other` }),
    '400 invalid_request: client_id is not the authenticated client.',
  ],
]

const percentEncoded = (text: string): string =>
  [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')

const authorization: readonly Row[] = [
  ['BASIC', () => askToken({ headers: [basic('BASIC')], body: grant }), '200'],
  ['basic and blanks', () => askToken({ headers: [basic('basic  ')], body: grant }), '200'],
  [
    'percent-encoded Basic credentials',
    () =>
      askToken({
        headers: [basic('Basic', percentEncoded(client.id), percentEncoded(client.secret))],
        body: grant,
      }),
    '200',
  ],
  [
    'two Basic headers',
    () => askToken({ headers: [basic(), basic()], body: grant }),
    '401 invalid_client: Send exactly one Authorization header.',
  ],
  [
    'a Bearer header instead of Basic',
    () => askToken({ headers: [`Authorization: Bearer ${token}`], body: grant }),
    '401 invalid_client: The client is unknown, or could not be authenticated.',
  ],
  ['BEARER', () => ping(`Authorization: BEARER ${token}`), '200'],
  ['bearer and blanks', () => ping(`Authorization: bearer   ${token}  `), '200'],
  [
    'two Bearer headers',
    () => ping(`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`),
    '400 invalid_request: Send exactly one credential.',
  ],
  [
    'the scheme alone',
    () => ping('Authorization: Bearer'),
    '401 invalid_token: The access token is not valid.',
  ],
  ['a body on GET', () => ({ ...ping(`Authorization: Bearer ${token}`), body: 'a=b' }), '200'],
  [
    'an empty body on POST',
    () => ({ ...post('/oauth/ping', `Authorization: Bearer ${token}`), body: '' }),
    '200',
  ],
]

const paths: readonly Row[] = [
  [
    'a slash at the end',
    () => post('/oauth/token/'),
    `${nothing} The endpoint is /oauth/token, without a slash.`,
  ],
  ['another case', () => post('/oauth/Token'), nothing],
  ['another case, in a browser', () => post('/oauth/Token', html), page404],
  ['another case, by GET', () => get('/oauth/Token'), page404],
  ['another case, by GET for JSON', () => get('/oauth/Jwks', 'Accept: application/json'), nothing],
  ['a doubled slash', () => post('/oauth//token'), nothing],
  ['an encoded slash', () => post('/oauth/%2Ftoken'), nothing],
  ['a dot segment', () => post('/oauth/x/../token'), nothing],
  ['an encoded dot segment', () => post('/oauth/%2e%2e/token'), nothing],
  ['a dot segment, in a browser', () => post('/oauth/x/../token', html), page404],
  ['a header that is too long', () => get('/oauth/jwks', `X-Long: ${'x'.repeat(16_400)}`), '431'],
  ['TRACE', () => ({ ...get('/oauth/style.css'), method: 'TRACE' }), '404 405'],
  [
    'OPTIONS',
    () => ({ ...get('/oauth/jwks'), method: 'OPTIONS' }),
    '405 invalid_request: Allowed: GET, HEAD.',
  ],
  ['HEAD of an endpoint for POST', () => ({ ...get('/oauth/token'), method: 'HEAD' }), '405'],
  ['If-None-Match of keys', () => get('/oauth/jwks', 'If-None-Match: "x"'), '200'],
  ['If-None-Match: * of the style sheet', () => get('/oauth/style.css', 'If-None-Match: *'), '304'],
  [
    'If-None-Match of another version',
    () => get('/oauth/style.css', 'If-None-Match: "x", W/"y"'),
    '200',
  ],
  [
    'If-Modified-Since',
    () => get('/oauth/jwks', 'If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT'),
    '200',
  ],
  [
    'Range of metadata',
    () => get('/.well-known/oauth-authorization-server', 'Range: bytes=0-5'),
    '200',
  ],
]

const loginPage = '303 /login'

const authorizations: readonly Row[] = [
  ['an empty prompt', () => authorize('prompt='), loginPage],
  ['a prompt of blanks', () => authorize('prompt=+'), loginPage],
  ['prompt=none', () => authorize('prompt=none'), '303 login_required'],
  ['prompt=none twice', () => authorize('prompt=none+none'), '303 login_required'],
  ['an empty scope', () => authorize('scope='), loginPage],
  ['max_age=0', () => authorize('scope=openid&max_age=0'), loginPage],
  [
    'max_age beyond 32 bits',
    () => authorize('scope=openid&max_age=99999999999&prompt=none'),
    '303 login_required',
  ],
  ['a repeated state', () => authorize('state=a&state=b'), '303 /oauth/errors invalid_request'],
  [
    'a repeated resource',
    () =>
      authorize(
        `resource=${encodeURIComponent(server.issuer)}&resource=${encodeURIComponent(server.issuer)}`,
      ),
    loginPage,
  ],
]

/** Where a redirect leads: the path on this server, or the error that the client receives. */
const leadsTo = (location: string): string => {
  const url = new URL(location, server.issuer)
  const error = url.searchParams.get('error')
  const isOurs = url.origin === new URL(server.issuer).origin
  return [isOurs ? url.pathname : undefined, error].filter(Boolean).join(' ')
}

const responseOf = ({ status, headers, text }: RawResponse): string => {
  const type = headers.get('content-type') ?? ''
  const location = headers.get('location')
  if (location !== null) return `${status} ${leadsTo(location)}`
  if (status < 400 || status === 417 || status === 431 || text === '') return `${status}`
  if (type.startsWith('text/html')) return `${status} page`
  const { error, error_description } = JSON.parse(text)
  return `${status} ${error}: ${error_description}`
}

describe.each(Object.entries(mounted))('%s', (_, start) => {
  let host: Listening
  beforeAll(async () => {
    host = await start(server)
  })
  afterAll(() => host.close())

  const table = (rows: readonly Row[]) =>
    rows.map(([title, request, response]) => [title, response, request] as const)
  const answer = async (request: RawRequest) =>
    responseOf(await rawHttp({ issuer: `http://127.0.0.1:${host.port}` }, request))

  test.each(table(bodies))(
    'RFC 9110 §8 a body with %s: %s [T4301]',
    async (_title, response, request) => {
      expect(await answer(request())).toBe(response)
    },
  )
  test.each(table(parameters))(
    'RFC 6749 §3.2 parameters with %s: %s [T4302]',
    async (_title, response, request) => {
      expect(await answer(request())).toBe(response)
    },
  )
  test.each(table(authorization))(
    'RFC 9110 §11 credentials: %s: %s [T4303]',
    async (_title, response, request) => {
      expect(await answer(request())).toBe(response)
    },
  )
  test.each(table(paths))(
    'RFC 9110 §4, §9, §13 %s: %s [T4304]',
    async (_title, response, request) => {
      const given = await answer(request())
      // Some frameworks have no TRACE.
      expect(response === '404 405' ? response.split(' ').includes(given.slice(0, 3)) : given).toBe(
        response === '404 405' ? true : response,
      )
    },
  )
  test.each(table(authorizations))(
    'RFC 6749 §3.1 a request with %s: %s [T4305]',
    async (_title, response, request) => {
      expect(await answer(request())).toBe(response)
    },
  )
})

describe('RFC 9110 §12.5.1 the header Accept', () => {
  test.each([
    ['application/json', 'json'],
    ['application/json;q=0.1', 'json'],
    ['application/*', 'json'],
    ['APPLICATION/JSON', 'json'],
    ['application/json, text/plain, */*', 'json'],
    ['text/html;q=0.5, application/json;q=0.9', 'json'],
    ['text/html;q=0, */*', 'json'],
    ['application/json; charset=utf-8; q=0.9, */*;q=0.1', 'json'],
    ['*/*', 'page'],
    ['text/*', 'page'],
    ['', 'page'],
    ['text/html', 'page'],
    ['text/html, application/json;q=0', 'page'],
    ['application/json;q=0.5, text/*', 'page'],
    ['application/json;q=0, */*', 'page'],
    [
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
      'page',
    ],
    ['image/png', 'page'],
  ])('%j receives %s at an address without a page [T4306]', async (accept, kind) => {
    const { headers } = await server.fetch(
      new Request(`${server.issuer}/oauth/nothing`, { headers: { accept } }),
    )
    expect(headers.get('content-type')).toBe(
      kind === 'json' ? 'application/json' : 'text/html; charset=utf-8',
    )
  })
})
