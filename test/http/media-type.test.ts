import { describe, expect, test } from 'vitest'
import { isSameInUtf8, mediaTypeOf } from '../../src/http/media-type.ts'

const json = 'application/json'

describe('RFC 9110 §8.3.1 media types', () => {
  test.each([
    json,
    'APPLICATION/Json',
    `  ${json}\t`,
    `${json};`,
    `${json} ;; ; `,
    `${json}\t;\tcharset=utf-8`,
    `${json};charset=UTF-8;`,
    `${json}; charset="utf-8"`,
    `${json}; charset="u\\tf-8"`,
    `${json}; Charset=utf-8; charset=UTF-8`,
    `${json}; version=1; boundary="a; charset=utf-16"`,
  ])('accepts %j as JSON in UTF-8 [T3900]', (header) => {
    expect(mediaTypeOf(header)).toEqual({ type: json, charset: undefined })
  })

  test('returns another charset in lower case', () => {
    expect(mediaTypeOf(`${json}; charset=ISO-8859-1`)?.charset).toBe('iso-8859-1')
  })

  test.each([
    '',
    'json',
    'application/',
    '/json',
    `${json}, ${json}`,
    `${json} x`,
    `${json}; charset`,
    `${json}; charset=`,
    `${json}; charset =utf-8`,
    `${json}; charset= utf-8`,
    `${json}; charset="utf-8`,
    `${json}; charset="utf-8"x`,
    `${json}; charset=utf-8; charset=utf-16`,
    `${json}; charset=utf-8, text/plain`,
    `${json}\n`,
  ])('rejects %j [T3901]', (header) => expect(mediaTypeOf(header)).toBeUndefined())
})

describe('a body in another charset', () => {
  test.each(['iso-8859-1', 'us-ascii', 'windows-1252', 'latin1', 'shift_jis', 'utf8'])(
    'ASCII text is the same text in %s [T3902]',
    (charset) => expect(isSameInUtf8('{"a":"b"}', charset)).toBe(true),
  )

  test.each([
    ['{"a":"ü"}', 'iso-8859-1'],
    ['{"a":"b"}', 'utf-16'],
    ['{"a":"b"}', 'utf-16be'],
    ['{"a":"b"}', 'utf-7'],
    ['{"a":"b"}', ''],
    ['\u001b$B', 'iso-2022-jp'],
  ])('%j is another text in the charset %j [T3903]', (text, charset) =>
    expect(isSameInUtf8(text, charset)).toBe(false),
  )
})
