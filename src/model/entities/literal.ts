/** Reads the value at a path of the source, and converts the value. */
export class Leaf {
  readonly path: readonly string[]
  readonly convert: ((value: never) => unknown) | undefined

  constructor(path: readonly string[], convert?: (value: never) => unknown) {
    this.path = path
    this.convert = convert
  }
}

/** An array or object whose values are read from a source. */
export type Literal = Leaf | readonly Literal[] | { readonly [name: string]: Literal }

/**
 * Returns a function that creates the array or object for a source. The function is compiled from generated code,
 * because a loop over the properties would take 10 times as long. The code contains only names of this package, as quoted
 * texts. If the process forbids generated code, a loop creates the same values.
 */
export const creatorOf = (literal: Literal): ((source: object) => unknown) => {
  const converters: NonNullable<Leaf['convert']>[] = []
  const textOf = (part: Literal): string => {
    if (part instanceof Leaf) {
      const value = accessOf('source', part.path)
      return part.convert ? `convert${converters.push(part.convert) - 1}(${value})` : value
    }
    if (isList(part)) return `[${part.map(textOf).join()}]`
    const members = Object.entries(part).map(
      ([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`,
    )
    return `{${members.join()}}`
  }
  const code = `(source) => (${textOf(literal)})`
  return compiled(code, converters, (source: object) => created(literal, source))
}

/** Returns a function that compares the converted values of two sources, compiled like the function of `creatorOf`. */
export const comparerOf = (leaves: readonly Leaf[]): ((one: object, other: object) => boolean) => {
  const converters: NonNullable<Leaf['convert']>[] = []
  const equalities = leaves.map(({ path, convert }) => {
    const [one, other] = [accessOf('one', path), accessOf('other', path)]
    const same = `${one}===${other}`
    if (!convert) return same
    const name = `convert${converters.push(convert) - 1}`
    return `(${same}||${name}(${one})===${name}(${other}))`
  })
  return compiled(
    `(one, other) => ${equalities.join('&&')}`,
    converters,
    (one: object, other: object) =>
      leaves.every((leaf) => created(leaf, one) === created(leaf, other)),
  )
}

const accessOf = (source: string, path: readonly string[]): string =>
  `${source}${path.map((name) => `[${JSON.stringify(name)}]`).join('')}`

/** Compiles a function of the converters. @param loop does the same without generated code */
const compiled = <F>(code: string, converters: readonly unknown[], loop: F): F => {
  const names = converters.map((_, index) => `convert${index}`)
  try {
    return new Function(...names, `return ${code}`)(...converters)
  } catch (error) {
    if (error instanceof EvalError) return loop
    throw error
  }
}

/** Creates the array or object for a source without generated code. */
export const created = (part: Literal, source: unknown): unknown => {
  if (part instanceof Leaf) {
    const value = part.path.reduce((from, name) => Reflect.get(from as object, name), source)
    return part.convert ? part.convert(value as never) : value
  }
  if (isList(part)) return part.map((value) => created(value, source))
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, created(value, source)]),
  )
}

const isList = (part: Literal): part is readonly Literal[] => Array.isArray(part)
