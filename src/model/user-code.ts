/** Consonants alone: no word comes about by chance, and no letter is taken for a digit. RFC 8628 §6.1. */
export const userCodeAlphabet = 'BCDFGHJKLMNPQRSTVWXZ'

/** Letters of a user code: with those of the alphabet, some 2^34.5 codes. */
export const userCodeLength = 8

const others = new RegExp(`[^${userCodeAlphabet}]`, 'g')
/** Longer than anybody would write a code. */
const longestTyped = 64

/**
 * The user code that somebody typed, in whatever case and with whatever else between its letters; undefined
 * where it is none. RFC 8628 §6.1.
 */
export const userCodeIn = (typed: string): string | undefined => {
  if (typed.length > longestTyped) return undefined
  // Letters of full width are what a Japanese keyboard may give.
  const letters = typed.normalize('NFKC').toUpperCase().replaceAll(others, '')
  return letters.length === userCodeLength ? letters : undefined
}

/** A user code as it is shown: `BCDF-GHJK`. */
export const shownUserCode = (userCode: string): string =>
  `${userCode.slice(0, userCodeLength / 2)}-${userCode.slice(userCodeLength / 2)}`
