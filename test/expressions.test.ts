import { expect, test } from 'vitest'
import { expressionsIn, problemOf } from '../scripts/expressions.js'

// `npm run check` runs scripts/expressions.js on the sources. These tests show which expressions it refuses.

const polynomial = [
  ' *; *',
  String.raw`\s+$`,
  '^[._-]+|[._-]+$',
  '(?:ab)*(?:ab)*c',
  '^(bearer|dpop) +(.+)$',
  String.raw`"(?:[^"\\]|\\.)*"`,
  '<form[^>]*method="post"',
]
const exponential = ['^(a+)+$', String.raw`^(?:\w|\d)+$`, '^(?:a|aa)+$', '^([^:]+:?)+=$']

test.each(polynomial)(
  'refuses /%s/, whose time grows with a power of the length [T3300]',
  async (pattern) => {
    expect(await problemOf(pattern, '')).toContain('polynomial')
  },
)

test.each(exponential)('refuses /%s/, whose time grows exponentially [T3301]', async (pattern) => {
  expect(await problemOf(pattern, '')).toContain('exponential')
})

test('refuses an expression that the checker cannot decide [T3302]', async () => {
  expect(await problemOf('^(?!.*int).*char$', '')).toContain('not decided')
  expect(await problemOf(String.raw`(a*)\1b`, '')).toContain('not decided')
})

test('ignores case as the expression does [T3303]', async () => {
  expect(await problemOf('^(?:a|A)+$', '')).toBeUndefined()
  expect(await problemOf('^(?:a|A)+$', 'i')).toContain('exponential')
})

test('accepts expressions whose time is proportional to the length, also with large bounds [T3304]', async () => {
  for (const pattern of [
    '^[A-Za-z0-9_-]{22,8192}$',
    String.raw`^[^\s@]+@[^\s@]+$`,
    '#.*',
    String.raw`"(?:[^"\\]|\\.)*"?(\s*:)?|[{}[\]]`,
  ])
    expect(await problemOf(pattern, 's')).toBeUndefined()
})

test('finds every literal in TypeScript, and every expression that is created from a text [T3305]', () => {
  const source = [
    'const a: RegExp = /a+/g',
    'export const b = (text: string) => text.split(/ *; */)',
    'const c = 4 / 2 / 1 // no expression: /x/',
    'class D { readonly e = /[/]"/u }',
    'const f = new RegExp(a)',
    "const g = RegExp('x')",
  ].join('\n')
  expect(expressionsIn('a.ts', source)).toEqual({
    literals: [
      { pattern: 'a+', flags: 'g', line: 1 },
      { pattern: ' *; *', flags: '', line: 2 },
      { pattern: '[/]"', flags: 'u', line: 4 },
    ],
    dynamic: [5, 6],
  })
})
