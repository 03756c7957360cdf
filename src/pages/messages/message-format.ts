// Reads the parts of ICU MessageFormat that the pages need. Translators and their tools know this format.

/** Texts in the format ICU MessageFormat by their names, in groups. */
export interface Patterns {
  readonly [name: string]: string | Patterns
}

/** The arguments of an English pattern with the types of their values. In English, plural forms contain no arguments. */
type Arguments<Pattern extends string> = Pattern extends `${string}{${infer Head}}${infer After}`
  ? Head extends `${infer Name}, plural,${string}`
    ? Readonly<Record<Name, number>> &
        Arguments<After extends `${string}}}${infer Rest}` ? Rest : ''>
    : Readonly<Record<Head, string | number>> & Arguments<After>
  : unknown

/** Whether a type is a union. */
type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never

/**
 * A text that was read from a pattern: a string, or a function that inserts the arguments. The function receives the
 * value of the only argument, or an object with the values of several arguments.
 */
export type Text<Pattern extends string> = [keyof Arguments<Pattern>] extends [never]
  ? string
  : IsUnion<keyof Arguments<Pattern>> extends true
    ? (values: Arguments<Pattern>) => string
    : (value: Arguments<Pattern>[keyof Arguments<Pattern>]) => string

type Values = Readonly<Record<string, string | number>>

/** A literal text, an argument, `#` in a plural form, or a plural. */
type Part =
  | string
  | { readonly name: string; readonly isNumber?: true }
  | { readonly name: string; readonly forms: ReadonlyMap<string, readonly Part[]> }

// Two apostrophes are a literal apostrophe. An apostrophe before a brace quotes the text up to the next apostrophe.
const token = /''|'[{}](?:[^']|'')*'?|[{}#]|[^{}#']+|'/g
/** A category of CLDR, or an exact number. */
const selector = /^(?:zero|one|two|few|many|other|=\d{1,9})$/

/** Reads a pattern. @throws Error with a sentence for the author of the pattern */
const parse = (pattern: string): readonly Part[] => {
  if (!/[{}']/.test(pattern)) return [pattern]
  const tokens = pattern.match(token) ?? []
  const take = (expected: '{' | '}'): void => {
    if (tokens.shift() !== expected) throw new Error(`a ${expected} is missing`)
  }

  const readParts = (plural: string | undefined): readonly Part[] => {
    const parts: Part[] = []
    for (let next = tokens[0]; next !== undefined && next !== '}'; next = tokens[0]) {
      if (next === '{') {
        parts.push(readArgument())
        continue
      }
      tokens.shift()
      if (next === '#' && plural !== undefined) parts.push({ name: plural, isNumber: true })
      else parts.push(unquoted(next))
    }
    return parts
  }

  const readArgument = (): Part => {
    take('{')
    const [name = '', kind, first = '', ...more] = (tokens.shift() ?? '')
      .split(',')
      .map((word) => word.trim())
    if (!/^\w+$/.test(name)) throw new Error('a { must be followed by the name of an argument')
    if (kind !== undefined && (kind !== 'plural' || more.length > 0))
      throw new Error(`the argument ${name} must be {${name}} or {${name}, plural, …}`)
    const forms = kind === undefined ? undefined : readForms(name, first)
    take('}')
    return forms ? { name, forms } : { name }
  }

  const readForms = (name: string, first: string): ReadonlyMap<string, readonly Part[]> => {
    const forms = new Map<string, readonly Part[]>()
    for (let form = first; form !== ''; form = tokens[0] === '}' ? '' : nextWord()) {
      if (!selector.test(form) || forms.has(form))
        throw new Error(`the plural of ${name} must not contain the form ${form} here`)
      take('{')
      forms.set(form, readParts(name))
      take('}')
    }
    if (!forms.has('other')) throw new Error(`the plural of ${name} needs the form other`)
    return forms
  }
  const nextWord = (): string => (tokens.shift() ?? '').trim()

  const parts = readParts(undefined)
  if (tokens.length > 0) throw new Error('a { is missing')
  return parts
}

const unquoted = (text: string): string =>
  text.length === 1 || !text.startsWith("'")
    ? text
    : (text.slice(1, text.endsWith("'") ? -1 : undefined) || "'").replaceAll("''", "'")

const namesOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap((part) => {
    if (typeof part === 'string') return []
    return [part.name, ...('forms' in part ? [...part.forms.values()].flatMap(namesOf) : [])]
  })

/** Returns the names of the arguments of a pattern. @throws Error with a sentence for the author of the pattern */
export const argumentsOf = (pattern: string): readonly string[] => [
  ...new Set(namesOf(parse(pattern))),
]

/** The rules of a language for plurals and numbers. */
export interface Grammar {
  select(count: number): string
  format(count: number): string
}

/** Returns the grammar of a language. Creates the rules at their first use, because that is slow. */
export const grammarOf = (language: string): Grammar => {
  let rules: Intl.PluralRules | undefined
  let numbers: Intl.NumberFormat | undefined
  return {
    select(count) {
      rules ??= new Intl.PluralRules([language, 'en'])
      return rules.select(count)
    },
    format(count) {
      numbers ??= new Intl.NumberFormat([language, 'en'])
      return numbers.format(count)
    },
  }
}

const write = (parts: readonly Part[], values: Values, grammar: Grammar): string => {
  let text = ''
  for (const part of parts)
    text += typeof part === 'string' ? part : inserted(part, values, grammar)
  return text
}

const inserted = (part: Exclude<Part, string>, values: Values, grammar: Grammar): string => {
  const value = values[part.name] ?? ''
  const count = typeof value === 'number' ? value : undefined
  if (!('forms' in part))
    return part.isNumber && count !== undefined ? grammar.format(count) : String(value)
  const { forms } = part
  const form =
    count === undefined ? undefined : (forms.get(`=${count}`) ?? forms.get(grammar.select(count)))
  return write(form ?? forms.get('other') ?? [], values, grammar)
}

/**
 * Returns the text of a pattern.
 * @param names the names of the arguments, which the English pattern determines
 * @throws Error if the pattern is not valid
 */
export const textOf = (
  pattern: string,
  names: readonly string[],
  grammar: Grammar,
): string | ((value: string | number | Values) => string) => {
  const parts = parse(pattern)
  const [name] = names
  if (name === undefined) return write(parts, {}, grammar)
  return (value) => write(parts, typeof value === 'object' ? value : { [name]: value }, grammar)
}
