import { createHook } from 'node:async_hooks'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutbound } from '../../src/http/outbound/fetcher.ts'
import { nameServerLookup } from '../../src/http/outbound/host-names.ts'
import {
  OutboundFailed,
  type OutboundOptions,
  type OutboundRequest,
} from '../../src/http/outbound/outbound.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { type NameServer, nameServer } from '../support/name-server.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'

let site: RemoteSite
let names: NameServer
beforeAll(async () => {
  site = await remoteSite()
  site.serve('/document.json', { a: 1 })
  names = await nameServer()
})
afterAll(() => Promise.all([site.close(), names[Symbol.asyncDispose]()]))

const outboundWith = (
  options: OutboundOptions,
  { dangerouslyAllowPrivateAddresses = true } = {},
) => {
  const settings = parseSettings({ dangerouslyAllowPrivateAddresses })
  return createOutbound(options, { settings, clock: () => 0 })
}

const asked = (url: string): OutboundRequest<unknown> => ({
  url,
  accept: ['application/json'],
  largest: 10_000,
  read: (document) => document,
})

const outcome = (outbound: ReturnType<typeof outboundWith>, url: string): Promise<unknown> =>
  outbound.json(asked(url)).catch((error: unknown) => {
    if (!(error instanceof OutboundFailed)) throw error
    return error.message
  })

const tooSlow = 'It did not arrive within 5 seconds.'
const tooMany = 'Too many requests are already running.'
const nowhere = 'Its host has no public address.'

/** Resolves a name with the name server of the test. */
const lookUp = (name: string, { signal } = new AbortController()) =>
  nameServerLookup([names.address])(name, signal)

/** Returns the types of look-up that `run` starts: GETADDRINFOREQWRAP in the thread pool, or QUERYWRAP outside it. */
const kindsOf = async (run: () => Promise<unknown>): Promise<readonly string[]> => {
  const kinds = new Set<string>()
  const hook = createHook({ init: (_id, type) => void kinds.add(type) }).enable()
  await run().finally(() => hook.disable())
  return ['GETADDRINFOREQWRAP', 'QUERYWRAP'].filter((kind) => kinds.has(kind))
}

describe('the IP addresses of a host name', () => {
  const four = { address: '93.184.216.34', family: 4 }
  const six = { address: '2606:2800:220:1::1', family: 6 }

  test('include the IPv4 and the IPv6 addresses', async () => {
    names.respond('both.example', { A: [four.address, '8.8.8.8'], AAAA: [six.address] })
    await expect(lookUp('both.example')).resolves.toEqual([
      four,
      { address: '8.8.8.8', family: 4 },
      six,
    ])
  })

  test.each([
    ['A', four],
    ['AAAA', six],
  ] as const)('may belong to only one family: %s', async (type, address) => {
    names.respond('one.example', { A: [], AAAA: [], [type]: [address.address] })
    await expect(lookUp('one.example')).resolves.toEqual([address])
  })

  test.each(['A', 'AAAA'] as const)('are found if the query for %s fails', async (type) => {
    names.respond('half.example', { A: [four.address], AAAA: [six.address], [type]: 'SERVFAIL' })
    await expect(lookUp('half.example')).resolves.toEqual([type === 'A' ? six : four])
  })

  test('are not found for an unknown name or a name without addresses', async () => {
    names.respond('empty.example', { A: [], AAAA: [] })
    names.respond('nobody.example', { A: 'NXDOMAIN', AAAA: 'NXDOMAIN' })
    await expect(lookUp('empty.example')).rejects.toMatchObject({ code: 'ENODATA' })
    await expect(lookUp('nobody.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  test('are rejected if any IPv4 or IPv6 address is private [T480]', async () => {
    names.respond('a.example', { A: ['10.0.0.1'], AAAA: [six.address] })
    names.respond('aaaa.example', { A: [four.address], AAAA: ['fd00::1'] })
    const outbound = outboundWith(
      { resolve: nameServerLookup([names.address]) },
      { dangerouslyAllowPrivateAddresses: false },
    )
    expect(await outcome(outbound, 'https://a.example/x')).toBe(nowhere)
    expect(await outcome(outbound, 'https://aaaa.example/x')).toBe(nowhere)
  })
})

describe('a slow look-up', () => {
  test.concurrent('stops and frees its place when it is aborted', async ({ expect }) => {
    await using silent = await nameServer()
    await using another = await nameServer()
    names.respond('client.example', { A: ['127.0.0.1'], AAAA: [] })
    const outbound = outboundWith({
      ...site.outbound,
      resolve: (hostname, signal) =>
        nameServerLookup(
          // Two name servers do not respond. The look-up must not wait for the full timeout of each.
          hostname === 'client.example' ? [names.address] : [silent.address, another.address],
        )(hostname, signal),
    })
    const urls = Array.from({ length: 50 }, (_, at) => `https://a${at}.slow.example/c`)
    const fifty = urls.map((url) => outcome(outbound, url))
    expect(await outcome(outbound, site.url('/document.json'))).toBe(tooMany)
    expect(new Set(await Promise.all(fifty))).toEqual(new Set([tooSlow]))
    expect(silent.asked.size).toBe(100)
    await expect
      .poll(() => outcome(outbound, site.url('/document.json')), { timeout: 60_000 })
      .toEqual({ a: 1 })
  })

  test.concurrent('passes an abort signal to the resolver of the application', async ({
    expect,
  }) => {
    const signals: AbortSignal[] = []
    const resolve = (_hostname: string, signal: AbortSignal) => {
      signals.push(signal)
      return new Promise<never>(() => undefined)
    }
    const outbound = outboundWith({ resolve })
    const refused = outcome(outbound, 'https://a.slow.example/c')
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([false])
    expect(await refused).toBe(tooSlow)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  test.concurrent('occupies its place until the resolver of the application returns', async ({
    expect,
  }) => {
    const ends: (() => void)[] = []
    const resolve = () =>
      new Promise<never>((_, reject) => ends.push(() => reject(new Error('It ended late.'))))
    const outbound = outboundWith({ resolve })
    const url = (host: number) => `https://a${host}.slow.example/c`
    const fifty = Array.from({ length: 50 }, (_, host) => outcome(outbound, url(host)))
    expect(new Set(await Promise.all(fifty))).toEqual(new Set([tooSlow]))
    expect(await outcome(outbound, url(50))).toBe(tooMany)
    ends[0]?.()
    await new Promise(setImmediate)
    const next = outcome(outbound, url(50))
    await expect.poll(() => ends.length).toBe(51)
    expect(await outcome(outbound, url(51))).toBe(tooMany)
    ends[50]?.()
    expect(await next).toBe(nowhere)
  })
})

test('with dangerouslyAllowPrivateAddresses, resolves names that only this machine knows', async () => {
  const http = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}')
  })
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
  const { port } = http.address() as AddressInfo
  try {
    for (const host of ['localhost', '127.0.0.1'])
      expect(await outcome(outboundWith({}), `http://${host}:${port}/`)).toEqual({ a: 1 })
  } finally {
    http.close()
  }
})

test('a look-up occupies no thread of the process, and an abort signal cancels it', async () => {
  const control = new AbortController()
  const kinds = await kindsOf(async () => {
    const given = lookUp('a.silent.example', control).catch(({ code }) => code)
    await expect.poll(() => names.asked).toContain('AAAA a.silent.example')
    control.abort()
    expect(await given).toBe('ECANCELLED')
  })
  expect(kinds).toEqual(['QUERYWRAP'])
  // The default resolver does not use the thread pool either.
  const outbound = outboundWith({}, { dangerouslyAllowPrivateAddresses: false })
  expect(await kindsOf(() => outcome(outbound, 'https://a.invalid/c'))).toEqual(['QUERYWRAP'])
})
