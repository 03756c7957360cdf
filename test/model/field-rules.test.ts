import { InvalidField } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { validEmail } from '../../src/model/email-address.ts'
import {
  validDescription,
  validName,
  validPassword,
  validWebsite,
} from '../../src/model/field-rules.ts'
import { redirectUriProblem } from '../../src/model/redirect-uri.ts'

const refused = (check: () => unknown, field: string) => {
  expect(check).toThrow(InvalidField)
  expect(check).toThrow(expect.objectContaining({ field }))
}

describe('name', () => {
  test('accepts at most 40 characters, counted as code points [T770]', () => {
    expect(validName('x'.repeat(40))).toBe('x'.repeat(40))
    expect(validName('😀'.repeat(40))).toBe('😀'.repeat(40))
    refused(() => validName('x'.repeat(41)), 'name')
    refused(() => validName('😀'.repeat(41)), 'name')
  })

  test('normalizes a name to NFC and trims it before the length check', () => {
    expect(validName('  e\u0301  ')).toBe('é')
    expect(validName(`  ${'e\u0301'.repeat(40)}  `)).toBe('é'.repeat(40))
  })

  test.each([
    '',
    ' ',
    '\t\n',
    '\u00a0',
    '\u200b',
    '\u200d\ufeff',
    '\u3164',
    '\u2800',
    '\ufe0f',
    '\u034f',
    '\u180e\u2060',
  ])('rejects the empty or invisible name %j', (name) => refused(() => validName(name), 'name'))

  test.each([
    'a\u0000b',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    'a\u202eb',
    'a\u2066b',
    'a\u200fb',
    'a\u061cb',
    'a\ud800b',
    'a\ue000b',
    'a\uffffb',
  ])('rejects the name %j with a control or unassigned character', (name) =>
    refused(() => validName(name), 'name'),
  )

  test('accepts other writing systems and joined emoji', () => {
    for (const name of ['名前', 'שלום', 'नोट्स', '👩‍💻', 'Größe "x" <b>'])
      expect(validName(name)).toBe(name)
    for (const name of ['می\u200Cخواهم', 'क्\u200Dष', '1\uFE0F\u20E3', '❤\uFE0F', '👩🏽\u200D💻'])
      expect(validName(name)).toBe(name)
  })

  test.each(['Pay\u200Dpal', 'Pay\u200Cpal', 'Paypal\uFE0F', '\u200DPaypal', 'Яндекс\u200C'])(
    'refuses %j, because it looks like the name without the invisible joiner [T3818]',
    (name) => refused(() => validName(name), 'name'),
  )
})

describe('description', () => {
  test('accepts an empty or multi-line description, and trims it [T669]', () => {
    expect(validDescription('')).toBe('')
    expect(validDescription(' a\r\nb\tc ')).toBe('a\nb\tc')
    expect(validDescription('x'.repeat(4000))).toHaveLength(4000)
  })

  test('rejects deceptive characters and more than 4000 characters', () => {
    refused(() => validDescription('a\u202eb'), 'description')
    refused(() => validDescription('a\u0000b'), 'description')
    refused(() => validDescription('x'.repeat(4001)), 'description')
  })
})

describe('website', () => {
  test.each([
    '',
    'https://example.org',
    'https://example.org/a?b=c#d',
    'http://localhost:3000/',
    'https://bücher.example/ü',
  ])('accepts the website %j [T670]', (website) => expect(validWebsite(website)).toBe(website))

  test.each([
    'javascript:alert(1)',
    'http://example.org',
    'ftp://example.org',
    'example.org',
    '//example.org',
    'https://',
    'https://user@example.org',
    'https://example.org/"><script>',
    'https://example.org/a b',
    'https://example.org/\u202egpj.exe',
    'https://example.org/\u200f',
    'https://example.org/\ud800',
    'https://example.org/\u0000',
    `https://example.org/${'x'.repeat(2000)}`,
  ])('rejects the website %j', (website) => refused(() => validWebsite(website), 'website'))
})

describe('user fields', () => {
  test('stores an e-mail address in lower case', () => {
    expect(validEmail(' User@Example.ORG ')).toBe('user@example.org')
    for (const email of [
      '',
      'x',
      'a@',
      '@b',
      'a@b@c',
      'a b@c',
      'a\n@b',
      'a\u202e@b',
      `${'x'.repeat(251)}@b.c`,
    ])
      refused(() => validEmail(email), 'email')
  })

  test('accepts passwords from 8 characters to 1024 bytes', () => {
    expect(validPassword('12345678')).toBe('12345678')
    expect(validPassword('x'.repeat(1024))).toHaveLength(1024)
    refused(() => validPassword('1234567'), 'password')
    refused(() => validPassword('😀'.repeat(7)), 'password')
    refused(() => validPassword('ä'.repeat(513)), 'password')
  })
})

test('DS-02 validates hostile text quickly with every rule', () => {
  const hostile = [
    `${'a'.repeat(100_000)}!`,
    `a${'.a'.repeat(50_000)}!`,
    `https://${'a.'.repeat(50_000)}!`,
    `a@${'a.'.repeat(50_000)}`,
    ' '.repeat(100_000),
    '\u200b'.repeat(65_536),
    `a${'\u0301\u0323'.repeat(16_000)}`,
  ]
  for (const rule of [
    validName,
    validDescription,
    validWebsite,
    validEmail,
    validPassword,
    (text: string) => redirectUriProblem(text, { privateUse: true }),
  ]) {
    for (const text of hostile) {
      const before = process.cpuUsage()
      try {
        rule(text)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidField)
      }
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1000, `${rule.name} ${text.slice(0, 10)}`).toBeLessThan(200)
    }
  }
})
