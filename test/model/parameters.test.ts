import { describe, expect, test } from 'vitest'
import { Parameters } from '../../src/model/parameters.ts'

const invalid = expect.objectContaining({ code: 'invalid_request' })

describe('Parameters', () => {
  test('RFC 6749 §3.1 treats an empty parameter as absent', () => {
    const params = new Parameters('a=&b&c=1')
    expect(params.optional('a')).toBeUndefined()
    expect(params.optional('b')).toBeUndefined()
    expect(params.required('c')).toBe('1')
    expect(() => params.required('a')).toThrow(invalid)
    expect(() => params.required('none')).toThrow(invalid)
  })

  test('RFC 6749 §3.1 rejects a repeated parameter, even if equal or empty', () => {
    const params = new Parameters('a=1&a=1&b=&b=&c=1')
    expect(() => params.optional('a')).toThrow(invalid)
    expect(() => params.opaque('b')).toThrow(invalid)
    expect(() => params.refuseRepeated(() => ['c', 'a'])).toThrow(invalid)
    expect(() => params.refuseRepeated(() => ['c', 'unknown'])).not.toThrow()
    expect(params.repeated('a')).toEqual(['1', '1'])
  })

  test('AZ-12 treats array-shaped names as other names', () => {
    const params = new Parameters('client_id[]=a&scope[x]=b&redirect_uri[0]=c&a.b=d')
    for (const name of ['client_id', 'scope', 'redirect_uri', 'a'])
      expect(params.optional(name)).toBeUndefined()
  })

  test('DS-06 treats names of Object.prototype as ordinary names', () => {
    const params = new Parameters('__proto__[scope]=w&constructor.prototype.x=1&__proto__=p')
    expect(params.optional('__proto__')).toBe('p')
    expect(params.optional('toString')).toBeUndefined()
    expect('scope' in {}).toBe(false)
  })

  test('HT-04 decodes + as a space and %2B as a plus; rejects control characters, except in opaque values', () => {
    const params = new Parameters('a=x+y%2Bz&b=%00&c=a%0d%0ab')
    expect(params.optional('a')).toBe('x y+z')
    expect(() => params.optional('b')).toThrow(invalid)
    expect(() => params.optional('c')).toThrow(invalid)
    expect(params.opaque('c')).toBe('a\r\nb')
  })

  test('accepts at most 100 parameters', () => {
    const many = (n: number) => Array.from({ length: n }, (_, index) => `p${index}=1`).join('&')
    expect(new Parameters(many(100)).required('p99')).toBe('1')
    expect(() => new Parameters(many(101))).toThrow(invalid)
    expect(() => new Parameters('a=1&'.repeat(101))).toThrow(invalid)
  })
})
