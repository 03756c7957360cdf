import { describe, expect, test } from 'vitest'
import {
  matchRedirectUri,
  redirectUriProblem,
  splitRedirectUris,
  withFragment,
  withQuery,
} from '../../src/model/redirect-uri.ts'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'

const strict = { privateUse: false }
const native = { privateUse: true }

describe('registration of redirect URIs', () => {
  test.each(forbiddenRedirectUris)('AZ-09 rejects %j [T495]', (uri) => {
    expect(redirectUriProblem(uri, strict)).toMatchObject({
      problem: expect.stringMatching(/^redirectUri/),
      sentence: expect.stringMatching(/^It .*\.$|^A private-use .*\.$/),
    })
  })

  test.each([
    'https://client.example/cb',
    'https://client.example',
    'https://client.example?x=1',
    'https://client.example/cb?x=1&y=%20',
    'https://client.example/cb?x=code&codes=1&my_code=1&%2563ode=1',
    'https://client.example:8443/cb',
    'https://CLIENT.example/cb',
    'https://xn--bcher-kva.example/cb',
    'https://localhost/cb',
    'https://192.0.2.1/cb',
    'https://[2001:db8::1]/cb',
    'https://[2001:db8::1]:8443/cb',
    'http://localhost/cb',
    'http://localhost:3000/cb',
    'http://localhost',
    'http://127.0.0.1:1/cb?x',
    'http://[::1]/cb',
    'http://[::1]:65535/cb',
  ])('accepts the https or loopback URL %s [T030]', (uri) => {
    expect(redirectUriProblem(uri, strict)).toBeUndefined()
  })

  test.each([
    [`https://client.example/${'x'.repeat(2_000)}`, 'redirectUriTooLong'],
    ['https://client.example/cb#f', 'redirectUriFragment'],
    ['https://client.example/cb?code=1', 'redirectUriResponseParameter'],
    ['https://client.example/cb?x=1&state=', 'redirectUriResponseParameter'],
    ['https://client.example/cb?%63ode=', 'redirectUriResponseParameter'],
    ['https://client.example/cb?code', 'redirectUriResponseParameter'],
    ['https://client.example/cb?x=1&code', 'redirectUriResponseParameter'],
    ['https://client.example/cb?is%73=https://evil.example', 'redirectUriResponseParameter'],
    ['https://client.example/cb?x&%73%74%61%74%65=1', 'redirectUriResponseParameter'],
    ['https://client.example/cb?CODE=1', 'redirectUriResponseParameter'],
    ['https://client.example/cb?x;state=1', 'redirectUriResponseParameter'],
    ['https://client.example/cb?+code=1', 'redirectUriResponseParameter'],
    ['https://client.example/cb?%20access%5Ftoken=1', 'redirectUriResponseParameter'],
    ['https://client.example/c b', 'redirectUriCharacter'],
    ['https://bücher.example/cb', 'redirectUriCharacter'],
    ['com.example.app:/cb', 'redirectUriPrivateUse'],
    ['cb', 'redirectUriInvalid'],
    ['https://client.example:99999/cb', 'redirectUriInvalid'],
    ['http://client.example/cb', 'redirectUriNotHttps'],
    ['javascript:alert(1)', 'redirectUriNotHttps'],
  ])('rejects %s with the reason: %s [T028]', (uri, problem) => {
    const found = redirectUriProblem(uri, strict)
    expect(found?.problem).toBe(problem)
    expect(found?.value).toBe(problem === 'redirectUriTooLong' ? 2_000 : undefined)
  })

  test('RFC 8252 §7.1 accepts a private-use scheme only with the option and with a dot [T280]', () => {
    expect(redirectUriProblem('com.example.app:/cb', native)).toBeUndefined()
    for (const uri of [
      'myapp:/cb',
      'javascript:/x',
      'com.example.app:cb',
      'com.example.app://evil',
    ]) {
      expect(redirectUriProblem(uri, native), uri).toBeDefined()
    }
    for (const uri of forbiddenRedirectUris.filter((uri) => uri !== 'com.example.app:/cb')) {
      expect(redirectUriProblem(uri, native), uri).toBeDefined()
    }
  })
})

test('splits a text on newlines, trims each entry, and omits empty lines', () => {
  expect(splitRedirectUris(' https://a/cb \r\n\n\thttps://b/cb\t\n')).toEqual([
    'https://a/cb',
    'https://b/cb',
  ])
  expect(splitRedirectUris([' https://a/cb ', ''])).toEqual(['https://a/cb'])
  expect(splitRedirectUris('')).toEqual([])
})

describe('matching', () => {
  const registered = ['https://client.example/cb', 'http://127.0.0.1/cb', 'http://[::1]/cb']
  const match = (uri: string, anyLoopbackPort = false) =>
    matchRedirectUri(registered, uri, { anyLoopbackPort })

  test('AZ-04 RFC 9700 §2.1 compares the strings exactly [T036]', () => {
    for (const uri of registered) expect(match(uri)).toBe(uri)
    for (const uri of [
      'https://client.example/cb/',
      'https://client.example/CB',
      'https://client.example/cb?x=1',
      'https://client.example/cb?',
      'https://client.example/cb#',
      'http://client.example/cb',
      'https://client.example:443/cb',
      'https://CLIENT.example/cb',
      'https://client.example/cb/../x',
      'https://client.example/cb/%2e%2e/x',
      'https://client.example/cb..;/x',
      'https://client.example/cb%20',
      ' https://client.example/cb',
      'http://127.0.0.1:80/cb',
    ]) {
      expect(match(uri), uri).toBeUndefined()
      if (!uri.includes(':80')) expect(match(uri, true), uri).toBeUndefined()
    }
  })

  test('AZ-07 RFC 8252 §7.3 ignores only the port of a public client’s loopback URI', () => {
    expect(match('http://127.0.0.1:1/cb', true)).toBe('http://127.0.0.1/cb')
    expect(match('http://127.0.0.1:65535/cb', true)).toBe('http://127.0.0.1/cb')
    expect(match('http://[::1]:9/cb', true)).toBe('http://[::1]/cb')
    for (const uri of [
      'http://127.0.0.1:0/cb',
      'http://127.0.0.1:65536/cb',
      'http://127.0.0.1:9/other',
      'http://127.0.0.1:9/cb?x=1',
      'https://127.0.0.1:9/cb',
      'http://localhost:9/cb',
      'http://127.0.0.1:9',
      'http://127.0.0.1:9@evil.example/cb',
      'https://client.example:9/cb',
    ]) {
      expect(match(uri, true), uri).toBeUndefined()
    }
  })
})

describe('appending parameters', () => {
  test('RFC 6749 §4.1.2 appends the parameters to the unchanged registered URI', () => {
    const more = { code: 'a b&c', state: undefined }
    expect(withQuery('https://h/cb', more)).toBe('https://h/cb?code=a%20b%26c')
    expect(withQuery('https://h/cb?', more)).toBe('https://h/cb?code=a%20b%26c')
    expect(withQuery('https://h/cb?x=%7e', more)).toBe('https://h/cb?x=%7e&code=a%20b%26c')
    expect(withQuery('https://h/cb?x=1&', more)).toBe('https://h/cb?x=1&code=a%20b%26c')
    expect(withQuery('https://h/cb', { state: undefined })).toBe('https://h/cb')
    expect(withFragment('https://h/cb?x=1', more)).toBe('https://h/cb?x=1#code=a%20b%26c')
  })

  test('AZ-15 encodes line breaks and lone surrogates, so that they cannot enter a header', () => {
    const address = withQuery('https://h/cb', { state: 'a\r\nSet-Cookie: x\ud800' })
    expect(address).toBe('https://h/cb?state=a%0D%0ASet-Cookie%3A%20x%EF%BF%BD')
  })
})

test('duplicate redirect URIs are stored once [T4110]', () => {
  const uris = ['https://a.example/cb', 'https://b.example/cb'] as const
  const given = [...uris, ` ${uris[0]} `, uris[0]]
  expect(splitRedirectUris(given)).toEqual(uris)
  expect(splitRedirectUris(given.join('\n'))).toEqual(uris)
})
