const latin = /\p{Script=Latin}/u
// Alphabets with letters that look like Latin letters.
const similarToLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u

// Mathematical, circled and full-width letters, which look like Latin letters.
const disguised = /[\u2100-\u214F\u2460-\u24FF\uFF21-\uFF5A\u{1D400}-\u{1D7FF}\u{1F110}-\u{1F189}]/u

/**
 * Returns whether a name mixes Latin letters with letters of a similar alphabet, or contains mathematical, circled or
 * full-width letters. An example is `pаypal` with a Cyrillic `а`.
 */
export const mixesAlphabets = (name: string): boolean =>
  (latin.test(name) && similarToLatin.test(name)) || disguised.test(name)
