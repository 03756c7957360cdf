import { OAuthError } from './oauth-error.ts'

/** The maximum number of parameters of a query or of a form of the protocol. */
export const maxParameters = 100

/** Matches a value without control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes control characters
export const withoutControlCharacters = /^[^\u0000-\u001F\u007F]*$/

/** A JSON schema. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The parameters that an endpoint, a grant or an extension reads: their names, or their JSON schemas by name. */
export type ParameterList = readonly string[] | Readonly<Record<string, JsonSchema>>

/** The schema of a parameter that may contain any character, as `opaque` returns it. */
export const anyParameter: JsonSchema = { type: 'string' }

/** The schema of a parameter that must not contain control characters, as `optional` returns it. */
export const plainParameter: JsonSchema = {
  ...anyParameter,
  pattern: withoutControlCharacters.source,
}

const isNames = (list: ParameterList): list is readonly string[] => Array.isArray(list)

export const namesIn = (list: ParameterList): readonly string[] =>
  isNames(list) ? list : Object.keys(list)

/** Merges lists. A schema takes precedence over a name without a schema, and over an earlier schema. */
export const merged = (lists: readonly ParameterList[]): Readonly<Record<string, JsonSchema>> =>
  Object.assign(
    Object.fromEntries(lists.flatMap(namesIn).map((name) => [name, anyParameter])),
    ...lists.filter((list) => !isNames(list)),
  )

/**
 * Form fields or query parameters before validation. `opaque`, `optional` and `required` treat an empty value as absent
 * (RFC 6749 §3.1).
 */
export class Parameters {
  /** The parameters as `application/x-www-form-urlencoded`. */
  readonly text: string
  readonly #all: ReadonlyMap<string, readonly string[]>
  #hasRepeated = false

  /**
   * @param text `application/x-www-form-urlencoded`
   * @param max the maximum number of parameters
   * @throws OAuthError `invalid_request` for more parameters
   */
  constructor(text: string, max: number = maxParameters) {
    if (hasMore(text, max))
      throw new OAuthError('invalid_request', `More than ${max} parameters were given.`)
    const all = new Map<string, string[]>()
    for (const [name, value] of parsedPairs(text)) {
      const values = all.get(name)
      if (values) {
        values.push(value)
        this.#hasRepeated = true
      } else all.set(name, [value])
    }
    this.text = text
    this.#all = all
  }

  /**
   * Returns a value that may contain any character, such as `state` or a password; undefined if the parameter is absent
   * or empty.
   * @throws OAuthError `invalid_request` if the parameter is repeated
   */
  opaque(name: string): string | undefined {
    const values = this.#all.get(name)
    if (!values) return undefined
    if (values.length > 1)
      throw new OAuthError('invalid_request', `${name} is given more than once.`)
    return values[0] || undefined
  }

  /**
   * Returns the value; undefined if the parameter is absent or empty.
   * @throws OAuthError `invalid_request` if the parameter is repeated or contains a control character
   */
  optional(name: string): string | undefined {
    const value = this.opaque(name)
    if (value !== undefined && !withoutControlCharacters.test(value)) {
      throw new OAuthError('invalid_request', `${name} contains a control character.`)
    }
    return value
  }

  /**
   * Returns the value.
   * @throws OAuthError `invalid_request` if the parameter is missing, empty, repeated, or contains a control character
   */
  required(name: string): string {
    const value = this.optional(name)
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`)
    return value
  }

  /** Returns every value of a field that may be repeated, such as the checkboxes `scopes`. */
  repeated(name: string): readonly string[] {
    return this.#all.get(name) ?? []
  }

  /**
   * Refuses a request that repeats one of the named parameters, including parameters that no code reads (RFC 6749 §3.1,
   * §3.2).
   * @throws OAuthError `invalid_request`
   */
  refuseRepeated(names: () => Iterable<string>): void {
    if (!this.#hasRepeated) return
    for (const name of names()) this.opaque(name)
  }
}

/** Parses a query. Writes a run of `+` as blanks first, because Node decodes each `+` slowly. */
export const parsedPairs = (text: string): URLSearchParams =>
  new URLSearchParams(text.replaceAll(/\+{2,}/g, (run) => ' '.repeat(run.length)))

/** Returns whether a text contains more than `max` parameters, including empty parameters. Does not parse the text. */
const hasMore = (text: string, max: number): boolean => {
  let at = -1
  for (let count = 0; count < max; count += 1) {
    at = text.indexOf('&', at + 1)
    if (at < 0) return false
  }
  return true
}

/** Returns whether a pair of a raw query, such as `scope=a`, has this name. Decodes only a name that can be equal. */
export const isNamed = (pair: string, name: string): boolean => {
  const mark = pair.indexOf('=')
  const length = mark < 0 ? pair.length : mark
  if (length < name.length || length > 3 * name.length) return false
  const given = pair.slice(0, length)
  return given === name || (given.includes('%') && new URLSearchParams(given).has(name))
}
