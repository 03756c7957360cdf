import { describe, expect, test } from 'vitest'
import { mixesAlphabets } from '../../src/model/mixes-alphabets.ts'

describe('mixesAlphabets', () => {
  test.each([
    'pаypal', // Cyrillic а
    'Gοοgle', // Greek ο
    'Apple Заметки', // a Latin and a Cyrillic word
    'Տest', // Armenian
    'Ꭺpple', // Cherokee
    'ⲟffice', // Coptic
    'ｐaypal', // full-width Latin p
    'аррӏе', // Cyrillic letters only, all of which look like Latin letters
    'ɑpple', // a Latin alpha
    'Ꮪkype', // Cherokee
    'ꓮpple', // Lisu
    'lınkedin', // a dotless i
  ])('returns true for the mixed name %s', (name) => {
    expect(mixesAlphabets(name)).toBe(true)
  })

  test.each([
    '',
    'Paypal',
    'Müller & Søn',
    'Яндекс',
    'Ελληνικά',
    'Հայերեն',
    '日本語 Notes',
    'ノート app',
    'メモ 2000',
    'مذكرات Notes',
    '메모 Notes',
    'Заметки 2.0 😀',
    '10 µm',
    'Işık',
    'Ada’s Notes – œuvre',
    'नोट्स',
    'שלום',
  ])('returns false for %s', (name) => {
    expect(mixesAlphabets(name)).toBe(false)
  })
})
