import { closestMatch } from 'leven'

/** Returns the known name that is the most similar to a misspelled name; undefined if no known name is similar. */
export const likelyName = (name: string, known: readonly string[]): string | undefined => {
  const candidates = new Map(known.map((candidate) => [candidate.toLowerCase(), candidate]))
  // A short name may contain fewer typing errors: with three errors, `log` would resemble every name of three letters.
  const maxDistance = Math.min(3, Math.floor(name.length / 3))
  const match = closestMatch(name.toLowerCase(), [...candidates.keys()], { maxDistance })
  return match === undefined ? undefined : candidates.get(match)
}

/** Returns the start-up error for an unknown name, with the likely name if a known name is similar. */
export const unknownName = (
  name: string,
  noun: 'an option' | 'a setting',
  known: readonly string[],
): string => {
  const likely = likelyName(name, known)
  return `${name} is not ${noun}. ${likely ? `Did you mean ${likely}?` : 'Check its spelling.'}`
}
