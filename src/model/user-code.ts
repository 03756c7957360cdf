/** Consonants only, so that codes form no words, and no letter looks like a digit. RFC 8628 §6.1. */
export const userCodeAlphabet = 'BCDFGHJKLMNPQRSTVWXZ'

/** The length of a user code. There are about 2^34.5 codes. */
export const userCodeLength = 8

const others = new RegExp(`[^${userCodeAlphabet}]`, 'g')
/** The maximum length of the input, in characters. */
const maxTypedLength = 64

/**
 * Extracts the user code from the input of a user, ignoring case and all other characters; undefined without a code.
 * RFC 8628 §6.1.
 */
export const userCodeIn = (typed: string): string | undefined => {
  if (typed.length > maxTypedLength) return undefined
  // Japanese keyboards may produce full-width letters.
  const letters = typed.normalize('NFKC').toUpperCase().replaceAll(others, '')
  return letters.length === userCodeLength ? letters : undefined
}

/** Formats a user code for display: `BCDF-GHJK`. */
export const shownUserCode = (userCode: string): string =>
  `${userCode.slice(0, userCodeLength / 2)}-${userCode.slice(userCodeLength / 2)}`
