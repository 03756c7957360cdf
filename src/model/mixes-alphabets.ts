import { likeLatin } from './like-latin.ts'

const latin = /\p{Script=Latin}/u
// Alphabets with letters that look like Latin letters.
const similarToLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u

// Mathematical, circled and full-width letters, which look like Latin letters.
const disguised = /[\u2100-\u214F\u2460-\u24FF\uFF21-\uFF5A\u{1D400}-\u{1D7FF}\u{1F110}-\u{1F189}]/u

const letter = /\p{L}/u
const turkish = /[\u011E\u011F\u0130\u015E\u015F\xC7\xE7\xD6\xF6\xDC\xFC]/u

// A word of Cyrillic letters of which one does not look like a Latin letter is readable as Cyrillic.
const looksLatin = (text: string): boolean => {
  let hasAlike = false
  for (const character of text) {
    if (likeLatin.has(character)) hasAlike = true
    else if (letter.test(character) && !latin.test(character)) return false
  }
  return hasAlike
}

// The Turkish i without a dot looks like an i. Names that contain another Turkish letter are readable as Turkish.
const hasForeignI = (text: string): boolean => text.includes('\u0131') && !turkish.test(text)

/**
 * Returns whether a text looks like another text in Latin letters: it mixes Latin letters with letters of a similar
 * alphabet, consists of letters that look like Latin letters (UTS 39), or contains mathematical, circled or full-width
 * letters. An example is `pаypal` with a Cyrillic `а`.
 */
export const mixesAlphabets = (text: string): boolean =>
  (latin.test(text) && similarToLatin.test(text)) ||
  disguised.test(text) ||
  hasForeignI(text) ||
  looksLatin(text)
