import { gzipSync } from 'node:zlib'
import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { Device } from '../support/device.ts'
import { newKey, proofBy } from '../support/dpop.ts'
import { storeOf } from '../support/internals.ts'
import { recordOperations } from '../support/operations.ts'
import { type RawRequest, rawHttp } from '../support/raw-http.ts'
import { browser } from '../support/session.ts'
import { UserAgent } from '../support/user-agent.ts'
import {
  type AttackServer,
  basic,
  expectJson,
  type HttpResponse,
  scopes,
  startAttackServer,
} from './support/attack-server.ts'

const urlencoded = 'Content-Type: application/x-www-form-urlencoded'
const json = 'Content-Type: application/json'

let it: AttackServer
/** The names of the store operations since a test cleared the list. */
const { operations, aroundStore } = recordOperations()
beforeAll(async () => {
  it = await startAttackServer({ aroundStore, introspection: true })
})
afterAll(() => it?.close())

const send = (request: RawRequest) => rawHttp(it.server, request)
const asConf = () => {
  const { clientId, clientSecret } = it.clients.conf
  return `Authorization: ${basic(clientId, clientSecret)}`
}

/** The endpoints that read a body, with the content type of the body. */
const posts: readonly (readonly [string, string])[] = [
  ['/oauth/token', urlencoded],
  ['/oauth/revoke', urlencoded],
  ['/oauth/introspect', urlencoded],
  ['/oauth/par', urlencoded],
  ['/oauth/device_authorization', urlencoded],
  ['/oauth/device', urlencoded],
  ['/oauth/authorize', urlencoded],
  ['/oauth/register', json],
  ['/login', urlencoded],
  ['/logout', urlencoded],
]

// Returns false for the operations of limits and sessions, which run before the body is read.
const isFurtherCheck = (name: string): boolean =>
  !/^transients\.|^sessions\.|^transaction$/.test(name)

describe('DS-01 Oversized requests', () => {
  test.each(posts)(
    '%s rejects a body of more than 64 KiB before any further check',
    async (target, type) => {
      const headers = [type, asConf()]
      const body = `a=${'x'.repeat(70_000)}`
      const inChunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      const small = '400\r\n'.concat('a'.repeat(1024), '\r\n').repeat(70)
      operations.length = 0
      for (const request of [
        { headers, body },
        { headers: [...headers, 'Transfer-Encoding: chunked'], body: inChunks },
        // The server must respond although the body is incomplete.
        { headers: [...headers, 'Transfer-Encoding: chunked'], body: small },
        // The server must respond although the client never sends the announced body.
        { headers: [...headers, 'Content-Length: 100000000'], body: 'a=b' },
      ])
        expect((await send({ method: 'POST', target, ...request })).status).toBe(413)
      expect(operations.filter(isFurtherCheck)).toEqual([])
    },
  )

  test('rejects a body of 100 MB early and with little memory', async () => {
    const { port } = new URL(it.issuer)
    const { connect } = await import('node:net')
    const socket = connect(Number(port), '127.0.0.1')
    let response = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      response += text
    })
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => undefined)
    const lines = ['POST /oauth/token HTTP/1.1', 'Host: localhost', urlencoded]
    socket.write([...lines, 'Transfer-Encoding: chunked', '', ''].join('\r\n'))
    const chunk = Buffer.concat([
      Buffer.from('10000\r\n'),
      Buffer.alloc(65_536, 'a'),
      Buffer.from('\r\n'),
    ])
    const before = process.memoryUsage().rss
    let sent = 0
    while (sent < 100_000_000 && !socket.destroyed && socket.writable) {
      sent += chunk.length
      if (!socket.write(chunk))
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
    }
    socket.destroy()
    await closed
    expect(response).toMatch(/^HTTP\/1\.1 413 /)
    expect(sent).toBeLessThan(50_000_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
    expect((await it.token({ grant_type: 'client_credentials' }, { client: 'm2m' })).status).toBe(
      200,
    )
  })

  test('rejects more than 100 parameters', async () => {
    const body = Array.from({ length: 20_000 }, (_, index) => `${index.toString(36)}=`).join('&')
    const some = Array.from({ length: 101 }, (_, index) => `p${index}=`).join('&')
    for (const [target, type] of posts.filter(([path]) => path !== '/oauth/register'))
      for (const parameters of [body, some]) {
        operations.length = 0
        const response = await send({
          method: 'POST',
          target,
          headers: [type, asConf()],
          body: parameters,
        })
        const isErrorView =
          response.status === 303 && response.headers.get('location')?.startsWith('/oauth/errors?')
        expect([400, 413].includes(response.status) || isErrorView, target).toBe(true)
        expect(operations.filter(isFurtherCheck)).toEqual([])
      }
  })

  test.each(['gzip', 'deflate', 'br'])('does not decompress a body in %s', async (encoding) => {
    const bomb = gzipSync(Buffer.alloc(10_000_000, 'a')).toString('latin1')
    for (const [target, type] of posts) {
      const headers = [type, asConf(), `Content-Encoding: ${encoding}`]
      const { status } = await send({ method: 'POST', target, headers, body: bomb })
      expect([400, 413, 415], target).toContain(status)
    }
  })

  test('returns 431 for a URL of 17 kB or a header of 100 kB, and processes the next request', async () => {
    const long = 'a'.repeat(17_000)
    for (const request of [
      { target: `/oauth/authorize?state=${long}` },
      { target: `/login?next=/${long}` },
      { target: '/login', headers: [`Cookie: a=${'a'.repeat(100_000)}`] },
      { target: '/oauth/ping', headers: [`Authorization: Bearer ${'a'.repeat(100_000)}`] },
      { target: '/oauth/ping', headers: [`X-Forwarded-For: ${'1,'.repeat(50_000)}`] },
    ])
      expect((await send(request)).status).toBe(431)
    expect((await send({ target: '/login' })).status).toBe(200)
  })

  test('handles long parameters without a server error, and accepts a state of 2048 bytes', async () => {
    const long = 'x'.repeat(60_000)
    const { state } = (await it.authorize({ state: 's'.repeat(2_048) })).query
    expect(state).toBe('s'.repeat(2_048))
    expectJson(await it.token({ code: long }), 400, 'invalid_grant')
    expectJson(await it.token({ code: 'x', code_verifier: long }), 400, 'invalid_grant')
    expectJson(await it.refresh(long), 400, 'invalid_grant')
    expectJson(await it.token({ grant_type: long }), 400, 'unsupported_grant_type')
    const scope = { grant_type: 'client_credentials', scope: long }
    expectJson(await it.token(scope, { client: 'm2m' }), 400, 'invalid_scope')
    const nobody = { clientId: long.slice(0, 7_000), clientSecret: 'x' }
    const client = { ...it.clients.conf, ...nobody }
    expectJson(await it.token({ code: 'x' }, { client }), 401, 'invalid_client')
  })
})

describe('DS-02 Algorithmic complexity', () => {
  /** Returns the processor time in milliseconds. Repeats the work if another process may have slowed it down. */
  const costOf = async (work: () => Promise<unknown>): Promise<number> => {
    let best = Number.POSITIVE_INFINITY
    for (let times = 0; times < 5 && best >= 50; times += 1) {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, (user + system) / 1000)
    }
    return best
  }

  const many = 'a'.repeat(60_000)
  const bait: Record<string, string> = {
    'letters and an exclamation mark': `${many}!`,
    'at signs': 'a@'.repeat(30_000),
    slashes: `${'/'.repeat(60_000)}x`,
    blanks: ' '.repeat(60_000),
    dots: `${'a.'.repeat(30_000)}!`,
    'colons of an IPv6 address': `http://[${':'.repeat(60_000)}]`,
    'IPv6 zones': `http://[fe80::1%25${'a'.repeat(59_000)}]/`,
    'dashes of loopback names': `http://localhost${'-'.repeat(59_000)}`,
    'letters that become longer by normalization': '\uFDFA'.repeat(6_000),
    'repeated combining marks': `a${'\u0301\u0323'.repeat(9_000)}`,
  }

  test.each(Object.keys(bait))('parses a form with %s in less than 50 ms', async (name) => {
    const value = bait[name] ?? ''
    const fields = ['scope', 'redirect_uri', 'client_id', 'state', 'code', 'resource', 'grant_type']
    for (const field of fields) {
      const body = new URLSearchParams({ [field]: value }).toString().slice(0, 65_000)
      for (const [target, type] of posts.filter(([path]) => !path.startsWith('/log'))) {
        const request = { method: 'POST', target, headers: [type, asConf()], body }
        expect(await costOf(() => send(request)), `${field} at ${target}`).toBeLessThan(50)
      }
    }
  })

  test.each(Object.keys(bait))(
    'parses client metadata with %s in less than 50 ms',
    async (name) => {
      const value = (bait[name] ?? '').slice(0, 20_000)
      for (const member of ['client_name', 'scope', 'client_uri', 'contacts', 'redirect_uris']) {
        const isList = member === 'contacts' || member === 'redirect_uris'
        const metadata = {
          redirect_uris: ['https://client.example/cb'],
          [member]: isList ? [value] : value,
        }
        const body = Buffer.from(JSON.stringify(metadata)).toString('latin1')
        const request = { method: 'POST', target: '/oauth/register', headers: [json], body }
        expect(await costOf(() => send(request)), member).toBeLessThan(50)
      }
    },
  )

  test('parses many scopes, many JSON members and deeply nested JSON in less than 50 ms', async () => {
    const scope = Array.from({ length: 12_000 }, (_, index) => index.toString(36)).join(' ')
    const machine = { grant_type: 'client_credentials', scope }
    expect(await costOf(() => it.token(machine, { client: 'm2m' }))).toBeLessThan(50)
    const same = { grant_type: 'client_credentials', scope: `${scopes.r} `.repeat(20_000) }
    expect(await costOf(() => it.token(same, { client: 'm2m' }))).toBeLessThan(50)
    const names = Array.from({ length: 5_000 }, (_, index) => `"${index.toString(36)}":1`)
    for (const body of [
      `{${names.join(',')}}`,
      `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      '['.repeat(60_000),
      `{"a":"${'\\\\'.repeat(30_000)}`,
      `"${'\\"'.repeat(30_000)}`,
    ]) {
      const request = { method: 'POST', target: '/oauth/register', headers: [json], body }
      expect(await costOf(() => send(request))).toBeLessThan(50)
    }
  })

  const long = 'a'.repeat(12_000)
  test.each(
    [
      `Accept-Language: ${'a-'.repeat(6_000)}!`,
      `Accept-Language: ${'en;q=0.1,'.repeat(1_300)}`,
      `Accept: ${'text/html;q=0.1,'.repeat(700)}`,
      `Cookie: ${long};`,
      `Cookie: ${'oauth2server_session=;'.repeat(500)}`,
      `Cookie: ${'; '.repeat(6_000)}`,
      `Authorization: Bearer ${long}!`,
      `Authorization: Bearer${' '.repeat(12_000)}x y`,
      `Authorization: Bearer ${'a.'.repeat(6_000)}`,
      `Authorization: Basic ${long}=!`,
      `DPoP: ${'a.'.repeat(6_000)}`,
      `X-Forwarded-For: ${'fe80::1%a,'.repeat(1_200)}`,
      `User-Agent: ${'('.repeat(12_000)}`,
      `User-Agent: ${'Mozilla/5.0 '.repeat(1_000)}`,
      `Content-Type: application/x-www-form-urlencoded${' '.repeat(12_000)};x`,
      `Origin: http://${'a.'.repeat(5_000)}`,
      `X-Request-Id: ${long}`,
    ].map((value) => [value.slice(0, 40), value] as const),
  )('processes the header %s in less than 50 ms', async (_, line) => {
    for (const [method, target] of [
      ['GET', '/api/me'],
      ['POST', '/oauth/token'],
      ['GET', '/login'],
      ['GET', `/oauth/authorize?client_id=${it.clients.conf.clientId}`],
    ] as const)
      expect(await costOf(() => send({ method, target, headers: [line] })), target).toBeLessThan(50)
  })
})

describe('DS-03 State of unauthenticated requests', () => {
  const rowsOf = async ({ server }: AttackServer): Promise<Record<string, number>> => {
    const tables = await server.query("select name from sqlite_master where type = 'table'")
    const counts: Record<string, number> = {}
    for (const { name } of tables) {
      // Ignore routine events, because they are written later, and failed logins, because several are combined into
      // one.
      const which =
        name === 'oauth2server_audit' ? "where is_routine = 0 and event <> 'login.failed'" : ''
      const [row] = await server.query(`select count(*) as n from "${name}" ${which}`)
      counts[String(name)] = Number(row?.n)
    }
    return counts
  }
  const keysOf = async ({ server }: AttackServer): Promise<readonly string[]> =>
    (await server.query('select key from oauth2server_transient')).map((row) => String(row.key))
  /** Returns the kind of a short-lived value, such as `limit:wrongTokens`. */
  const kindOf = (key: string) => /^(?:limit:)?\w+/.exec(key)?.[0] ?? ''
  const many = 60
  const key = newKey()

  /** The kind of the rows about refused requests of known clients. The server writes these rows after a few seconds. */
  const refusals = 'client_refusals'

  /** Sends one request. The request may add one row of each listed kind. */
  type Anonymous = readonly [
    kinds: readonly string[],
    send: (at: AttackServer, index: number) => Promise<unknown>,
  ]

  const anonymous: Record<string, Anonymous> = {
    'authorization requests': [
      [],
      (at, index) =>
        at.request(new URL(at.authorizeUrl({ state: `state-${index}` })).href, {
          headers: { cookie: `oauth2server_session=${index}; x=${index}` },
        }),
    ],
    'authorization requests of unknown clients': [
      [],
      (at, index) => at.request(at.authorizeUrl({ client_id: `client-${index}` })),
    ],
    'requests for the login page': [[], (at, index) => at.request(`/login?next=/${index}`)],
    'failed logins': [
      [],
      (at, index) => {
        const body = new URLSearchParams({ email: `nobody-${index}@example.org`, password: 'x' })
        return at.request('/login', { method: 'POST', body })
      },
    ],
    'token requests with wrong codes': [
      ['limit:wrongGrants', refusals],
      (at, index) => at.token({ code: `code-${index}` }),
    ],
    'token requests with wrong refresh tokens': [
      ['limit:wrongGrants', refusals],
      (at, index) => at.refresh(`token-${index}`),
    ],
    'token requests of unknown clients': [
      ['limit:wrongSecrets'],
      (at, index) => {
        const client = { ...at.clients.conf, clientId: `client-${index}` }
        return at.token({ code: 'x' }, { client })
      },
    ],
    'requests with wrong tokens': [['limit:wrongTokens'], (at, index) => at.ping(`token-${index}`)],
    'requests with forged Host headers': [
      [],
      ({ server }, index) =>
        rawHttp(server, { target: '/login', headers: [`Host: host-${index}.example`] }),
    ],
    'requests with forged sessions': [
      [],
      ({ issuer }, index) =>
        new UserAgent({ 'user-agent': browser }).fetch(`${issuer}/`, {
          headers: { cookie: `oauth2server_session=${'A'.repeat(42)}${index % 10}` },
        }),
    ],
    'requests with DPoP proofs of an unauthenticated client': [
      ['limit:wrongSecrets', 'limit:wrongSecretsOfClient', refusals],
      async (at, index) => {
        const claims = { jti: `jti-${index}` }
        const dpop = await proofBy(await key, { app: at.server }, { claims })
        const client = { ...at.clients.conf, clientSecret: 'wrong' }
        return at.token({ grant_type: 'client_credentials' }, { client, headers: { dpop } })
      },
    ],
    'unauthenticated revocations': [
      ['limit:wrongSecrets'],
      (at, index) =>
        at.request('/oauth/revoke', {
          method: 'POST',
          body: new URLSearchParams({ token: `token-${index}`, client_id: `client-${index}` }),
        }),
    ],
    'unauthenticated device requests': [
      ['limit:deviceRequests', 'limit:wrongSecrets'],
      (at, index) =>
        at.request('/oauth/device_authorization', {
          method: 'POST',
          body: new URLSearchParams({ client_id: `client-${index}` }),
        }),
    ],
    'requests for unknown paths': [[], (at, index) => at.request(`/oauth/nothing/${index}`)],
  }

  test.each(Object.keys(anonymous))(
    '60 %s add at most one row for each counter to the database',
    async (name) => {
      const [kinds, work] = anonymous[name] ?? [[], async () => undefined]
      // Use a separate server: other tests reach limits, and their server may write refusals during this test.
      await using own = await startAttackServer()
      const { oauth2server_transient: _, ...before } = await rowsOf(own)
      const known = await keysOf(own)
      for (let index = 1; index <= many; index += 1) await work(own, index)
      const { oauth2server_transient: __, ...after } = await rowsOf(own)
      expect(after).toEqual(before)
      const added = (await keysOf(own)).filter((row) => !known.includes(row)).map(kindOf)
      expect(added.filter((kind) => !kinds.includes(kind))).toEqual([])
      expect(new Set(added).size).toBe(added.length)
    },
  )
})

describe('DS-05 Online guessing', () => {
  test('limits device requests by peer address, and ignores X-Forwarded-For of an untrusted peer', async () => {
    await using guessed = await startAttackServer()
    const device = await Device.register(guessed.server)
    const statuses: number[] = []
    for (let sent = 0; sent < 110; sent += 1) {
      const headers = { 'x-forwarded-for': `192.0.2.${sent}` }
      statuses.push((await device.ask({}, { headers })).status)
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.slice(100)).toEqual(Array.from({ length: 10 }, () => 429))
  })

  test('returns 429 for guessed tokens at introspection, but not for valid tokens', async () => {
    const { server, clients } = it
    const ask = (token: string, { clientId, clientSecret } = clients.conf) =>
      it.request('/oauth/introspect', {
        method: 'POST',
        body: new URLSearchParams({ token }),
        headers: { authorization: basic(clientId, clientSecret) },
      })
    const { accessToken } = await it.grant()
    const limits = new Limits(storeOf(server.server).transients, server.now)
    const { log } = server
    expect((await ask('guess')).body).toEqual({ active: false })
    for (let sent = 0; sent < 600; sent += 1)
      await limits
        .consume('wrongIntrospections', '127.0.0.1', clients.conf.clientId)
        .catch(() => undefined)
    const refused = await ask('another guess')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(accessToken)).body.active).toBe(true)
    // Another client is not affected.
    expect((await ask('guess', clients.conf2)).status).toBe(200)
    expect(log.some(({ event }) => event === 'request.failed')).toBe(false)
  })

  test('applies the same limit per node if the shared counters are unavailable', async () => {
    let isAway = false
    await using alone = await startAttackServer({
      aroundStore: ({ name }, run) => {
        if (isAway && name === 'transients.increment') throw new StoreUnavailable('gone')
        return run()
      },
    })
    const device = await Device.register(alone.server)
    isAway = true
    const statuses: number[] = []
    for (let sent = 0; sent < 110; sent += 1) statuses.push((await device.ask()).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    const refused = await device.ask()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  const attacker = { 'x-forwarded-for': '192.0.2.1' }
  const victim = { 'x-forwarded-for': '198.51.100.2' }
  const trustedProxies = ['127.0.0.1']

  /** Sends requests, 50 of them concurrently. Returns the number of responses by status. */
  const flood = async (total: number, send: (index: number) => Promise<{ status: number }>) => {
    const counts: Record<string, number> = {}
    for (let sent = 0; sent < total; sent += 50) {
      const part = Array.from({ length: 50 }, (_, index) => send(sent + index))
      for (const { status } of await Promise.all(part)) counts[status] = (counts[status] ?? 0) + 1
    }
    return counts
  }

  const expectRefused = ({ status, headers, body }: HttpResponse) => {
    expect([status, body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(headers.get('cache-control')).toContain('no-store')
  }

  test('returns 429 to a peer and client with too many wrong secrets, even if the peer forges addresses', async () => {
    await using guessed = await startAttackServer({ trustedProxies })
    const wrong = { ...guessed.clients.m2m, clientSecret: 'wrong' }
    const machine = { grant_type: 'client_credentials' }
    const counts = await flood(1_000, (index) =>
      guessed.token(machine, {
        client: wrong,
        headers: { 'x-forwarded-for': `203.0.113.${index % 250}, 192.0.2.1` },
      }),
    )
    // Concurrent requests that started before the limit was reached are still processed.
    expect(counts[401]).toBeGreaterThanOrEqual(100)
    expect(counts[401]).toBeLessThan(160)
    expect(Object.keys(counts)).toEqual(['401', '429'])
    expectRefused(await guessed.token(machine, { client: 'm2m', headers: attacker }))
    expect((await guessed.token(machine, { client: 'm2m', headers: victim })).status).toBe(200)
    const own = { scope: scopes.r }
    expect((await guessed.code(own, { client: 'conf' })).length).toBeGreaterThan(20)
  })

  test('returns 429 to a client and address after 1,000 wrong codes and refresh tokens, without consuming valid values', async () => {
    await using guessed = await startAttackServer({ trustedProxies })
    const { refreshToken } = await guessed.grant()
    const code = await guessed.code()
    const counts = await flood(1_000, (index) => {
      const given = { headers: attacker }
      return index % 2 === 0
        ? guessed.token({ code: `guess-${index}` }, given)
        : guessed.refresh(`guess-${index}`, {}, given)
    })
    expect(counts).toEqual({ 400: 1_000 })
    expectRefused(await guessed.token({ code }, { headers: attacker }))
    expectRefused(await guessed.refresh(refreshToken, {}, { headers: attacker }))
    expect((await guessed.token({ code }, { headers: victim })).status).toBe(200)
    expect((await guessed.refresh(refreshToken, {}, { headers: victim })).status).toBe(200)
  })

  test('returns 429 to an address after 1,000 wrong tokens, and accepts valid tokens from other addresses', async () => {
    await using guessed = await startAttackServer({ trustedProxies })
    const { accessToken } = await guessed.grant()
    const ping = (token: string, address: Readonly<Record<string, string>>) =>
      guessed.request('/oauth/ping', { headers: { authorization: `Bearer ${token}`, ...address } })
    expect(await flood(1_000, (index) => ping(`guess-${index}`, attacker))).toEqual({ 401: 1_000 })
    expectRefused(await ping(accessToken, attacker))
    expect((await ping(accessToken, victim)).status).toBe(200)
    const { log } = guessed.server
    expect(log.filter(({ event }) => event === 'limit.reached')).toHaveLength(1)
  })

  test('verifies only 10 of 100 wrong passwords, and accepts the user’s password from another network', async () => {
    await using guessed = await startAttackServer({ trustedProxies })
    const { email, password } = guessed.users.b
    const somebody = (address: Readonly<Record<string, string>>) => {
      const agent = new UserAgent({ 'user-agent': browser, ...address })
      return async (given: string) =>
        agent.submit(await agent.browse(`${guessed.issuer}/login`), { email, password: given })
    }
    const guess = somebody(attacker)
    await guess('first')
    const counts = await flood(100, (index) => guess(`guess ${index}`))
    expect(counts).toEqual({ 403: 9, 429: 91 })
    expect((await guess(password)).status).toBe(429)
    expect((await somebody(victim)(password)).status).toBe(303)
  })
})

describe('DS-06 Prototype pollution', () => {
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '__defineGetter__',
  ]
  const nasty = [
    '__proto__[scope]=w',
    '__proto__.isAdmin=true',
    'constructor.prototype.x=1',
    'constructor[prototype][x]=1',
    ...names.map((name) => `${name}=polluted`),
    ...names.map((name) => `${name}=again`),
  ].join('&')

  const isUntouched = () => {
    const bare = {} as Record<string, unknown>
    for (const name of ['scope', 'x', 'isAdmin', 'polluted', 'client_id'])
      expect(bare[name]).toBeUndefined()
    expect(Object.prototype.toString).toBeTypeOf('function')
    expect(Object.prototype.hasOwnProperty).toBeTypeOf('function')
  }

  test('ignores unknown parameters with names such as __proto__, even if they are repeated', async () => {
    for (const target of ['/login', '/oauth/errors', '/oauth/authorize', '/oauth/ping', '/'])
      expect((await send({ target: `${target}?${nasty}` })).status).toBeLessThan(500)
    for (const [target] of posts) {
      const headers = [urlencoded, asConf()]
      expect((await send({ method: 'POST', target, headers, body: nasty })).status).toBeLessThan(
        500,
      )
    }
    const machine = { grant_type: 'client_credentials' }
    const response = await it.token(machine, { client: 'm2m', append: `&${nasty}` })
    expect([response.status, response.body.scope]).toEqual([200, scopes.r])
    isUntouched()
  })

  test('ignores the JSON members __proto__ and constructor', async () => {
    const body = `{"__proto__":{"scope":"w","isAdmin":true},"constructor":{"prototype":{"x":1}},"redirect_uris":["https://client.example/cb"]}`
    const registered = await send({
      method: 'POST',
      target: '/oauth/register',
      headers: [json],
      body,
    })
    expect(registered.status).toBe(201)
    expect(JSON.parse(registered.text)).not.toHaveProperty('isAdmin')
    expect(JSON.parse(registered.text).scope ?? '').not.toContain('w')
    isUntouched()
  })

  test.each(names)(
    'rejects %s as an unknown value of parameters, headers and cookies',
    async (name) => {
      expect((await it.authorize({ scope: name })).query.error).toBe('invalid_scope')
      expect((await it.authorize({ response_type: name })).query.error).toBe(
        'unsupported_response_type',
      )
      expect((await it.authorize({ code_challenge_method: name })).query.error).toBe(
        'invalid_request',
      )
      expect((await it.authorize({ response_mode: name })).query.error).toBe('invalid_request')
      expect((await it.authorize({ client_id: name })).status).toBe(400)
      expectJson(await it.token({ grant_type: name }), 400, 'unsupported_grant_type')
      const scope = { grant_type: 'client_credentials', scope: name }
      expectJson(await it.token(scope, { client: 'm2m' }), 400, 'invalid_scope')
      const client = { ...it.clients.conf, clientId: name }
      expectJson(await it.token({ code: 'x' }, { client }), 401, 'invalid_client')
      expect((await it.ping(name)).status).toBe(401)
      const lang = await send({ target: '/login', headers: [`Accept-Language: ${name}`] })
      expect(lang.status).toBe(200)
      const cookie = await send({
        target: '/',
        headers: [`Cookie: ${name}=x; oauth2server_session=${name}`],
      })
      expect(cookie.text).toContain('Nobody is logged in')
      const page = await it.request(`/oauth/${name}`)
      expect(page.status).toBe(404)
      isUntouched()
    },
  )

  test('accepts __proto__ and similar words as the name of a client', async () => {
    for (const name of names) {
      const client = await it.client({ name })
      const page = await it.authorize({}, { client, submit: null })
      expect(page.text).toContain(name)
      expect((await it.code({}, { client })).length).toBeGreaterThan(20)
    }
  })
})
