import fc from 'fast-check'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { Value } from './shape.ts'

const fixed: readonly Value[] = [
  '',
  ' ',
  'null',
  'undefined',
  '[object Object]',
  '0',
  '-1',
  '1e309',
  'NaN',
  '99999999999999999999',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is sent unchanged
  '${7*7}',
  '{{7*7}}',
  '<%= 7*7 %>',
  '#{7*7}',
  '%s%s%n',
  `'; drop table oauth2server_token; --`,
  `" or 1=1 --`,
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '../../../../etc/passwd',
  '..\\..\\windows',
  'https://evil.example/',
  '//evil.example',
  'javascript:alert(1)',
  'https://client.example/cb#x',
  'https://client.example/cb/../x',
  'http://localhost:1/cb',
  'http://[::1]:99999/cb',
  'https://client.example:notaport/',
  'line\r\nSet-Cookie: x=y',
  'nul\u0000byte',
  'tab\there',
  '\u001b[31m',
  '\ufeffbom',
  '\u202egnirts',
  'a\u0301e\u0301',
  '\ud83d\ude00'.repeat(20),
  '\u0430dmin@example.org',
  'İıſK',
  'ﷺ'.repeat(50),
  { raw: '%' },
  { raw: '%f' },
  { raw: '%ff' },
  { raw: '%c0%af' },
  { raw: '%ed%a0%80' },
  { raw: '%f4%90%80%80' },
  { raw: '%00' },
  { raw: '%0d%0aX-Injected:%20yes' },
  { raw: '%zz' },
  { raw: '%u0041' },
  { raw: '+' },
  { raw: '\u00e9\u00ff' },
  { raw: '&&&' },
  { raw: '===' },
  { raw: ';a=b' },
  'x'.repeat(300),
  'x'.repeat(5_000),
  'é'.repeat(4_000),
  'a,'.repeat(500),
  'notes:read '.repeat(200),
  'notes:read notes:read',
  'test:scope',
  'urn:ietf:params:oauth:request_uri:x',
  '2147483648',
  '9007199254740993',
  '9223372036854775808',
  '1970-01-01',
  '275760-09-14',
  '+010000-01-01T00:00:00Z',
]

/** Values that often cause errors. Some are constant, and fast-check generates the others from the seed. */
export interface Nasty {
  value(random: SeededRandom): Value
  text(random: SeededRandom): string
  json(random: SeededRandom): unknown
}

const textOf = (value: Value): string => (typeof value === 'string' ? value : value.raw)

export const nastyValues = (seed: number): Nasty => {
  const found = (count: number) => ({ seed, numRuns: count })
  const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 40 }), found(300))
  const graphemes = fc.sample(fc.string({ unit: 'grapheme', maxLength: 30 }), found(100))
  const addresses = fc.sample(
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    found(100),
  )
  const values: readonly Value[] = [...fixed, ...fixed, ...texts, ...graphemes, ...addresses]
  const json = [
    ...fc.sample(fc.jsonValue({ maxDepth: 3 }), found(400)),
    null,
    true,
    0,
    -1,
    1e308,
    2 ** 53,
    [],
    [[]],
    {},
    { toString: 'x', valueOf: 1 },
    JSON.parse('{"__proto__":{"isAdmin":true}}'),
    { constructor: { prototype: { isAdmin: true } } },
    ['notes:read', null],
    [1, '2', {}],
  ]
  return {
    value: (random) => random.pick(values),
    text: (random) => textOf(random.pick(values)),
    // Return a copy, because mutations change the request that contains the value.
    json: (random) =>
      random.chance(50) ? textOf(random.pick(values)) : structuredClone(random.pick(json)),
  }
}
