import type { Document } from '../fuzz/openapi-seeds.ts'
import { formOf, type Pair, type Shape, type Value } from '../fuzz/shape.ts'
import { repeated, type Text } from './texts.ts'

/** A part of a request into which a text can be written. */
export interface Place {
  readonly name: string
  readonly in: 'header' | 'target' | 'body' | 'list'
  /** Returns the request with the text in this place. The text and its encoding together have at most `size` bytes. */
  fill(text: Text, size: number, isBare: boolean): Shape
}

/** Returns the length of a text that is percent-encoded. */
const encodedLength = (text: string): number => formOf([['', text]]).length - 1
const rawLength = (text: string): number => Buffer.byteLength(text)
const jsonLength = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** One character of the wire for each byte of the text in UTF-8. */
const bytesAsText = (text: string): string => Buffer.from(text).toString('latin1')
const inHeader = (text: string): string => bytesAsText(text).replaceAll(/[\n\r]/g, '\t')

const copyOf = (shape: Shape): Shape => ({
  ...shape,
  query: shape.query.map(([name, value]) => [name, value]),
  headers: shape.headers.map(([name, value]) => [name, value]),
  body: structuredClone(shape.body),
})

/** Writes a text into a value: alone, or after the valid value and before a letter that no value ends with. */
const written = (text: string, before: string, isBare: boolean): string =>
  isBare ? text : `${before}${text}!`

const textOf = (value: Value): string => (typeof value === 'string' ? value : value.raw)

const headerPlace = (shape: Shape, header: string, part?: number): Place => ({
  name: part === undefined ? header : `${header} part ${part}`,
  in: 'header',
  fill(text, size, isBare) {
    const copy = copyOf(shape)
    const others = copy.headers.filter(([given]) => given.toLowerCase() !== header)
    const [, before = ''] = copy.headers.find(([given]) => given.toLowerCase() === header) ?? []
    const long = inHeader(repeated(text, size, rawLength))
    const value =
      part === undefined
        ? written(long, before, isBare)
        : withPart(before, part, (given) => written(long, given, isBare))
    return { ...copy, headers: [...others, [header, value]] }
  },
})

const separators = /([ .=~])/

/** Replaces one part of a value that consists of parts, such as a JWT behind a scheme. */
const withPart = (value: string, part: number, change: (given: string) => string): string =>
  value
    .split(separators)
    .map((given, index) => (index === 2 * part ? change(given) : given))
    .join('')

const partsOf = (value: string): number => (value.split(separators).length + 1) / 2

const pairsWith = (pairs: readonly Pair[], name: string, value: string): Pair[] => [
  ...pairs.filter(([given]) => given !== name),
  [name, value],
]

const queryPlace = (shape: Shape, name: string): Place => ({
  name: `query ${name}`,
  in: 'target',
  fill(text, size, isBare) {
    const before = textOf(shape.query.find(([given]) => given === name)?.[1] ?? '')
    const value = written(repeated(text, size, encodedLength), before, isBare)
    return { ...copyOf(shape), query: pairsWith(shape.query, name, value) }
  },
})

const rawQueryPlace = (shape: Shape): Place => ({
  name: 'query',
  in: 'target',
  fill(text, size, isBare) {
    const raw = bytesAsText(repeated(text, size, rawLength))
    return { ...copyOf(shape), query: [...(isBare ? [] : shape.query), [{ raw }, { raw: '' }]] }
  },
})

const pathPlace = (shape: Shape, part: number): Place => ({
  name: `path part ${part}`,
  in: 'target',
  fill(text, size) {
    const value = encodeURI(repeated(text, size, (unit) => encodeURI(unit).length))
    const parts = shape.path.split('/')
    parts[part] = value.replaceAll('?', '%3F')
    return { ...copyOf(shape), path: parts.join('/') }
  },
})

const formPlace = (shape: Shape, pairs: readonly Pair[], name: string): Place => ({
  name: `field ${name}`,
  in: 'body',
  fill(text, size, isBare) {
    const before = textOf(pairs.find(([given]) => given === name)?.[1] ?? '')
    const value = written(repeated(text, size, encodedLength), before, isBare)
    return { ...copyOf(shape), body: { kind: 'form', pairs: pairsWith(pairs, name, value) } }
  },
})

type Path = readonly (string | number)[]

const at = (value: unknown, [first, ...rest]: Path): unknown =>
  first === undefined ? value : at((value as Record<string | number, unknown>)[first], rest)

const withValue = (value: unknown, [first, ...rest]: Path, next: unknown): unknown => {
  if (first === undefined) return next
  if (Array.isArray(value))
    return value.map((item, index) => (index === first ? withValue(item, rest, next) : item))
  const object = value as Record<string, unknown>
  return { ...object, [first]: withValue(object[first], rest, next) }
}

/** Returns the paths of all members of a JSON value. */
const pathsIn = (value: unknown, before: Path = []): readonly Path[] => {
  if (typeof value !== 'object' || value === null) return [before]
  return [
    before,
    ...Object.entries(value).flatMap(([name, inner]) =>
      pathsIn(inner, [...before, Array.isArray(value) ? Number(name) : name]),
    ),
  ]
}

const jsonPlaces = (shape: Shape, value: unknown): readonly Place[] =>
  pathsIn(value)
    .filter((path) => path.length > 0)
    .flatMap((path) => {
      const member = (fill: (text: Text, size: number, isBare: boolean) => unknown, kind = '') => ({
        name: `member ${path.join('.')}${kind}`,
        in: kind === '' ? ('body' as const) : ('list' as const),
        fill: (text: Text, size: number, isBare: boolean): Shape => ({
          ...copyOf(shape),
          body: { kind: 'json', value: withValue(value, path, fill(text, size, isBare)) },
        }),
      })
      const given = at(value, path)
      const before = typeof given === 'string' ? given : ''
      return [
        member(
          (text, size, isBare) => written(repeated(text, size, jsonLength), before, isBare),
          '',
        ),
        member((text, size) => itemsOf(text, size), ' as a list'),
        member((_text, size) => Array.from({ length: size / 2 }, () => 1), ' as numbers'),
      ]
    })

/** Returns as many items as fit, each with a few repetitions. */
const itemsOf = (text: Text, size: number): readonly string[] => {
  const items: string[] = []
  let left = size
  for (let number = 0; ; number += 1) {
    const item = `${text.unit(number).trim()}${number % 7 === 0 ? number : ''}`
    left -= jsonLength(item) + 3
    if (left < 0) return items
    items.push(item)
  }
}

const repeatedFieldPlace = (shape: Shape, pairs: readonly Pair[], name: string): Place => ({
  name: `repeated field ${name}`,
  in: 'list',
  fill(text, size) {
    const others = pairs.filter(([given]) => given !== name)
    const many: Pair[] = []
    let left = size
    for (let number = 0; ; number += 1) {
      const value = text.unit(number)
      left -= encodedLength(value) + name.length + 2
      if (left < 0) break
      many.push([name, value])
    }
    return { ...copyOf(shape), body: { kind: 'form', pairs: [...others, ...many] } }
  },
})

const rawBodyPlace = (shape: Shape): Place => ({
  name: 'body',
  in: 'body',
  fill(text, size) {
    const bytes = Buffer.from(repeated(text, size, rawLength))
    return { ...copyOf(shape), body: { kind: 'bytes', bytes } }
  },
})

/** Returns the places of a request: its parts, and the further parameters that the document declares. */
export const placesOf = (shape: Shape, parameters: readonly string[]): readonly Place[] => {
  const { body } = shape
  const names = (pairs: readonly Pair[]) => [...new Set(pairs.map(([name]) => textOf(name)))]
  const headers = shape.headers
    .filter(([name]) =>
      ['authorization', 'cookie', 'dpop', 'x-csrf-token'].includes(name.toLowerCase()),
    )
    .flatMap(([name, value]) => {
      const parts = Array.from({ length: Math.min(partsOf(value), 5) }, (_, part) => part)
      return parts.map((part) => headerPlace(shape, name.toLowerCase(), part))
    })
  const segments = shape.path.split('/').flatMap((part, index) => (part === '' ? [] : [index]))
  return [
    ...headers,
    ...segments.map((part) => pathPlace(shape, part)),
    rawQueryPlace(shape),
    ...[...new Set([...names(shape.query), ...parameters])].map((name) => queryPlace(shape, name)),
    ...(body.kind === 'none' ? [] : [rawBodyPlace(shape)]),
    ...(body.kind === 'form'
      ? names(body.pairs).flatMap((name) => [
          formPlace(shape, body.pairs, name),
          repeatedFieldPlace(shape, body.pairs, name),
        ])
      : []),
    ...(body.kind === 'json' ? jsonPlaces(shape, body.value) : []),
  ]
}

/** Returns the places in the headers that the server reads in any request. */
export const headerPlaces = (shape: Shape, names: readonly string[]): readonly Place[] =>
  names.map((name) => headerPlace(shape, name))

/** Returns the names of the query parameters that a document declares for an operation. */
export const declaredParameters = (
  document: Document,
  pattern: string,
  method: string,
): readonly string[] =>
  (document.paths[pattern]?.[method]?.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name)
