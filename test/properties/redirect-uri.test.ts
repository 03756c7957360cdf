import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  matchRedirectUri,
  redirectUriProblem,
  withFragment,
  withQuery,
} from '../../src/model/redirect-uri.ts'
import { destinationOf } from '../../src/protocol/destinations.ts'
import { check } from './check.ts'
import { someUrl } from './urls.ts'

const host = fc.constantFrom(
  'client.example',
  'localhost',
  '127.0.0.1',
  '[::1]',
  'client.example.evil.example',
)
const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined })
const path = fc.oneof(
  fc.constantFrom(
    '',
    '/',
    '/cb',
    '/cb/',
    '/a/../cb',
    '/cb/.',
    '/%63b',
    '/CB',
    '//cb',
    '/cb?x=1',
    '?x',
    '/cb?',
  ),
  fc.stringMatching(/^\/[A-Za-z0-9/.%-]{0,12}$/),
)
const uri = fc
  .record({ scheme: fc.constantFrom('https', 'http', 'HTTPS'), host, port, path })
  .map(
    ({ scheme, host: at, port: number, path: rest }) =>
      `${scheme}://${at}${number === undefined ? '' : `:${number}`}${rest}`,
  )
const registrable = uri.filter(
  (one) => redirectUriProblem(one, { privateUse: false }) === undefined,
)

/** An edit that removes and inserts characters. */
const edit = fc.record({
  at: fc.nat(),
  remove: fc.nat(2),
  insert: fc.oneof(
    fc.constantFrom(
      '',
      '/',
      '.',
      '..',
      '%2e',
      '%2F',
      '@',
      '@evil.example',
      '\\',
      '?',
      '#',
      ':',
      ':80',
      ' ',
      '\t',
      '\n',
      '\0',
      'é',
      '%00',
      ';',
      '&',
      '*',
      'HTTPS',
    ),
    fc.string({ maxLength: 3 }),
  ),
})
const edited = (
  text: string,
  { at, remove, insert }: { at: number; remove: number; insert: string },
) => {
  const place = at % (text.length + 1)
  return `${text.slice(0, place)}${insert}${text.slice(place + remove)}`
}

/** Returns the scheme, the host and the part after the port of a literal http loopback URL. */
const loopback = (text: string) =>
  /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/i.exec(text)

describe('the match of redirect URIs', () => {
  test('compares strings for a confidential client', () =>
    check(
      fc.property(
        fc.array(registrable, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        edit,
        (uris, which, change) => {
          const known = uris[which % uris.length] ?? ''
          const rules = { anyLoopbackPort: false }
          for (const one of uris) expect(matchRedirectUri(uris, one, rules)).toBe(one)
          const other = edited(known, change)
          const isRegistered = uris.includes(other)
          expect(matchRedirectUri(uris, other, rules)).toBe(isRegistered ? other : undefined)
        },
      ),
      { runs: 2_000 },
    ))

  test('distinguishes URIs that a URL parser normalizes: case, dots, default port, escapes', () =>
    check(
      fc.property(registrable, fc.boolean(), (known, anyLoopbackPort) => {
        const { href, host: name } = new URL(known)
        const same = [
          href,
          known.replace(name, name.toUpperCase()),
          known.replace('https://', 'HTTPS://'),
          `${known}#`,
          `${known} `,
          ` ${known}`,
          known.replace(/^(https:\/\/[^/?]+)/, '$1:443'),
          known.replace('/cb', '/x/../cb'),
          known.replace('/cb', '/./cb'),
          known.replace('/cb', '/%63b'),
        ].filter((other) => other !== known && !loopback(other))
        for (const other of same)
          expect(matchRedirectUri([known], other, { anyLoopbackPort }), other).toBeUndefined()
      }),
    ))

  test('RFC 8252 §7.3 allows a public client only a different port on a literal loopback address', () =>
    check(
      fc.property(
        registrable,
        fc.oneof(edit, fc.integer({ min: 0, max: 99_999 })),
        (known, change) => {
          const other =
            typeof change === 'number'
              ? known.replace(/^(\w+:\/\/(?:\[[^\]]*\]|[^:/?]+))(?::\d+)?/, `$1:${change}`)
              : edited(known, change)
          const [one, two] = [loopback(known), loopback(other)]
          const isPort = two?.[2] === undefined || (Number(two[2]) >= 1 && Number(two[2]) <= 65_535)
          const isFree =
            one !== null && two !== null && isPort && one[1] === two[1] && one[3] === two[3]
          const matched = matchRedirectUri([known], other, { anyLoopbackPort: true })
          expect(matched).toBe(other === known || isFree ? known : undefined)
          // Every match leads to the same machine in a browser.
          if (matched !== undefined) {
            expect(new URL(other).hostname).toBe(new URL(known).hostname)
            expect(new URL(other).pathname).toBe(new URL(known).pathname)
          }
        },
      ),
      { runs: 2_000 },
    ))

  test('a registered URI leads to its visible host, without credentials or a fragment', () =>
    check(
      fc.property(
        fc.oneof(
          uri,
          fc.tuple(uri, edit).map(([one, change]) => edited(one, change)),
        ),
        (text) => {
          if (redirectUriProblem(text, { privateUse: false }) !== undefined) return
          const { protocol, hostname, username, password, hash } = new URL(text)
          expect([username, password, hash]).toEqual(['', '', ''])
          const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
          expect(protocol === 'https:' || (protocol === 'http:' && isLocal)).toBe(true)
          expect(text).not.toMatch(/[^\x21-\x7E]/)
        },
      ),
      { runs: 2_000 },
    ))
})

describe('RFC 6749 §4.1.2 the response at a redirect URI', () => {
  const values = fc.dictionary(
    fc.constantFrom('code', 'state', 'iss', 'error'),
    fc.string({ unit: 'binary' }),
  )

  test('is the registered text with appended parameters, which a client decodes unchanged', () =>
    check(
      fc.property(registrable, values, (known, given) => {
        const query = withQuery(known, given)
        expect(query.startsWith(known)).toBe(true)
        const read = new URL(query).searchParams
        for (const [name, value] of Object.entries(given))
          expect(read.getAll(name)).toEqual([value.toWellFormed()])
        const { host: at, pathname } = new URL(known)
        expect([new URL(query).host, new URL(query).pathname]).toEqual([at, pathname])
        const fragment = withFragment(known, given)
        const inFragment = new URLSearchParams(new URL(fragment).hash.slice(1))
        for (const [name, value] of Object.entries(given))
          expect(inFragment.getAll(name)).toEqual([value.toWellFormed()])
      }),
    ))
})

const nextOf = (path: readonly string[], of: { basePath: string; issuer: string }): string =>
  destinationOf({ path }, of as Parameters<typeof destinationOf>[1])

describe('the redirect after the login', () => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '//',
    '..',
    '.',
    '%2f',
    '%5c',
    '@',
    ':',
    '?',
    '#',
    'evil.example',
    'api.example',
    'localhost:3000',
    'http:',
    'https://',
    'javascript:',
    '\t',
    '\n',
    '\r',
    ' ',
    '\0',
    'é',
    '／',
    'a',
    ';',
  )
  /** Texts that look like a path but contain a host. */
  const elsewhere = fc.tuple(
    fc.constantFrom('//', '/\\', '///', '\\\\', '/\t/', '/%2f'),
    fc.constantFrom('api.example', 'localhost:3000', 'evil.example'),
    fc.constantFrom('', '/', '/x?y'),
  )
  const target = fc.oneof(
    elsewhere.map((parts) => parts.join('')),
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`),
    someUrl,
    fc.string({ unit: 'binary' }),
  )
  const issuer = fc.constantFrom(
    'https://api.example',
    'http://localhost:3000',
    'https://api.example/auth',
  )

  test('is always on this origin when a browser resolves it from any page', () =>
    check(
      fc.property(fc.array(target, { maxLength: 2 }), issuer, (given, of) => {
        const { origin, pathname } = new URL(of)
        const basePath = pathname.replace(/\/$/, '')
        const next = nextOf(given, { basePath, issuer: of })
        for (const page of ['/', '/login', '/a/b/'])
          expect(new URL(next, `${origin}${page}`).origin).toBe(origin)
        expect(next).toMatch(/^\/(?!\/)[\x21-\x5B\x5D-\x7E]*$/)
        if (given.length !== 1) expect(next).toBe(`${basePath}/`)
        // The redirect is the start page or the requested path.
        if (next !== `${basePath}/`) expect(next).toBe(given[0])
      }),
      { runs: 3_000 },
    ))

  test('is the requested path if it has only plain characters', () =>
    check(
      fc.property(fc.stringMatching(/^\/[A-Za-z0-9][A-Za-z0-9/?=&%_-]{0,40}$/), (next) => {
        expect(nextOf([next], { basePath: '', issuer: 'https://api.example' })).toBe(next)
      }),
    ))
})
