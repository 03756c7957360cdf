import type { ServerResponse } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '../../src/http/outbound/fetcher.ts'
import {
  OutboundFailed,
  type OutboundOptions,
  type OutboundRequest,
} from '../../src/http/outbound/outbound.ts'
import { isPublic } from '../../src/http/outbound/public-address.ts'
import { BoundedMap } from '../../src/model/bounded-map.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'

let site: RemoteSite
let now = 0
let paths = 0
beforeAll(async () => {
  site = await remoteSite()
})
afterAll(() => site.close())
beforeEach(() => {
  now = Date.parse('2030-01-01')
})

/** Returns a path that no other test requests. */
const newPath = (): string => `/document-${++paths}.json`

const outboundWith = (
  options: OutboundOptions = site.outbound,
  dangerouslyAllowPrivateAddresses = true,
) =>
  createOutbound(options, {
    settings: parseSettings({ dangerouslyAllowPrivateAddresses }),
    clock: () => now,
  })

const json = { accept: ['application/json', 'application/*+json'], largest: 10_000 }

const asked = (
  url: string,
  more: Partial<OutboundRequest<unknown>> = {},
): OutboundRequest<unknown> => ({ url, ...json, read: (document) => document, ...more })

/** Returns the message of a rejection, and the duration until it in milliseconds. */
const refusal = async (
  url: string,
  {
    outbound = outboundWith(),
    ...more
  }: Partial<OutboundRequest<unknown>> & { outbound?: ReturnType<typeof outboundWith> } = {},
): Promise<{ message: string; took: number; isOutage: boolean }> => {
  const begun = performance.now()
  const error = await outbound.json(asked(url, more)).then(
    (found) => {
      throw new Error(`The document was accepted: ${JSON.stringify(found)}`)
    },
    (error: unknown) => error,
  )
  if (!(error instanceof OutboundFailed)) throw error
  const took = performance.now() - begun
  expect(error.message).not.toMatch(/\d+\.\d+\.\d+\.\d+|["\\]/)
  return { message: error.message, took, isOutage: error.isOutage }
}

const requestsTo = (path: string) => site.requests.filter(({ url }) => url === path)

/** Serves a path with this status, headers and body. */
const respond = (
  path: string,
  status: number,
  headers: Record<string, string> = { 'content-type': 'application/json' },
  body: string | Buffer = '{}',
): void => site.respond(path, (_request, response) => response.writeHead(status, headers).end(body))

describe('a fetched document', () => {
  test('is JSON that was fetched over https from the resolved IP address of the host', async () => {
    const path = newPath()
    site.serve(path, { a: 1 })
    await expect(outboundWith().json(asked(site.url(path)))).resolves.toEqual({ a: 1 })
    const [request] = requestsTo(path)
    expect(request?.headers).toEqual({
      accept: 'application/json, application/*+json',
      'accept-encoding': 'identity',
      'user-agent': 'svc-oauth2server',
      host: `client.example:${site.port}`,
      connection: 'close',
    })
  })

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/jwk-set+json'])(
    'may have the content type %s',
    async (type) => {
      const path = newPath()
      site.serve(path, {}, { 'content-type': type })
      await expect(outboundWith().json(asked(site.url(path)))).resolves.toEqual({})
    },
  )

  test('ignores a proxy in the environment', async () => {
    const path = newPath()
    site.serve(path, { a: 1 })
    process.env.https_proxy = 'http://127.0.0.1:1'
    try {
      await expect(outboundWith().json(asked(site.url(path)))).resolves.toEqual({ a: 1 })
    } finally {
      delete process.env.https_proxy
    }
  })
})

describe('SSRF: allowed URLs and IP addresses', () => {
  test.each([
    ['http://client.example/x', 'It must start with https://.'],
    ['http://localhost/x', 'It must start with https://.'],
    ['ftp://client.example/x', 'It must start with https://.'],
    ['file:///etc/passwd', 'It must start with https://.'],
    ['javascript:alert(1)', 'It must start with https://.'],
    ['//client.example/x', 'It must start with https://.'],
    ['https:client.example/x', 'It must start with https://.'],
    ['https:///client.example', 'It must start with https://.'],
    ['', 'It contains a character that is not allowed in a URL.'],
    [
      'https://client.example\\@127.0.0.1/',
      'It contains a character that is not allowed in a URL.',
    ],
    ['https://client.example/\n', 'It contains a character that is not allowed in a URL.'],
    [' https://client.example/', 'It contains a character that is not allowed in a URL.'],
    ['https://clíent.example/', 'It contains a character that is not allowed in a URL.'],
    ['https://user@client.example/x', 'It must not contain a user.'],
    ['https://user:password@client.example/x', 'It must not contain a user.'],
    ['https://@client.example/x', 'It must not contain a user.'],
    ['https://client.example/x#y', 'It must not contain a fragment (#).'],
    ['https://client.example:22/x', 'Its port must be 443, or 1024 and above.'],
    ['https://client.example:80/x', 'Its port must be 443, or 1024 and above.'],
    ['https://client.example:0/x', 'Its port must be 443, or 1024 and above.'],
    [`https://client.example/${'x'.repeat(1000)}`, 'It is longer than 1000 characters.'],
    ['https://127.0.0.1/x', 'Its host must be a name, not an IP address.'],
    ['https://2130706433/x', 'Its host must be a name, not an IP address.'],
    ['https://0x7f000001/x', 'Its host must be a name, not an IP address.'],
    ['https://0177.0.0.1/x', 'Its host must be a name, not an IP address.'],
    ['https://127.1/x', 'Its host must be a name, not an IP address.'],
    ['https://[::1]/x', 'Its host must be a name, not an IP address.'],
    ['https://[::ffff:127.0.0.1]/x', 'Its host must be a name, not an IP address.'],
    ['https://[::ffff:7f00:1]/x', 'Its host must be a name, not an IP address.'],
    ['https://93.184.216.34/x', 'Its host must be a name, not an IP address.'],
    ['https://localhost/x', 'Its host must be a full domain name.'],
    ['https://intranet/x', 'Its host must be a full domain name.'],
    ['https://localhost./x', 'Its host must be a full domain name.'],
    ['https://client.example./x', 'Its host must be a full domain name.'],
  ])('rejects %j before any look-up', async (url, sentence) => {
    const before = site.lookups.length
    const outbound = outboundWith(site.outbound, false)
    expect((await refusal(url, { outbound })).message).toBe(sentence)
    expect(site.lookups.length).toBe(before)
  })

  test.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:93.184.216.34',
    '::127.0.0.1',
    '::7f00:1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '2001:db8::1',
    '100::1',
    'fec0::1',
    '2130706433',
    '0x7f.1',
    'localhost',
    '',
  ])('rejects a host name that resolves to %j, without connecting [T478]', async (address) => {
    expect(isPublic(address)).toBe(false)
    const before = site.requests.length
    const outbound = outboundWith(
      {
        ...site.outbound,
        resolve: async () => [{ address, family: address.includes(':') ? 6 : 4 }],
      },
      false,
    )
    const { message } = await refusal(site.url('/x'), { outbound })
    expect(message).toBe('Its host has no public address.')
    expect(site.requests.length).toBe(before)
  })

  test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1'])(
    'accepts %s as public',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )

  test('rejects a host if one of its addresses is private', async () => {
    const addresses = [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const outbound = outboundWith({ ...site.outbound, resolve: async () => addresses }, false)
    expect((await refusal(site.url('/x'), { outbound })).message).toBe(
      'Its host has no public address.',
    )
  })

  test('returns the same error for an unknown name and a name in a private network', async () => {
    const responses = [
      () => Promise.reject(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })),
      async () => [],
      async () => [{ address: '10.0.0.1', family: 4 }],
    ]
    const refusals = await Promise.all(
      responses.map((resolve) =>
        refusal(site.url('/x'), { outbound: outboundWith({ ...site.outbound, resolve }, false) }),
      ),
    )
    expect(new Set(refusals.map(({ message, isOutage }) => `${message} ${isOutage}`)).size).toBe(1)
  })

  test('looks up a host name once and connects to the first result [T479]', async () => {
    const path = newPath()
    site.serve(path, { from: 'the first' })
    let lookups = 0
    const resolve = async () => {
      lookups += 1
      return [{ address: lookups === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
    }
    const outbound = outboundWith({ ...site.outbound, resolve })
    await expect(outbound.json(asked(site.url(path)))).resolves.toEqual({ from: 'the first' })
    expect(lookups).toBe(1)
  })

  test('with dangerouslyAllowPrivateAddresses, allows http only on this machine', async () => {
    const http = createHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}')
    })
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
    const { port } = http.address() as AddressInfo
    try {
      const outbound = outboundWith()
      await expect(outbound.json(asked(`http://localhost:${port}/`))).resolves.toEqual({ a: 1 })
      await expect(outbound.json(asked(`http://127.0.0.1:${port}/`))).resolves.toEqual({ a: 1 })
      const { message } = await refusal(`http://client.example:${port}/`, { outbound })
      expect(message).toBe('It must start with https://.')
    } finally {
      http.close()
    }
  })
})

describe('a hostile server', () => {
  test.each([301, 302, 303, 307, 308])('does not follow a redirect by %i', async (status) => {
    const path = newPath()
    const target = newPath()
    site.serve(target, { secret: true })
    respond(path, status, { location: site.url(target) })
    expect((await refusal(site.url(path))).message).toBe(
      'It is a redirect, which the server does not follow.',
    )
    expect(requestsTo(target)).toEqual([])
  })

  test.each([
    [201, false],
    [204, false],
    [206, false],
    [304, false],
    [400, false],
    [404, false],
    [410, false],
    [429, true],
    [500, true],
    [503, true],
  ])('rejects the status %i with isOutage %s', async (status, isOutage) => {
    const path = newPath()
    respond(path, status, { 'content-type': 'application/json' }, '')
    expect(await refusal(site.url(path))).toMatchObject({ isOutage })
  })

  test('rejects a document of 10 MB by its Content-Length', async () => {
    const path = newPath()
    // The host never sends the body, so the refusal cannot have waited for it.
    site.respond(path, (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': '10000000',
      })
      response.flushHeaders()
    })
    expect((await refusal(site.url(path))).message).toBe('It is larger than 10000 bytes.')
  })

  test('aborts a response with an endless body', async () => {
    const path = newPath()
    let sent = 0
    const chunk = ' '.repeat(4_096)
    const pump = (response: ServerResponse): void => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length
      if (!response.destroyed) response.once('drain', () => pump(response))
    }
    site.respond(path, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      pump(response)
    })
    expect((await refusal(site.url(path))).message).toBe('It is larger than 10000 bytes.')
    expect(sent).toBeLessThan(10_000_000)
  })

  test('accepts a document of the maximum size, and rejects a document that is one byte larger', async () => {
    const path = newPath()
    site.serve(path, `"${'x'.repeat(98)}"`)
    await expect(
      outboundWith().json(asked(site.url(path), { largest: 100 })),
    ).resolves.toHaveLength(98)
    expect((await refusal(site.url(path), { largest: 99 })).message).toBe(
      'It is larger than 99 bytes.',
    )
  })

  test.each([
    ['text/html', '<html></html>'],
    ['text/plain', '{}'],
    ['application/jsonx', '{}'],
    ['application/javascript', '{}'],
    ['text/application/json', '{}'],
    ['image/svg+xml', '{}'],
    ['', '{}'],
  ])('rejects the content type %j', async (type, body) => {
    const path = newPath()
    respond(path, 200, type === '' ? {} : { 'content-type': type }, body)
    expect((await refusal(site.url(path))).message).toBe(
      'Its content type is not application/json or application/*+json.',
    )
  })

  test('does not decompress a compressed response', async () => {
    const path = newPath()
    const bomb = gzipSync('0'.repeat(5_000_000))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    respond(path, 200, headers, bomb)
    expect((await refusal(site.url(path))).message).toBe(
      'It is compressed, although the request did not allow compression.',
    )
  })

  test.each(['', '{', '{"a":1}x', "{'a':1}", '\uFEFF\uFEFF{}'])(
    'rejects the body %j',
    async (body) => {
      const path = newPath()
      site.serve(path, body)
      expect((await refusal(site.url(path))).message).toBe('It is not JSON.')
    },
  )

  test('rejects invalid UTF-8', async () => {
    const path = newPath()
    respond(path, 200, { 'content-type': 'application/json' }, Buffer.from([0x22, 0xff, 0x22]))
    expect((await refusal(site.url(path))).message).toBe('It is not in UTF-8.')
  })

  test('rejects a body that is shorter than its Content-Length', async () => {
    const path = newPath()
    site.respond(path, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{}')
      // Fixed time: the head is received before the connection ends.
      setTimeout(() => response.destroy(), 50)
    })
    expect(await refusal(site.url(path))).toMatchObject({
      message: 'Its host could not be reached, or closed the connection.',
      isOutage: true,
    })
  })

  test('rejects a connection that is reset before the response or during TLS', async () => {
    const path = newPath()
    site.respond(path, (request) => request.socket.destroy())
    expect((await refusal(site.url(path))).message).toBe(
      'Its host could not be reached, or closed the connection.',
    )
    const tcp = await listening((socket) => {
      socket.on('error', () => undefined)
      socket.resetAndDestroy()
    })
    const { port } = tcp.address() as AddressInfo
    expect((await refusal(`https://client.example:${port}/`)).message).toBe(
      'Its host could not be reached, or closed the connection.',
    )
    tcp.close()
    expect((await refusal(`https://client.example:${port}/again`)).message).toBe(
      'Its host could not be reached, or closed the connection.',
    )
  })

  test('rejects a response in another protocol', async () => {
    const path = newPath()
    site.respond(path, (_request, response) => {
      response.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' }).end()
    })
    expect((await refusal(site.url(path))).message).toMatch(
      /another protocol|closed the connection/,
    )
  })

  test('rejects a certificate for another name or of an unknown authority', async () => {
    const path = newPath()
    site.serve(path, {})
    const before = site.requests.length
    expect((await refusal(site.url(path, 'other.example'))).message).toBe(
      'Its certificate is not valid.',
    )
    const outbound = outboundWith({ resolve: site.outbound.resolve })
    expect((await refusal(site.url(path), { outbound })).message).toBe(
      'Its certificate is not valid.',
    )
    expect(site.requests.length).toBe(before)
  })

  test('ignores the variable that disables the verification of certificates', async () => {
    const path = newPath()
    site.serve(path, {})
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const outbound = outboundWith({ resolve: site.outbound.resolve })
      expect((await refusal(site.url(path), { outbound })).message).toBe(
        'Its certificate is not valid.',
      )
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })
})

describe('the timeout covers the whole request', () => {
  const isInTime = ({ took }: { took: number }): boolean => took > 4_500 && took < 15_000
  const tooSlow = 'It did not arrive within 5 seconds.'

  test.concurrent('aborts a body that arrives at one byte a second', async () => {
    const path = newPath()
    site.respond(path, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 1000)
      response.on('close', () => clearInterval(timer))
    })
    const found = await refusal(site.url(path))
    expect(found).toMatchObject({ message: tooSlow, isOutage: true })
    expect(isInTime(found)).toBe(true)
  })

  test.concurrent('aborts a request whose response headers never arrive', async () => {
    const path = newPath()
    site.respond(path, () => undefined)
    const found = await refusal(site.url(path))
    expect(found.message).toBe(tooSlow)
    expect(isInTime(found)).toBe(true)
  })

  test.concurrent('aborts a request to a server that accepts the connection and sends nothing', async () => {
    const tcp = await listening((socket) => socket.on('error', () => undefined))
    const { port } = tcp.address() as AddressInfo
    const found = await refusal(`https://client.example:${port}/`)
    tcp.close()
    expect(found.message).toBe(tooSlow)
    expect(isInTime(found)).toBe(true)
  })

  test.concurrent('aborts a request whose host name is never resolved', async () => {
    const outbound = outboundWith({ ...site.outbound, resolve: () => new Promise(() => undefined) })
    const found = await refusal(site.url(newPath()), { outbound })
    expect(found.message).toBe(tooSlow)
    expect(isInTime(found)).toBe(true)
  })
})

describe('caching (RFC 9111)', () => {
  /** Requests a document, and again after each of these pauses in seconds. @returns the number of requests to the host */
  const countFetches = async (
    headers: Record<string, string>,
    seconds: readonly number[],
    more: Partial<OutboundRequest<unknown>> = {},
  ): Promise<number> => {
    const path = newPath()
    site.serve(path, { a: 1 }, headers)
    const outbound = outboundWith()
    await outbound.json(asked(site.url(path)))
    for (const after of seconds) {
      now += after * 1000
      await expect(outbound.json(asked(site.url(path), more))).resolves.toEqual({ a: 1 })
    }
    return requestsTo(path).length
  }

  test('caches a document for max-age seconds', async () => {
    expect(await countFetches({ 'cache-control': 'max-age=600' }, [599])).toBe(1)
    expect(await countFetches({ 'cache-control': 'max-age=600' }, [601])).toBe(2)
    expect(await countFetches({ 'cache-control': 'private, max-age=600' }, [599])).toBe(1)
  })

  test('does not cache a document with no-store', async () => {
    expect(await countFetches({ 'cache-control': 'no-store' }, [0, 0])).toBe(3)
  })

  test('fetches a document with no-cache again before each use', async () => {
    expect(await countFetches({ 'cache-control': 'no-cache' }, [0, 0])).toBe(3)
  })

  test('caches a document for at least a minute, since one login requests it several times', async () => {
    expect(await countFetches({}, [59])).toBe(1)
    expect(await countFetches({}, [61])).toBe(2)
    expect(await countFetches({ 'cache-control': 'max-age=0, must-revalidate' }, [59])).toBe(1)
  })

  test('caches a document for at most a day', async () => {
    const forever = { 'cache-control': 'max-age=31536000, immutable' }
    expect(await countFetches(forever, [86_300])).toBe(1)
    expect(await countFetches(forever, [86_500])).toBe(2)
  })

  test('fetches a cached document again if it is older than maxAge', async () => {
    const year = { 'cache-control': 'max-age=31536000' }
    expect(await countFetches(year, [59, 30], { maxAge: 60 })).toBe(2)
  })

  test('revalidates a cached document with its ETag', async () => {
    const path = newPath()
    site.respond(path, (request, response) => {
      const isKnown = request.headers['if-none-match'] === '"v1"'
      response.writeHead(isKnown ? 304 : 200, {
        etag: '"v1"',
        'cache-control': 'max-age=100',
        ...(isKnown ? {} : { 'content-type': 'application/json' }),
      })
      response.end(isKnown ? undefined : '{"a":1}')
    })
    const outbound = outboundWith()
    for (const after of [0, 101_000, 50_000]) {
      now += after
      await expect(outbound.json(asked(site.url(path)))).resolves.toEqual({ a: 1 })
    }
    expect(requestsTo(path).map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      '"v1"',
    ])
  })

  test('replaces a cached document with a new version', async () => {
    const path = newPath()
    const outbound = outboundWith()
    site.serve(path, { a: 1 }, { etag: '"v1"' })
    await outbound.json(asked(site.url(path)))
    site.serve(path, { a: 2 }, { etag: '"v2"' })
    now += 61_000
    await expect(outbound.json(asked(site.url(path)))).resolves.toEqual({ a: 2 })
    await expect(outbound.json(asked(site.url(path)))).resolves.toEqual({ a: 2 })
    expect(requestsTo(path).length).toBe(2)
  })

  test('shares one request among 50 concurrent callers', async () => {
    const path = newPath()
    site.respond(path, (_request, response) => {
      // Fixed time: concurrent calls overlap.
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}')
      }, 100)
    })
    const outbound = outboundWith()
    const found = await Promise.all(
      Array.from({ length: 50 }, () => outbound.json(asked(site.url(path)))),
    )
    expect(found).toEqual(Array.from({ length: 50 }, () => ({ a: 1 })))
    expect(requestsTo(path).length).toBe(1)
  })

  test('does not cache an error response, but sends no new request for 3 seconds [T466]', async () => {
    const path = newPath()
    const outbound = outboundWith()
    respond(path, 500)
    for (let tries = 0; tries < 10; tries += 1) await refusal(site.url(path), { outbound })
    expect(requestsTo(path).length).toBe(1)
    site.serve(path, { a: 1 })
    now += 3_001
    await expect(outbound.json(asked(site.url(path)))).resolves.toEqual({ a: 1 })
  })

  test('does not cache a document that the function `read` of the caller rejects', async () => {
    const path = newPath()
    const outbound = outboundWith()
    site.serve(path, { wrong: true }, { 'cache-control': 'max-age=600' })
    const read = (document: unknown) => {
      if (Object.hasOwn(document as object, 'wrong')) throw new TypeError('It is wrong.')
      return document
    }
    await expect(outbound.json(asked(site.url(path), { read }))).rejects.toThrow('It is wrong.')
    site.serve(path, { right: true })
    now += 3_001
    await expect(outbound.json(asked(site.url(path), { read }))).resolves.toEqual({ right: true })
  })

  test('sends no request if beforeSending throws, and does not call beforeSending for a cached document', async () => {
    const path = newPath()
    const outbound = outboundWith()
    site.serve(path, { a: 1 })
    const refuse = async (): Promise<void> => {
      throw new RangeError('too often')
    }
    const request = asked(site.url(path), { beforeSending: refuse })
    await expect(outbound.json(request)).rejects.toThrow('too often')
    expect(requestsTo(path)).toEqual([])
    await outbound.json(asked(site.url(path)))
    await expect(outbound.json(request)).resolves.toEqual({ a: 1 })
  })

  test('does not call beforeSending if another caller is already fetching the document', async () => {
    const path = newPath()
    const outbound = outboundWith()
    let answering: (() => void) | undefined
    site.respond(path, (_request, response) => {
      answering = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    const first = outbound.json(asked(site.url(path)))
    await expect.poll(() => answering).toBeDefined()
    let counted = 0
    const count = async (): Promise<void> => {
      counted += 1
    }
    const second = outbound.json(asked(site.url(path), { beforeSending: count }))
    answering?.()
    await expect(Promise.all([first, second])).resolves.toEqual([{}, {}])
    expect(counted).toBe(0)
  })

  test('sends at most five concurrent requests to one host', async () => {
    const outbound = outboundWith()
    const waiting: ServerResponse[] = []
    const slow = Array.from({ length: 6 }, newPath)
    for (const path of slow) site.respond(path, (_request, response) => waiting.push(response))
    const five = slow.slice(0, 5).map((path) => outbound.json(asked(site.url(path))))
    const sixth = site.url(slow[5] ?? '')
    expect((await refusal(sixth, { outbound })).message).toBe(
      'Too many requests are already running.',
    )
    await expect.poll(() => waiting.length).toBe(5)
    for (const response of waiting)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    await Promise.all(five)
    // The request was rejected before it was sent, so it does not count as a failure of that host.
    site.serve(slow[5] ?? '', { a: 1 })
    await expect(outbound.json(asked(sixth))).resolves.toEqual({ a: 1 })
  })
})

describe('unresponsive hosts', () => {
  const never = new Promise<never>(() => undefined)
  const silently: OutboundOptions['resolve'] = (host) =>
    host.startsWith('silent-') ? never : site.outbound.resolve(host)

  test('limits the concurrent fetches of requesters in one network, so that requesters in other networks are served', async () => {
    const path = newPath()
    site.serve(path, { a: 1 })
    const outbound = outboundWith({ ...site.outbound, resolve: silently })
    for (let host = 0; host < 50; host += 1)
      outbound
        .json(asked(`https://silent-${host}.example/a`, { requester: `192.0.2.${host}` }))
        .catch(() => undefined)
    const refused = outbound.json(asked('https://silent-50.example/a', { requester: '192.0.2.50' }))
    await expect(refused).rejects.toThrow('Too many requests are already running.')
    const stranger = asked(site.url(path), { requester: '198.51.100.2' })
    await expect(outbound.json(stranger)).resolves.toEqual({ a: 1 })
  })

  test('requests of one purpose from 30 networks leave places for requests of other purposes [T3511]', async () => {
    const path = newPath()
    site.serve(path, { keys: [] })
    const outbound = outboundWith({ ...site.outbound, resolve: silently })
    const refused: unknown[] = []
    for (let network = 0; network < 60; network += 1)
      outbound
        .json(
          asked(`https://silent-${network}.example/a`, {
            requester: `198.${network}.100.2`,
            purpose: 'metadata document',
          }),
        )
        .catch((error: unknown) => refused.push(error))
    const keys = { requester: '203.0.113.7', purpose: 'keys' } as const
    await expect(outbound.json(asked(site.url(path), keys))).resolves.toEqual({ keys: [] })
    expect(refused).toHaveLength(30)
  })

  test('cached documents of one purpose do not evict those of another purpose [T3516]', async () => {
    const settings = parseSettings({ dangerouslyAllowPrivateAddresses: true })
    const outbound = createOutbound(site.outbound, { settings, clock: () => now, maxCached: 2 })
    const [keys, ...documents] = [newPath(), newPath(), newPath(), newPath()]
    for (const path of [keys ?? '', ...documents]) site.serve(path, { a: 1 })
    const fetchOf = async (path: string, purpose: 'keys' | 'metadata document') => {
      const before = site.requests.length
      await outbound.json(asked(site.url(path), { purpose }))
      return site.requests.length - before
    }
    expect(await fetchOf(keys ?? '', 'keys')).toBe(1)
    for (const path of documents) expect(await fetchOf(path, 'metadata document')).toBe(1)
    expect(await fetchOf(keys ?? '', 'keys')).toBe(0)
    // Within one purpose, the least recently used document is evicted.
    expect(await fetchOf(documents[0] ?? '', 'metadata document')).toBe(1)
  })

  test('50 silent hosts of logout notices take no place of documents, and a further notice is sent while they hang [T3512]', async () => {
    const path = newPath()
    site.serve(path, { a: 1 })
    site.respond('/logout', (_request, response) => response.writeHead(204).end())
    const outbound = outboundWith({ ...site.outbound, resolve: silently })
    const message = (host: string) => ({ url: `https://${host}:${site.port}/logout`, form: 'a=b' })
    const ended: unknown[] = []
    // Each of three hosts is slow for many users. Other hosts are served.
    for (let index = 0; index < 50; index += 1)
      outbound.post(message(`silent-${index % 3}.example`)).catch((error) => ended.push(error))
    await outbound.post(message('client.example'))
    await expect(outbound.json(asked(site.url(path)))).resolves.toEqual({ a: 1 })
    expect(ended).toEqual([])
  })

  test('does not apply the limit per network to fetches without a requester', async () => {
    const path = newPath()
    site.serve(path, { a: 1 })
    const outbound = outboundWith({ ...site.outbound, resolve: silently })
    for (let host = 0; host < 49; host += 1)
      outbound.json(asked(`https://silent-${host}.example/a`)).catch(() => undefined)
    await expect(outbound.json(asked(site.url(path)))).resolves.toEqual({ a: 1 })
  })
})

test('BoundedMap evicts the least recently used entry', () => {
  const map = new BoundedMap<number>(2)
  map.set('a', 1)
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3])
})

const listening = async (connected: (socket: Socket) => void): Promise<Server> => {
  const server = createTcpServer(connected)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}
