import { likelyName } from './likely-name.ts'

/** The values that an option accepts. An omitted option has the value undefined. */
export interface Accepted {
  /** Returns a sentence for each problem of a value. @param name the name of the option, such as `redis(): keyPrefix` */
  problems(name: string, value: unknown): readonly string[]
  /** Returns whether a value has no problem, without creating a text for each value. */
  fits?(value: unknown): boolean
  /** Whether the option must not be omitted. */
  readonly isRequired?: boolean
}

/** What a single value must be. */
export type Kind = Required<Pick<Accepted, 'problems' | 'fits'>>

/** What each member of an object accepts. The compiler reports a name that is missing or that does not exist. */
export type Members<T> = Readonly<Record<keyof T, Accepted>>

/** Accepts the values for which `fits` returns true. @param sentence completes the sentence "The option must be …" */
export const accepted = (sentence: string, fits: (value: unknown) => boolean): Kind => ({
  fits,
  problems: (name, value) => (fits(value) ? [] : [`${name} must be ${sentence}.`]),
})

/** For a value that other code checks. */
export const anything: Kind = { problems: () => [], fits: () => true }
export const text: Kind = accepted('a string', (value) => typeof value === 'string')
export const number: Kind = accepted('a number', Number.isFinite)
export const flag: Kind = accepted('true or false', (value) => typeof value === 'boolean')
export const callback: Kind = accepted('a function', (value) => typeof value === 'function')
export const object: Kind = accepted(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
)

const isWhole =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max

export const oneOf = (...values: readonly string[]): Kind =>
  accepted(`one of ${values.join(', ')}`, (value) => values.some((one) => one === value))

export const whole = (min: number, max: number = Number.MAX_SAFE_INTEGER): Kind =>
  accepted(
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${min}`
      : `a whole number from ${min} to ${max}`,
    isWhole(min, max),
  )

/** For milliseconds. A timer of Node ends immediately if its time has more than 31 bits. */
export const timeout: Kind = accepted(
  'whole milliseconds from 1 to 3,600,000',
  isWhole(1, 3_600_000),
)

/** For a time that `Date` can represent. */
export const time: Kind = accepted(
  'a whole number of milliseconds since the epoch',
  isWhole(-8_640_000_000_000_000, 8_640_000_000_000_000),
)

export const userId: Kind = accepted(
  'a user ID, a string or a number',
  (value) => typeof value === 'string' || Number.isSafeInteger(value),
)

export const orNull = ({ problems }: Accepted): Accepted => ({
  problems: (name, value) => (value === null ? [] : problems(name, value)),
})

export const required = (member: Accepted): Accepted => ({ ...member, isRequired: true })

export const listOf = (member: Accepted): Accepted => ({
  problems: (name, value) =>
    Array.isArray(value)
      ? [...new Set(value.flatMap((one) => member.problems(`${name}: each member`, one)))]
      : [`${name} must be an array.`],
})

/** For an object whose names the application chooses. */
export const recordOf = (member: Accepted): Accepted => ({
  problems(name, value) {
    const [problem] = object.problems(name, value)
    if (problem !== undefined) return [problem]
    return Object.entries(value as object).flatMap(([own, one]) =>
      member.problems(`${name}.${own}`, one),
    )
  },
})

/**
 * For an object with these members. Without this check, a misspelled option would be ignored. Accepts further members of
 * instances of classes of the application, because they belong to these classes.
 */
export const objectOf = <T>(members: Members<T>): Accepted => {
  const known = Object.entries<Accepted>(members)
  const names = Object.keys(members)
  return {
    problems(owner, given) {
      if (typeof given !== 'object' || given === null || Array.isArray(given))
        return [`${owner}: the options must be an object.`]
      const prototype: unknown = Object.getPrototypeOf(given)
      const isPlain = prototype === Object.prototype || prototype === null
      const found = isPlain ? unknownMembers(owner, names, given) : []
      for (const [name, { fits, problems, isRequired }] of known) {
        const value: unknown = Reflect.get(given, name)
        if ((value === undefined && isRequired !== true) || fits?.(value)) continue
        found.push(...problems(`${owner}: ${name}`, value))
      }
      return found
    },
  }
}

/** Returns a sentence for each unknown member of an object. */
export const unknownMembers = (
  owner: string,
  known: readonly string[],
  given: object,
): string[] => {
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  return unknown.map((name) => {
    const likely = likelyName(name, known)
    const advice = likely ? `Did you mean ${likely}?` : `The options are ${known.join(', ')}.`
    return `${owner}: ${name} is not an option. ${advice}`
  })
}

/** Refuses an object with an unknown member or a wrong value. @throws TypeError, which names the member */
export type CheckMembers = (given: object | undefined) => void

/**
 * Returns a function that refuses objects with other members or values.
 * @param owner the function or option to which the objects are passed, for the error
 */
export const onlyMembers = <T>(owner: string, members: Members<T>): CheckMembers => {
  const { problems } = objectOf(members)
  return (given) => {
    const [problem] = given === undefined ? [] : problems(owner, given)
    if (problem !== undefined) throw new TypeError(problem)
  }
}
