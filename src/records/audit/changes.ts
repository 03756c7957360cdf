/** The text of a field before and after a change; a long text is shortened. */
export type Change = readonly [before: string, after: string]

/** The maximum number of characters of each text. */
const maxLength = 200

// Omit secrets, and values that people cannot read, such as digests and keys.
const omitted: readonly string[] = ['registrationToken', 'jwks', 'metadata', 'clientKey']

/** Returns the texts of the changed fields before and after the change, by the snake_case names of the fields. */
export const changesOf = <Fields extends object>(
  before: Fields,
  after: { readonly [Name in keyof Fields]?: unknown },
): Readonly<Record<string, Change>> =>
  Object.fromEntries(
    Object.entries(after)
      .filter(([name, value]) => value !== undefined && !omitted.includes(name))
      .map(([name, value]) => [name, textOf(before[name as keyof Fields]), textOf(value)] as const)
      .filter(([, was, is]) => was !== is)
      .map(([name, was, is]) => [snakeCase(name), [shortened(was), shortened(is)]]),
  )

/** Returns the name of a field in snake_case. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join(' ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const shortened = (text: string): string =>
  text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text
