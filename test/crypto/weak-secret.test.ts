import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { weaknessOf } from '../../src/crypto/weak-secret.ts'

describe('weaknessOf', () => {
  test.each([
    ['zeros', '0'.repeat(64)],
    ['NUL characters', '\0'.repeat(32)],
    ['one repeated character of two bytes', 'ä'.repeat(32)],
    ['seven different characters', 'abcdefgabcdgfeabcgfedbagfcdebafgcd'],
    ['a repeated word', 'password'.repeat(5)],
    ['a repeated word with a separator', 'correcthorse-'.repeat(4)],
    ['a word with padding', `mysecretkey${'!'.repeat(40)}`],
    ['a repeated phrase with a truncated end', 'N3v3r-G1ve-Up!N3v3r-G1ve-Up!N3v3r'],
    ['the hexadecimal digits', '0123456789abcdef'.repeat(4)],
    ['the alphabet and digits', 'abcdefghijklmnopqrstuvwxyz0123456789'],
    ['the reversed alphabet', 'zyxwvutsrqponmlkjihgfedcba9876543210'],
    ['the bytes from 0 in base64', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='],
    ['the hexadecimal digits in base64', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
    ['zeros in base64', `${'A'.repeat(43)}=`],
    ['ascending bytes in hexadecimal notation', '00112233445566778899aabbccddeeff'],
    ['descending bytes in hexadecimal notation', '0f0e0d0c0b0a09080706050403020100'],
    ['a placeholder', 'please-change-this-to-a-long-random-value'],
    ['another placeholder', 'YOUR_SECRET_KEY_GOES_HERE_32_BYTES_MIN'],
  ])('returns a reason for %s [T835]', (_, secret) => {
    expect(weaknessOf(secret)).toMatch(/different characters|placeholder|repeats/)
  })

  test('accepts random keys in hexadecimal, base64 and base64url notation', () => {
    for (let tries = 0; tries < 300; tries += 1) {
      for (const notation of ['hex', 'base64', 'base64url'] as const)
        expect(weaknessOf(randomBytes(32).toString(notation))).toBeUndefined()
      // In hexadecimal notation, 128 bits are 32 characters.
      const short = randomBytes(16).toString('hex')
      expect(weaknessOf(short), short).toBeUndefined()
    }
    expect(weaknessOf('a secret key for tests, and for tests alone')).toBeUndefined()
  })
})
