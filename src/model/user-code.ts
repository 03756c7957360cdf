/** Only consonants, so that codes contain no words. Without digits, users cannot confuse B and 8. RFC 8628 §6.1. */
export const userCodeAlphabet = 'BCDFGHJKLMNPQRSTVWXZ'

/** The length of a user code. There are about 2^34.5 codes. */
export const userCodeLength = 8

/** The maximum length of the input, in characters. */
const maxTypedLength = 64

/**
 * Extracts a user code from the input of a user. Ignores the case, and characters outside of the alphabet. Returns
 * undefined if the input contains no code. RFC 8628 §6.1.
 */
export const userCodeIn = (typed: string): string | undefined => {
  if (typed.length > maxTypedLength) return undefined
  // Japanese keyboards may produce full-width letters.
  const letters = [...typed.normalize('NFKC').toUpperCase()]
  const code = letters.filter((letter) => userCodeAlphabet.includes(letter)).join('')
  return code.length === userCodeLength ? code : undefined
}

/** Formats a user code for display: `BCDF-GHJK`. */
export const shownUserCode = (userCode: string): string =>
  `${userCode.slice(0, userCodeLength / 2)}-${userCode.slice(userCodeLength / 2)}`
