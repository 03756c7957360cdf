import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  argumentsOf,
  grammarOf,
  type Text,
  textOf,
} from '../../src/pages/messages/message-format.ts'

const text = (pattern: string, value: unknown, language = 'en'): string => {
  const read = textOf(pattern, argumentsOf(pattern), grammarOf(language))
  return typeof read === 'string' ? read : read(value as never)
}

describe('a pattern of ICU MessageFormat', () => {
  test.each<[pattern: string, value: unknown, result: string]>([
    ['Log in', undefined, 'Log in'],
    ['', undefined, ''],
    ['Allow {client}?', 'Notes', 'Allow Notes?'],
    ['{client}', '{client} $& #', '{client} $& #'],
    ['{ limit } or {limit}', 2000, '2000 or 2000'],
    ['{found} of {all}', { found: 3, all: '1,000' }, '3 of 1,000'],
    ['The part after #', undefined, 'The part after #'],
    ["Don't, it's", undefined, "Don't, it's"],
    ["O''Neill", undefined, "O'Neill"],
    ["Write '{name}' or '{''}'!", undefined, "Write {name} or {'}!"],
    ["Write '{", undefined, 'Write {'],
    ['{count, plural, one {# user} other {# users}}', 1, '1 user'],
    ['{count, plural, one {# user} other {# users}}', 1234, '1,234 users'],
    ['{count,plural,=0{nobody}one{# user}other{# users}}', 0, 'nobody'],
    ['All {count, plural, other {# of {count}}} here', 2000, 'All 2,000 of 2000 here'],
    ['{count, plural, one {a} other {b}}', 'many', 'b'],
    ['{count, plural, other {# users}}', 'many', 'many users'],
  ])('%s with %j is "%s" [T4821]', (pattern, value, result) => {
    expect(text(pattern, value)).toBe(result)
  })

  test('selects the plural form and the number format of the language [T4822]', () => {
    const files = '{count, plural, one {# plik} few {# pliki} many {# plików} other {# pliku}}'
    expect([1, 2, 5, 22, 1.5, 12_345].map((count) => text(files, count, 'pl'))).toEqual([
      '1 plik',
      '2 pliki',
      '5 plików',
      '22 pliki',
      '1,5 pliku',
      `${(12_345).toLocaleString('pl')} plików`,
    ])
    // A language without rules has those of English.
    expect(text('{count, plural, one {# day} other {# days}}', 1, 'tlh')).toBe('1 day')
  })

  test.each([
    '{',
    '}',
    'a } b',
    'a {name b',
    '{}',
    '{ }',
    '{a b}',
    '{a.b}',
    '{{name}}',
    '{count, plural}',
    '{count, plural, }',
    '{count, plural, one {a}}',
    '{count, plural, other}',
    '{count, plural, other {a} other {b}}',
    '{count, plural, several {a} other {b}}',
    '{count, plural, =x {a} other {b}}',
    '{count, plural, offset:1 other {b}}',
    '{count, plural, other {a}',
    '{count, selectordinal, other {a}}',
    '{name, select, other {a}}',
    '{count, number}',
    '{at, date, short}',
  ])('is refused if it is %s [T4823]', (pattern) => {
    expect(() => argumentsOf(pattern)).toThrow(/^\w.*\w$|…\}$/)
  })

  test('lists each argument once, also those in plural forms', () => {
    expect(argumentsOf('{b} {a} {count, plural, one {{a} {c}} other {#}} {b}')).toEqual([
      'b',
      'a',
      'count',
      'c',
    ])
    expect(argumentsOf('{__proto__} {constructor}')).toEqual(['__proto__', 'constructor'])
  })

  test('determines the type of its text', () => {
    expectTypeOf<Text<'Log in'>>().toEqualTypeOf<string>()
    expectTypeOf<Text<'Allow {client}?'>>().toEqualTypeOf<(value: string | number) => string>()
    expectTypeOf<Text<'{count, plural, one {# a} other {# b}}'>>().toEqualTypeOf<
      (value: number) => string
    >()
    type Found = Parameters<Text<'{count, plural, one {# a} other {# b}} of {all}'>>[0]
    expectTypeOf<Found>().toMatchTypeOf<{ count: number; all: string | number }>()
  })
})
