import { afterAll, describe, expect, test } from 'vitest'
import type { RawResponse } from '../support/raw-http.ts'
import {
  type Accepted,
  EveryEndpoint,
  encoded,
  type Fields,
  formType,
  html,
  type Operation,
} from './every-endpoint.ts'

// Rules that every endpoint of the running server obeys, from its own declaration. A new endpoint is tested here without
// a change of this file; `every-endpoint.ts` has a request that the endpoint accepts, if its path alone is not enough.

const world = await EveryEndpoint.start()
afterAll(() => world.app.close())

const { operations } = world
const { origin } = new URL(world.app.issuer)
const named = (chosen: readonly Operation[] = operations) =>
  chosen.map((operation) => [operation.name, operation] as const)
const { endpoints } = world
const patterns = [...new Set(operations.map(({ pattern }) => pattern))].map((pattern) => {
  const own = operations.filter((operation) => operation.pattern === pattern)
  return [pattern, own] as const
})
const allowOf = (own: readonly Operation[]): string =>
  own.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')

const withBody = operations.filter(
  ({ method, described }) =>
    method === 'PUT' || (method === 'POST' && (!described || described.requestBody !== undefined)),
)
const withForm = operations.filter(
  ({ method, name }) => method === 'POST' && !/register|leaked$|ping|userinfo/.test(name),
)
const open = operations.filter(({ endpoint }) => endpoint.cors)
const closed = operations.filter(({ endpoint }) => !endpoint.cors)

/** Expects that the rejected requests of `work` write nothing. */
const unchanged = async (work: () => Promise<void>): Promise<void> => {
  const before = await world.written()
  await work()
  expect(await world.written()).toEqual(before)
}

const jsonType = 'application/json'
const types =
  /^(?:application\/json|application\/jwk-set\+json|(?:text\/(?:html|css|javascript|csv|plain)(?:; version=[\d.]+)?|application\/json); ?charset=utf-8.*)$/

/** Expects the headers that each response with a body or a redirect has. */
const expectHeaders = ({ status, headers, text }: RawResponse): void => {
  for (const absent of ['x-powered-by', 'server', 'strict-transport-security', 'last-modified'])
    expect(headers.get(absent), absent).toBeNull()
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  if (text !== '') expect(headers.get('content-type')).toMatch(types)
  if (status < 400 && headers.get('cache-control')?.startsWith('public')) return
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('etag')).toBeNull()
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  if (!headers.get('content-type')?.startsWith('text/html')) return
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/)
}

const cors = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))

test('the router serves every endpoint [T4830]', () => {
  expect(endpoints.length).toBeGreaterThan(50)
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length)
})

describe('HT-05 An accepted request', () => {
  /** The responses to accepted requests that report an error. */
  const errors: Readonly<Record<string, number>> = {
    'GET /oauth/errors': 400,
    'GET /oauth/logos/:digest': 404,
  }
  test.each(named())('to %s succeeds, with the headers of its type [T4831]', async (name, one) => {
    const { status, headers, text } = await world.send(one)
    expect(status < 400 ? 200 : status, text).toBe(errors[name] ?? 200)
    if (status !== 204) expectHeaders({ status, headers, text })
  })
})

describe('HT-07 Methods', () => {
  const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND'.split(' ')

  test.each(patterns)(
    '%s returns 405 with Allow to other methods, reads no query, and writes nothing [T732]',
    async (pattern, own) => {
      const [first] = own
      if (!first) return
      const allow = allowOf(own)
      const { path, headers } = await world.accepted(first)
      const credentials = { ...world.asSession(), ...headers }
      const query = encoded({ csrf_token: world.session.csrfToken, delete: 'yes', confirm: 'yes' })
      await unchanged(async () => {
        for (const method of methods.filter((name) => !allow.split(', ').includes(name))) {
          const ask = (accept: string) =>
            world.sendAs(
              first,
              { path, query: {}, headers: { ...credentials, accept } },
              { method, query },
            )
          const response = await ask('*/*')
          expect([method, response.status]).toEqual([method, 405])
          expect(response.headers.get('allow')).toBe(allow)
          expectHeaders(response)
          expect(response.headers.get('location')).toBeNull()
          if (method === 'HEAD') continue
          expect(JSON.parse(response.text)).toEqual({
            error: 'invalid_request',
            error_description: `Allowed: ${allow}.`,
          })
          const page = await ask(html)
          expect([page.status, page.headers.get('content-type')]).toEqual([
            405,
            first.endpoint.errors === 'page' ? 'text/html; charset=utf-8' : 'application/json',
          ])
        }
      })
      expect(pattern).toMatch(/^\//)
    },
  )

  const gets = operations.filter(({ method }) => method === 'GET')
  test.each(named(gets))(
    '%s returns the status and the headers of GET to HEAD, and writes nothing',
    async (name, one) => {
      const accepted = await world.accepted(one)
      await unchanged(async () => {
        const head = await world.sendAs(one, accepted, { method: 'HEAD' })
        expect(head.text).toBe('')
        expect(head.headers.get('set-cookie')).toBeNull()
        // GET starts an authorization, and stores it.
        if (name === 'GET /oauth/authorize') return
        const get = await world.sendAs(one, accepted)
        expect(head.status).toBe(get.status)
        for (const header of [
          'content-type',
          'cache-control',
          'content-language',
          'vary',
          'referrer-policy',
          'content-security-policy',
          'location',
        ])
          expect(head.headers.get(header), header).toBe(get.headers.get(header))
      })
    },
  )

  test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
    'are not changed by the header %s or the parameter _method',
    async (header) => {
      const posts = operations.filter(
        ({ pattern, method }) =>
          method === 'POST' && !patterns.some(([path, own]) => path === pattern && own.length > 1),
      )
      for (const one of posts) {
        const { path, headers } = await world.accepted(one)
        const asked = { path, query: {}, headers: { ...headers, [header]: 'POST' } }
        const get = await world.sendAs(one, asked, { method: 'GET', query: '_method=POST' })
        expect([one.name, get.status]).toEqual([one.name, 405])
        const post = await world.send(one, { headers: { [header]: 'GET' }, query: '_method=GET' })
        expect([one.name, post.status]).toEqual([one.name, (await world.send(one)).status])
      }
    },
  )
})

describe('HT-06 CORS (RFC 9700 §2.6)', () => {
  const exposed = 'WWW-Authenticate,DPoP-Nonce,Retry-After'
  const evil = 'https://evil.example'
  const preflight = (one: Operation, headers: Record<string, string>) =>
    world.send(one, {
      method: 'OPTIONS',
      body: '',
      headers: {
        'access-control-request-method': one.method,
        'access-control-request-headers': 'authorization,content-type',
        ...headers,
      },
    })

  test.each(named(open))(
    '%s allows any origin but null, without credentials [T548]',
    async (_, one) => {
      const { cookie } = world.session
      for (const from of [{ origin: evil }, { origin, cookie }]) {
        const response = await world.send(one, { headers: from })
        expect(cors(response.headers)).toEqual({
          'access-control-allow-origin': '*',
          'access-control-expose-headers': exposed,
        })
        for (const asked of ['authorization,content-type', 'x-1, traceparent,baggage']) {
          const allowed = await preflight(one, { ...from, 'access-control-request-headers': asked })
          expect([allowed.status, allowed.text]).toEqual([204, ''])
          expect(allowed.headers.get('vary')).toContain('Access-Control-Request-Headers')
          expect(cors(allowed.headers)).toEqual({
            'access-control-allow-origin': '*',
            'access-control-allow-methods': expect.stringContaining(one.method),
            'access-control-allow-headers': asked.replaceAll(' ', ''),
            'access-control-expose-headers': exposed,
            'access-control-max-age': '86400',
          })
        }
      }
      const refused = await world.send(one, {
        method: 'PATCH',
        headers: { origin: evil },
        body: '',
      })
      expect([refused.status, cors(refused.headers)['access-control-allow-origin']]).toEqual([
        405,
        '*',
      ])
      const isNull = { origin: 'null' }
      for (const { headers } of [
        await world.send(one, { headers: isNull }),
        await preflight(one, isNull),
      ])
        expect(headers.get('access-control-allow-origin')).toBeNull()
      const plain = await world.send(one, {
        method: 'OPTIONS',
        headers: { origin: evil },
        body: '',
      })
      expect([plain.status, cors(plain.headers)]).toEqual([405, {}])
    },
  )

  test.each(named(closed))(
    '%s sends no CORS headers, with or without a preflight [T4832]',
    async (_, one) => {
      expect(cors((await world.send(one, { headers: { origin: evil } })).headers)).toEqual({})
      for (const from of [evil, 'null', origin]) {
        const asked = await preflight(one, { origin: from })
        expect([asked.status, cors(asked.headers)]).toEqual([405, {}])
      }
    },
  )

  test('no HTML page allows other origins', () => {
    expect(open.filter(({ endpoint }) => endpoint.errors === 'page')).toEqual([])
    expect(open.length).toBeGreaterThan(15)
  })
})

describe('HT-01 Content types and bodies (RFC 9110 §8)', () => {
  const accepted = (type: string) => [
    type.toUpperCase(),
    `${type};charset=utf-8`,
    `${type}; charset="UTF-8"`,
    `${type};charset=iso-8859-1`,
    `${type}\t;charset=utf-8`,
    `${type};boundary=x`,
    `${type};`,
    `  ${type}  `,
  ]
  const refused = (type: string, other: string) => [
    other,
    'text/plain',
    'text/json',
    'multipart/form-data; boundary=x',
    '',
    `${type}X`,
    `x${type}`,
    `${type} x`,
    `${type};charset=utf-16`,
    `${type};charset=utf-7`,
    `${type}; charset =utf-8`,
    `${type} junk;charset=utf-8`,
    `${type};charset=utf-8;charset=utf-16`,
    `${type};boundary="x`,
    `${type}, ${other}`,
    `${other}, ${type}`,
    `${other};${type}`,
    'application/*',
    '*/*',
  ]
  const typesOf = ({ json }: Accepted) =>
    (json ? [jsonType, formType] : [formType, jsonType]) as [string, string]
  const typed = (...types: readonly string[]) => ({
    lines: types.map((type) => `Content-Type: ${type}`),
  })
  const expectRefused = ({ endpoint }: Operation, { status, headers, text }: RawResponse) => {
    expect([400, 415], text).toContain(status)
    expectHeaders({ status, headers, text })
    expect(headers.get('location')).toBeNull()
    if (endpoint.errors === 'page') expect(headers.get('content-type')).toMatch(/^text\/html/)
    else expect(JSON.parse(text).error).toBe('invalid_request')
  }

  test.each(named(withBody))(
    '%s accepts a body in UTF-8, whatever its type is written like',
    async (_, one) => {
      const [type] = typesOf(await world.accepted(one))
      // Every page reads its form with the same function.
      for (const written of accepted(type).slice(0, one.endpoint.errors === 'page' ? 2 : 8)) {
        const { status, text } = await world.send(one, typed(written))
        expect(status, `${written} ${text}`).toBeLessThan(400)
      }
    },
  )

  test.each(named(withBody))(
    '%s refuses other content types, a repeated type and a compressed body, and writes nothing [T4835]',
    async (_, one) => {
      const request = await world.accepted(one)
      const [type, other] = typesOf(request)
      await unchanged(async () => {
        for (const types of [
          ...refused(type, other).map((written) => [written]),
          [],
          [type, other],
          [type, type],
        ])
          expectRefused(one, await world.sendAs(one, request, typed(...types)))
        for (const encoding of ['gzip', 'deflate', 'br']) {
          const headers = { 'content-encoding': encoding }
          expectRefused(one, await world.sendAs(one, request, { headers }))
        }
      })
    },
  )

  test.each(named(withForm))('%s reads no field from the query', async (_, one) => {
    const { clientId: client_id, clientSecret: client_secret } = world.client
    const request = await world.accepted(one)
    const credentials = one.described?.security?.[0]?.client && { client_id, client_secret }
    const query = encoded({ ...request.form, ...credentials })
    const headers: Record<string, string> = credentials ? { authorization: '' } : {}
    await unchanged(async () => {
      const response = await world.sendAs(one, request, { query, headers, body: '' })
      const location = response.headers.get('location') ?? ''
      const isError = response.status >= 400 || /^\/oauth\/(?:errors|logout)\?/.test(location)
      expect([response.status, location, isError]).toEqual([response.status, location, true])
    })
  })

  test.each(named(withBody))(
    '%s reads 64 KiB, and returns 413 to a larger body [T4836]',
    async (_, one) => {
      const request = await world.accepted(one)
      // The login adds the parameters of an authorization request to a URL, whose length is limited.
      const max = one.pattern === '/oauth/authorize' ? 16_384 : 65_536
      const own = request.form ? `${encoded(request.form)}&a=` : JSON.stringify(request.json)
      const padding = request.form ? 'x' : ' '
      const body = (size: number) => own + padding.repeat(size - own.length)
      const larger = body(max + 1)
      const inChunks = `${larger.length.toString(16)}\r\n${larger}\r\n0\r\n\r\n`
      await unchanged(async () => {
        for (const [headers, text] of [
          [{}, larger],
          [{ 'transfer-encoding': 'chunked' }, inChunks],
          // The server must not wait for the rest of an announced body.
          [{ 'content-length': '100000000' }, 'a=b'],
        ] as const) {
          const { status, headers: given } = await world.sendAs(one, request, {
            headers,
            body: text,
          })
          expect(status).toBe(413)
          const isPage = one.endpoint.errors === 'page'
          expect(given.get('content-type')).toBe(
            isPage ? 'text/html; charset=utf-8' : 'application/json',
          )
        }
      })
      const fits = await world.sendAs(one, request, { body: body(max) })
      expect(fits.status, fits.text).toBeLessThan(400)
    },
  )

  test.each(named(withForm))('%s refuses a form with too many parameters', async (_, one) => {
    const request = await world.accepted(one)
    const own = encoded(request.form ?? {})
    const max = /^\/(?:account|admin)\//.test(one.pattern) ? 2_000 : 100
    const body = (count: number) => own + '&a='.repeat(count - own.split('&').length)
    await unchanged(async () => {
      const { status, text, headers } = await world.sendAs(one, request, { body: body(max + 1) })
      expect(status === 400 || headers.get('location')?.startsWith('/oauth/errors?')).toBe(true)
      expect(`${text}${headers.get('location')}`.replaceAll('%20', '+')).toMatch(
        /More[ +]than[ +][\d,]+[ +]parameters/,
      )
    })
    const fits = await world.sendAs(one, request, { body: body(max) })
    expect(fits.status, fits.text).toBeLessThan(400)
  })
})

describe('HT-02 Repeated and unknown parameters (RFC 6749 §3.1, §3.2)', () => {
  const authorize = world.contract.operation('authorize') as unknown as {
    readonly parameters: readonly { readonly name: string }[]
  }
  // The server sends `iss`, and no client sends its secret here, but both names have a meaning.
  const asked = [...authorize.parameters.map(({ name }) => name), 'iss', 'client_secret']
  // These fields have several values, or only select what the next page shows.
  const lists = [
    'id',
    'form_id',
    'credential',
    'user',
    'event',
    'redirect_uris',
    'default_scopes',
    'optional_scopes',
    'scopes',
  ]

  /** Returns the parameters of the form that may not be repeated. */
  const fieldsOf = (
    { pattern, endpoint, described }: Operation,
    form: Fields,
  ): readonly string[] => {
    if (pattern === '/oauth/authorize') return asked
    const own = Object.keys(form).filter((name) => !lists.includes(name))
    if (endpoint.errors === 'page') return pattern === '/oauth/logout' ? [] : own
    const { $ref = '', ...inline } = (described?.requestBody?.content[formType]?.schema ?? {}) as {
      readonly $ref?: string
    }
    const { schemas } = world.contract.document.components
    const schema = (schemas[$ref.split('/').at(-1) ?? ''] ?? inline) as { properties?: object }
    const more = pattern === '/oauth/par' ? asked.filter((name) => name !== 'request_uri') : []
    return [...new Set([...own, ...Object.keys(schema.properties ?? {}), ...more])]
  }

  const expectInvalid = (name: string, { status, headers, text }: RawResponse) => {
    expectHeaders({ status, headers, text })
    const location = headers.get('location')
    if (location !== null) {
      const { searchParams } = new URL(location, origin)
      expect([name, searchParams.get('error')]).toEqual([name, 'invalid_request'])
    } else if (headers.get('content-type') === 'application/json') {
      const error_description = `${name} is given more than once.`
      expect(status).toBe(400)
      expect(JSON.parse(text)).toEqual({ error: 'invalid_request', error_description })
    } else expect([400, 403], name).toContain(status)
  }

  test.each(named(withForm))(
    '%s refuses a repeated field, and writes nothing [T4833]',
    async (_, one) => {
      const request = await world.accepted(one)
      const names = fieldsOf(one, request.form ?? {})
      await unchanged(async () => {
        for (const name of names) {
          const { [name]: own = 'x', ...rest } = request.form ?? {}
          const letter = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
          for (const body of [
            encoded({ ...rest, [name]: [`${own}`, `${own}`] }),
            encoded({ ...rest, [name]: [`${own}`, ''] }),
            `${encoded({ ...rest, [name]: own })}&${letter}=x`,
          ])
            expectInvalid(name, await world.sendAs(one, request, { body }))
        }
      })
    },
  )

  test('GET /oauth/authorize refuses a repeated parameter', async () => {
    const one = operations.find(({ name }) => name === 'GET /oauth/authorize') as Operation
    const request = await world.accepted(one)
    for (const name of asked) {
      const { [name]: own = 'x', ...rest } = request.query
      for (const values of [
        [`${own}`, `${own}`],
        ['', `${own}`],
      ]) {
        const query = encoded({ ...rest, [name]: values })
        expectInvalid(name, await world.sendAs(one, request, { query }))
      }
    }
  })

  const unknown = [
    'foo=a&foo=b',
    'a[]=1&a[]=2',
    'a.b=c',
    'token[]=x&code[]=x&scope[]=x&redirect_uri[0]=x&name[]=x',
    '__proto__=x&__proto__=y&constructor=x&toString=x',
    '__proto__[scope]=notes:write&constructor[prototype][x]=1',
    '=x&=y',
    '&&&',
    'flag&flag',
    'a;b=c',
  ].join('&')

  test.each(named())(
    '%s ignores unknown parameters, even if they are repeated [T4834]',
    async (_, one) => {
      const request = await world.accepted(one)
      const { status } = await world.send(one)
      const query = `${encoded(request.query)}&${unknown}`
      expect((await world.sendAs(one, request, { query })).status).toBe(status)
      if (!request.form) return
      const again = await world.accepted(one)
      const body = `&${unknown}&${encoded(again.form ?? {})}&`
      const response = await world.sendAs(one, again, { body })
      expect(response.status, response.text).toBe(status)
      for (const name of ['scope', 'x', 'isAdmin'])
        expect(({} as Record<string, unknown>)[name]).toBeUndefined()
    },
  )
})

describe('a credential that is sent twice', () => {
  const credentialOf = (one: Operation): string =>
    Object.keys(one.described?.security?.[0] ?? {}).join(' ')
  const asking = (...kinds: readonly string[]) =>
    named(operations.filter((one) => kinds.includes(credentialOf(one))))
  const refused = async (one: Operation, changes: readonly object[]) => {
    const request = await world.accepted(one)
    await unchanged(async () => {
      for (const change of changes) {
        const { status, text } = await world.sendAs(one, request, change)
        expect([400, 401], JSON.stringify(change)).toContain(status)
        expect(text).toMatch(/^$|"invalid_(?:request|client|token)"|"message"/)
      }
    })
  }

  test.each(asking('client'))('RFC 6749 §2.3 is refused by %s', async (_, one) => {
    const { clientId: client_id, clientSecret: client_secret } = world.client
    const { form = {}, headers } = await world.accepted(one)
    const basic = `authorization: ${headers.authorization}`
    const type = `content-type: ${formType}`
    const assertion = {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'a.b.c',
    }
    await refused(one, [
      { body: encoded({ ...form, client_id, client_secret }) },
      { body: encoded({ ...form, client_id, ...assertion }) },
      { lines: [type, basic] },
      { lines: [type, 'authorization: Basic x'] },
      { lines: [type, 'authorization: Bearer x'] },
    ])
  })

  test.each(asking('accessToken', 'registrationToken'))(
    'RFC 6750 §2 is refused by %s',
    async (_, one) => {
      const { headers } = await world.accepted(one)
      const token = headers.authorization?.replace('Bearer ', '')
      await refused(one, [
        { lines: [`authorization: Bearer ${token}`] },
        { lines: ['authorization: Bearer x'] },
        ...(credentialOf(one) === 'accessToken'
          ? [
              { query: `access_token=${token}` },
              { query: 'access_token=' },
              {
                headers: { authorization: '' },
                query: `access_token=${token}&access_token=${token}`,
              },
            ]
          : []),
      ])
    },
  )
})
