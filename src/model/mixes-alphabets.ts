const latin = /\p{Script=Latin}/u
// Alphabets with letters that look like Latin ones.
const similarToLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u

// Mathematical, circled and full-width letters, which look like Latin ones.
const disguised = /[\u2100-\u214F\u2460-\u24FF\uFF21-\uFF5A\u{1D400}-\u{1D7FF}\u{1F110}-\u{1F189}]/u

/**
 * Returns whether a name has Latin letters beside those of an alphabet that has the same shapes, such as `pаypal` with
 * a Cyrillic `а`, or has mathematical, circled or full-width letters.
 */
export const mixesAlphabets = (name: string): boolean =>
  (latin.test(name) && similarToLatin.test(name)) || disguised.test(name)
