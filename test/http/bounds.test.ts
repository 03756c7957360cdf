import fc from 'fast-check'
import { rest } from 'svc-oauth2server/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cookiesNamed } from '../../src/http/cookies.ts'
import { mediaTypeOf } from '../../src/http/media-type.ts'
import { bounds } from '../../src/model/bounds.ts'
import { validName } from '../../src/model/field-rules.ts'
import { isNamed, Parameters } from '../../src/model/parameters.ts'
import { credentialsIn } from '../../src/model/pasted-credentials.ts'
import { clientAddress } from '../../src/protocol/session/client-address.ts'
import { startServer, type TestServer } from '../support/server.ts'

let app: TestServer
beforeAll(async () => {
  app = await startServer({ dynamicRegistration: 'open' })
})
afterAll(() => app.close())

const refusedName = (name: string) => expect(() => validName(name)).toThrow()

const send = (path: string, init: RequestInit = {}) =>
  app.server.fetch(new Request(`${app.issuer}${path}`, init))

describe('decision §6 bounds of the texts of a request', () => {
  test.each([
    ['header', 431],
    ['query', 414],
    ['path', 414],
  ] as const)(
    'a page and a JSON endpoint refuse a %s that is too long with %i [T3310]',
    async (part, status) => {
      const long = 'x'.repeat(bounds[part] + 1)
      const target = (path: string) =>
        part === 'query' ? `${path}?${long}` : part === 'path' ? `${path}${long}` : path
      const headers = part === 'header' ? { cookie: long } : {}
      const page = await send(target('/login'), { headers: { ...headers, accept: 'text/html' } })
      expect(page.status).toBe(status)
      expect(page.headers.get('content-type')).toContain('text/html')
      expect(await page.text()).toContain(`The ${part}`.replace('The header', 'A header'))
      const json = await send(target('/oauth/token'), { method: 'POST', headers })
      expect(json.status).toBe(status)
      if (part === 'path') return
      expect(await json.json()).toMatchObject({ error: 'invalid_request' })
    },
  )

  test('the longest header, query and path are read [T3311]', async () => {
    const cookie = 'x'.repeat(bounds.header)
    expect((await send('/login', { headers: { cookie } })).status).toBe(200)
    expect((await send(`/login?${'x'.repeat(bounds.query)}`)).status).toBe(200)
    const { length } = `${app.issuer}/`
    expect((await send(`/${'x'.repeat(bounds.path - length)}`)).status).toBe(404)
  })

  test('REST routes refuse a credential, a query and a path that are too long [T3312]', async () => {
    const ask = async (path: string, headers: Record<string, string> = {}) =>
      (await rest(app.server, new Request(`${app.issuer}${path}`, { headers })))?.status
    const long = (length: number) => 'x'.repeat(length + 1)
    expect(await ask('/api/notes', { authorization: `Bearer ${long(bounds.header)}` })).toBe(431)
    expect(await ask('/api/notes', { cookie: long(bounds.header) })).toBe(431)
    expect(await ask(`/api/notes?${long(bounds.query)}`)).toBe(414)
    expect(await ask(`/api/${long(bounds.path)}`)).toBe(414)
  })

  test('a long User-Agent, Accept, Accept-Language or forwarded address is no error [T3313]', async () => {
    for (const name of [
      'user-agent',
      'accept',
      'accept-language',
      'x-forwarded-for',
      'if-none-match',
    ])
      expect((await send('/login', { headers: { [name]: 'x'.repeat(10_000) } })).status).toBe(200)
  })

  test('a registration with more than 50 redirect URIs is refused before any of them is checked [T3314]', async () => {
    // A check of a URI would refuse these URIs for another reason.
    const redirect_uris = Array.from({ length: 51 }, () => ' ')
    const response = await send('/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris }),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: 'invalid_redirect_uri',
      error_description: expect.stringContaining('at most 50'),
    })
  })
})

/** Returns the least processor time of several calls in microseconds. */
const cost = (call: () => unknown): number => {
  const times = Array.from({ length: 5 }, () => {
    const begin = process.cpuUsage()
    call()
    const { user, system } = process.cpuUsage(begin)
    return user + system
  })
  return Math.min(...times)
}

describe('reading a text once', () => {
  test.each([
    ['a pasted credential of dots', (n: number) => credentialsIn(`${'.'.repeat(n)}a `.repeat(2))],
    [
      'a content type with blanks',
      (n: number) => mediaTypeOf(`application/x-www-form-urlencoded${' '.repeat(n)}x`),
    ],
    [
      'an unordered list of marks as a name',
      (n: number) => refusedName('\u0301\u0323'.repeat(n / 2)),
    ],
  ])('the time to read %s is proportional to its length [T3319]', (_title, read) => {
    const short = cost(() => read(6_000))
    // The quadratic expressions took 100 times as long. One millisecond covers the inaccuracy of the measurement.
    expect(cost(() => read(60_000))).toBeLessThan(30 * short + 1_000)
  })

  test('counts empty parameters too, and refuses too many before parsing them [T3315]', () => {
    expect(() => new Parameters('a=1&'.repeat(99))).not.toThrow()
    expect(() => new Parameters('&'.repeat(100))).toThrow('More than 100 parameters')
    expect(() => new Parameters('a&b&c', 2)).toThrow('More than 2 parameters')
  })

  test('finds the same cookies as splitting the header [T3316]', () => {
    const piece = fc.constantFrom('n', 'n=', 'n=1', 'xn=2', '=', ';', '; ', ' ', '\t', 'a=n=3', '"')
    const split = (header: string) =>
      header
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith('n='))
        .map((pair) => pair.slice(2))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const header = pieces.join('')
        expect(cookiesNamed(header, 'n', 99)).toEqual(split(header).map((value) => value.trim()))
      }),
    )
  })

  test('recognizes the name of a pair however it is encoded [T3317]', () => {
    const name = 'access_token'
    const encoded = fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    fc.assert(
      fc.property(encoded, fc.constantFrom('', '=', '=x', '=%41'), (flags, value) => {
        const text = [...name]
          .map((letter, index) => (flags[index] ? `%${letter.charCodeAt(0).toString(16)}` : letter))
          .join('')
        expect(isNamed(text + value, name)).toBe(true)
        expect(isNamed(`${text}x${value}`, name)).toBe(false)
        expect(isNamed(`x=${text}`, name)).toBe(false)
      }),
    )
  })

  test('reads forwarded addresses from the right, and none beyond an entry without address [T3318]', () => {
    const addressOf = clientAddress(['127.0.0.1', '10.0.0.0/8'])
    expect(addressOf('127.0.0.1', '1.2.3.4, 10.0.0.1,10.0.0.2')).toBe('1.2.3.4')
    expect(addressOf('127.0.0.1', '1.2.3.4,,10.0.0.1')).toBe('10.0.0.1')
    expect(addressOf('127.0.0.1', ',10.0.0.1')).toBe('10.0.0.1')
    expect(addressOf('127.0.0.1', '')).toBe('127.0.0.1')
    expect(addressOf('127.0.0.1', ',')).toBe('127.0.0.1')
    expect(addressOf('127.0.0.1', `1.2.3.4,${' '.repeat(200)}10.0.0.1`)).toBe('1.2.3.4')
    expect(addressOf('127.0.0.1', `1.2.3.4,${'1'.repeat(200)}`)).toBe('127.0.0.1')
  })
})
