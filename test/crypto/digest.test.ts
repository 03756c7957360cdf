import { expect, test } from 'vitest'
import { constantTimeEqual, digestOf, type SecretKind, sha256 } from '../../src/crypto/digest.ts'

test('includes the type of a secret in the digest, so that a code is never accepted as a token', () => {
  const kinds: readonly SecretKind[] = [
    'access_token',
    'refresh_token',
    'client_secret',
    'authorization_code',
    'authorization_request',
    'session',
    'settings_notice',
    'settings_form',
  ]
  const digests = kinds.map((kind) => digestOf(kind, 'value'))
  expect(new Set(digests).size).toBe(kinds.length)
  for (const digest of digests) expect(digest).toMatch(/^[A-Za-z0-9_-]{43}$/)
})

test('RFC 7636 appendix B computes the code challenge of the example', () => {
  expect(sha256('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  )
})

test('compares texts byte by byte', () => {
  expect(constantTimeEqual('', '')).toBe(true)
  expect(constantTimeEqual('Größe', 'Größe')).toBe(true)
  for (const [a, b] of [
    ['a', 'b'],
    ['a', 'aa'],
    ['', 'a'],
    ['é', 'e\u0301'],
    ['é', 'ee'],
  ] as const)
    expect(constantTimeEqual(a, b)).toBe(false)
})
