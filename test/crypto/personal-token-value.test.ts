import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { checksumLength } from '../../src/crypto/checksum.ts'
import { hasBadChecksum, newPersonalTokenValue } from '../../src/crypto/personal-token-value.ts'
import { systemRandom } from '../../src/crypto/random.ts'

const value = (prefix: string, length = 60) => newPersonalTokenValue(prefix, length, systemRandom)

describe('the value of a personal token', () => {
  test('has the specified length and no checksum without a prefix', () => {
    for (const length of [22, 60, 255]) {
      const made = value('', length)
      expect(made).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`))
      expect(hasBadChecksum('', made)).toBe(false)
      expect(hasBadChecksum('', made.slice(1))).toBe(false)
    }
  })

  test('consists of the prefix, random characters and a checksum of six characters', () => {
    expect(checksumLength).toBe(6)
    for (let round = 0; round < 200; round += 1) {
      const made = value('notes_', 22)
      expect(made).toMatch(/^notes_[A-Za-z0-9]{28}$/)
      expect(hasBadChecksum('notes_', made)).toBe(false)
    }
  })

  test('has the CRC-32 of the preceding text in base 62 as its checksum', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const numberOf = (text: string): number =>
      [...text].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    for (let round = 0; round < 50; round += 1) {
      const made = value('notes_')
      expect(numberOf(made.slice(-6))).toBe(crc32(made.slice(0, -6)))
    }
  })

  test('computes the same checksum for a known token as earlier versions', () => {
    const made = newPersonalTokenValue('notes_', 22, (bytes) => new Uint8Array(bytes))
    expect(made).toBe(`notes_${'A'.repeat(22)}1wYS4U`)
    expect(hasBadChecksum('notes_', made)).toBe(false)
  })

  test('detects a wrong, missing or doubled character, and a character in the wrong case', () => {
    const made = value('notes_')
    for (let at = 'notes_'.length; at < made.length; at += 1) {
      const [before, character = '', after] = [made.slice(0, at), made[at], made.slice(at + 1)]
      const wrong = ['0', 'x', character.toLowerCase(), character.toUpperCase(), '.', 'é', '']
      for (const other of wrong.filter((other) => other !== character))
        expect(hasBadChecksum('notes_', `${before}${other}${after}`), `${at} ${other}`).toBe(true)
      expect(hasBadChecksum('notes_', `${before}${character}${made.slice(at)}`)).toBe(true)
    }
    expect(hasBadChecksum('notes_', `${made} `)).toBe(true)
    for (let length = 'notes_'.length; length < made.length; length += 1)
      expect(hasBadChecksum('notes_', made.slice(0, length)), `${length}`).toBe(true)
  })

  test('detects two swapped adjacent characters', () => {
    const made = value('notes_')
    for (let at = 6; at + 1 < made.length; at += 1) {
      const [one, two] = [made[at], made[at + 1]]
      if (one === two) continue
      const swapped = `${made.slice(0, at)}${two}${one}${made.slice(at + 2)}`
      expect(hasBadChecksum('notes_', swapped), `${at}`).toBe(true)
    }
  })

  test('accepts any value without the prefix', () => {
    for (const other of [
      '',
      'x',
      'note',
      'Notes_x',
      ' notes_x',
      value(''),
      value('other_'),
      'a.b.c',
    ])
      expect(hasBadChecksum('notes_', other), other).toBe(false)
  })
})
