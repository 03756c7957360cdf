import { OAuthError } from './oauth-error.ts'

const mostParameters = 100

/** Matches a value without control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
export const withoutControlCharacters = /^[^\u0000-\u001F\u007F]*$/

/** Form fields or query parameters as they came: raw, possibly doubled, empty meaning absent (RFC 6749 §3.1). */
export class Parameters {
  readonly #all: ReadonlyMap<string, readonly string[]>
  #hasRepeated = false

  /**
   * @param text `application/x-www-form-urlencoded`
   * @param most how many there may be, those of a protocol request unless told otherwise
   * @throws OAuthError `invalid_request` for more than that
   */
  constructor(text: string, most: number = mostParameters) {
    const all = new Map<string, string[]>()
    let count = 0
    for (const [name, value] of new URLSearchParams(text)) {
      count += 1
      if (count > most)
        throw new OAuthError('invalid_request', `More than ${most} parameters were given.`)
      const values = all.get(name)
      if (values) {
        values.push(value)
        this.#hasRepeated = true
      } else all.set(name, [value])
    }
    this.#all = all
  }

  /** The value exactly as it was sent, for what is opaque to us: `state`, a password. */
  opaque(name: string): string | undefined {
    const values = this.#all.get(name)
    if (!values) return undefined
    if (values.length > 1)
      throw new OAuthError('invalid_request', `${name} is given more than once.`)
    return values[0] || undefined
  }

  /** The value, or undefined where it is absent or empty. Control characters are refused. */
  optional(name: string): string | undefined {
    const value = this.opaque(name)
    if (value !== undefined && !withoutControlCharacters.test(value)) {
      throw new OAuthError('invalid_request', `${name} contains a control character.`)
    }
    return value
  }

  required(name: string): string {
    const value = this.optional(name)
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`)
    return value
  }

  /** Every value of a field that may be repeated, such as the checkboxes `scopes`. */
  repeated(name: string): readonly string[] {
    return this.#all.get(name) ?? []
  }

  /** Refuses a known parameter that is given twice, even where nobody would read it (RFC 6749 §3.1, §3.2). */
  refuseRepeated(names: () => Iterable<string>): void {
    if (!this.#hasRepeated) return
    for (const name of names()) this.opaque(name)
  }
}
