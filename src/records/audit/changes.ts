import { isSameSet } from '../tokens/token-row.ts'

/** The text of a field before and after a change; a long text is shortened. */
export type Change = readonly [before: string, after: string]

/** The maximum number of characters of each text. */
const maxLength = 200

// Omit secrets, and values that people cannot read, such as digests and keys.
const omitted: readonly string[] = ['registrationToken', 'jwks', 'metadata', 'clientKey']

/** Returns the snake_case names of the changed fields, and their texts before and after the change. */
export const changesOf = <Fields extends object>(
  before: Fields,
  after: { readonly [Name in keyof Fields]?: unknown },
) => {
  const changed = Object.entries(after)
    .map(([name, is]) => ({ name, was: before[name as keyof Fields] as unknown, is }))
    .filter(({ name, was, is }) => is !== undefined && !isSame(name, was, is))
  const changes = changed
    .filter(({ name, was, is }) => !omitted.includes(name) && textOf(was) !== textOf(is))
    .map(({ name, was, is }): [string, Change] => [
      snakeCase(name),
      [shortened(textOf(was)), shortened(textOf(is))],
    ])
  return {
    fields: changed.map(({ name }) => snakeCase(name)),
    changes: Object.fromEntries(changes),
  }
}

// The order of scopes has no meaning, and a form sends them in the order of the page.
const isSame = (name: string, was: unknown, is: unknown): boolean =>
  /scopes$/i.test(name) && Array.isArray(was) && Array.isArray(is)
    ? isSameSet(was, is)
    : JSON.stringify(was) === JSON.stringify(is)

const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join(' ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const shortened = (text: string): string =>
  text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text
