import { likelyName } from './likely-name.ts'

/** The names of all members of an object. The compiler reports a name that is missing or that does not exist. */
export type MemberNames<T> = Readonly<Record<keyof T, true>>

/** Refuses an object with unknown members. @throws TypeError, which names the member and the nearest known name */
export type CheckMembers = (given: object | undefined) => void

/**
 * Returns a function that refuses objects with members other than these. Without this check, a misspelled option would
 * be ignored. Accepts instances of classes of the application, because their further members belong to these classes.
 * @param owner the function or option to which the objects are passed, for the error
 */
export const onlyMembers = <T>(owner: string, names: MemberNames<T>): CheckMembers => {
  const known = Object.keys(names)
  return (given) => {
    const [problem] = memberProblems(owner, known, given)
    if (problem !== undefined) throw new TypeError(problem)
  }
}

/** Returns a sentence for each unknown member of an object, or for a value that is not an object. */
export const memberProblems = (
  owner: string,
  known: readonly string[],
  given: unknown,
): readonly string[] => {
  if (given === undefined) return []
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [`${owner}: the options must be an object.`]
  const prototype: unknown = Object.getPrototypeOf(given)
  if (prototype !== Object.prototype && prototype !== null) return []
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  return unknown.map((name) => `${owner}: ${unknownMember(name, known)}`)
}

const unknownMember = (name: string, known: readonly string[]): string => {
  const likely = likelyName(name, known)
  const advice = likely ? `Did you mean ${likely}?` : `The options are ${known.join(', ')}.`
  return `${name} is not an option. ${advice}`
}
