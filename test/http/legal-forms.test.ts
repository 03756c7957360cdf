import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Contract, type PlacedOperation } from '../pages/api/contract.ts'
import { bearer, Script } from '../pages/api/script.ts'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'

// Sends every operation of the server's own OpenAPI document in other legal forms of HTTP, and expects the response to the
// plain form.

let app: TestServer
let contract: Contract
let script: Script
let client: { clientId: string; clientSecret: string }
beforeAll(async () => {
  app = await startServer({
    deviceAuthorization: true,
    dynamicRegistration: 'open',
    openidConnect: true,
    trustedProxies: ['127.0.0.0/8', '::1'],
  })
  contract = await Contract.of(app)
  script = await Script.logIn(app)
  client = await app.client()
})
afterAll(() => app.close())

interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly target: string
  readonly body: string
  readonly version?: '1.0' | '1.1'
}

let requests = 0

const isOfScript = ({ tags }: PlacedOperation): boolean => tags.includes('settings')

/** The plain form of a request: with valid credentials, and without the required fields. */
const plainOf = (operation: PlacedOperation, type: string): Sent => {
  const { clientId, clientSecret } = client
  requests += 1
  const basic = { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` }
  // Each client has its own address, so that no limit applies.
  const address = `10.0.${requests >> 8}.${requests & 255}`
  return {
    headers: {
      ...(isOfScript(operation) ? script.headers : { ...basic, 'x-forwarded-for': address }),
      ...(type !== '' && { 'content-type': type }),
    },
    // No object has this ID, so no request changes an object.
    target: operation.path.replaceAll(/\{\w+\}/g, '1'),
    body: type === 'application/json' ? '{"unknown":"a b"}' : type === '' ? '' : 'unknown=a+b',
  }
}

const outcome = async (method: string, { headers, ...sent }: Sent): Promise<unknown> => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const response = await rawHttp(app, { method, ...sent, headers: lines })
  const { status, text } = response
  const type = response.headers.get('content-type')
  const { error, error_description } = type === 'application/json' ? JSON.parse(text || '{}') : {}
  return { status, type, error, error_description }
}

type Variation = (plain: Sent) => Sent

const withType =
  (change: (type: string) => string): Variation =>
  (plain) => ({
    ...plain,
    headers: { ...plain.headers, 'content-type': change(plain.headers['content-type'] ?? '') },
  })

const types: Readonly<Record<string, Variation>> = {
  'an empty parameter': withType((type) => `${type};`),
  'blanks and empty parameters': withType((type) => `${type} ; ; `),
  'a tab before the charset': withType((type) => `${type}\t;\tcharset=utf-8`),
  'upper case': withType((type) => type.toUpperCase()),
  'a quoted charset': withType((type) => `${type};CHARSET="UTF-8"`),
  'the charset of an ASCII body': withType((type) => `${type}; charset=iso-8859-1`),
  'an unknown parameter': withType((type) => `${type}; version="1; charset=utf-16"`),
}

const forms: Readonly<Record<string, Variation>> = {
  'an absolute target': (plain) => ({ ...plain, target: `${app.issuer}${plain.target}` }),
  'names of headers in upper case': (plain) => ({
    ...plain,
    headers: Object.fromEntries(
      Object.entries(plain.headers).map(([name, value]) => [name.toUpperCase(), value]),
    ),
  }),
  'whitespace around the values of headers': (plain) => ({
    ...plain,
    headers: Object.fromEntries(
      Object.entries(plain.headers).map(([name, value]) => [name, ` \t${value}\t `]),
    ),
  }),
  'another case of the authentication scheme, and two blanks': (plain) => {
    const { authorization = '', ...headers } = plain.headers
    const [scheme = '', value = ''] = authorization.split(' ')
    const other = scheme === 'Basic' ? 'bASIC' : 'bEARER'
    return { ...plain, headers: { ...headers, authorization: `${other}  ${value}` } }
  },
  'a chunked body': (plain) =>
    plain.body === ''
      ? plain
      : {
          ...plain,
          headers: { ...plain.headers, 'transfer-encoding': 'chunked' },
          body: `${plain.body.length.toString(16)}\r\n${plain.body}\r\n0\r\n\r\n`,
        },
  'HTTP/1.0': (plain) => ({ ...plain, version: '1.0' }),
  'unreserved characters of the body percent-encoded': (plain) => ({
    ...plain,
    body: plain.body.startsWith('unknown=') ? '%75nknown=%61%20b' : plain.body,
  }),
}

/** Returns the operations with each of their content types; an empty type for an operation without a body. */
const operations = (): readonly (readonly [PlacedOperation, string])[] =>
  contract.operations.flatMap((operation) => {
    const given = Object.keys(operation.requestBody?.content ?? { '': {} })
    return given.map((type) => [operation, type] as const)
  })

const compare = async (
  variations: Readonly<Record<string, Variation>>,
  chosen: readonly (readonly [PlacedOperation, string])[],
): Promise<void> => {
  for (const [operation, type] of chosen) {
    const plain = await outcome(operation.method, plainOf(operation, type))
    for (const [name, variation] of Object.entries(variations)) {
      const varied = await outcome(operation.method, variation(plainOf(operation, type)))
      expect([operation.operationId, type, name, varied]).toEqual([
        operation.operationId,
        type,
        name,
        plain,
      ])
    }
  }
}

describe('legal forms of the requests to every operation', () => {
  test('RFC 9110 §8.3 every legal form of the content type receives the same response [T3920]', async () => {
    const chosen = operations().filter(([, type]) => type !== '')
    await compare(types, chosen)
    // Most operations read the body, so another type receives another response.
    const reading = []
    for (const [operation, type] of chosen) {
      const plain = await outcome(operation.method, plainOf(operation, type))
      const other = withType(() => 'text/plain')(plainOf(operation, type))
      const refused = await outcome(operation.method, other)
      if (JSON.stringify(refused) !== JSON.stringify(plain)) reading.push(operation.operationId)
    }
    for (const id of ['token', 'introspect', 'revoke', 'pushAuthorizationRequest', 'createClient'])
      expect(reading).toContain(id)
  })

  test('RFC 9112 every legal form of a request receives the same response [T3921]', async () => {
    await compare(forms, operations())
  })

  test('an address for programs with a slash at its end receives JSON that names the address [T3922]', async () => {
    const named = contract.operations.filter(
      ({ path, tags, method }) =>
        path.startsWith('/oauth/') &&
        !tags.includes('settings') &&
        !/[{}]/.test(path) &&
        method === 'POST',
    )
    const paths = named
      .filter(({ responses }) => JSON.stringify(responses).includes('application/json'))
      .map(({ path }) => path)
    expect(paths).toContain('/oauth/token')
    for (const path of paths) {
      const response = await fetch(`${app.issuer}${path}/`, { method: 'POST', redirect: 'manual' })
      const text = await response.text()
      expect([path, response.status]).toEqual([path, 404])
      expect([path, response.headers.get('content-type')]).toEqual([path, 'application/json'])
      // Pages may have a JSON form for scripts.
      const isPage = ['/oauth/authorize', '/oauth/device', '/oauth/logout'].includes(path)
      expect(text.includes(path)).toBe(!isPage)
    }
    const page = await fetch(`${app.issuer}/oauth/token/`, { headers: { accept: 'text/html' } })
    expect(page.headers.get('content-type')).toContain('text/html')
  })

  test('RFC 6750 §2.1 accepts any case of the scheme and several blanks before a token', async () => {
    const token = await app.personalToken()
    for (const authorization of [`bearer ${token}`, `BEARER   ${token}`]) {
      const response = await fetch(`${app.issuer}/oauth/ping`, {
        headers: { ...bearer(token), authorization },
      })
      expect(response.status).toBe(200)
    }
  })
})
