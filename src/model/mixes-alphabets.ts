const latin = /\p{Script=Latin}/u
// Alphabets with letters that look like Latin ones.
const alike =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u

// Letters of formulas, in circles, or as wide as Chinese ones: Latin in disguise.
const disguised = /[\u2100-\u214F\u2460-\u24FF\uFF21-\uFF5A\u{1D400}-\u{1D7FF}\u{1F110}-\u{1F189}]/u

/** Whether a name has Latin letters beside those of an alphabet that has the same shapes: `pаypal` with a Cyrillic `а`, or letters in disguise. */
export const mixesAlphabets = (name: string): boolean =>
  (latin.test(name) && alike.test(name)) || disguised.test(name)
