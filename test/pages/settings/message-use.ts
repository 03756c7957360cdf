import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseAst } from 'vitest/node'
import { en } from '../../../src/pages/messages/en.ts'

interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

/** A group or a text in the messages, identified by the property names on its path. */
interface Place {
  readonly names: readonly string[]
  /** The source of a computed property name, such as an error code. */
  readonly chosen?: string
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const children = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode))

const walk = function* (node: Node): Generator<Node> {
  yield node
  for (const child of children(node)) yield* walk(child)
}

const nameOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  const name = node.type === 'Literal' ? node.value : node.name
  return typeof name === 'string' ? name : undefined
}

const at = ({ names }: Place): unknown =>
  names.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], en)

const isGroup = (place: Place): boolean => typeof at(place) === 'object'

const keyOf = ({ names }: Place): string => names.join('/')

const root: readonly Place[] = [{ names: [] }]

/** Returns the path of every text, such as `login/title`. */
export const leavesOf = (value: unknown = en, names: readonly string[] = []): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...names, key]))
    : [names.join('/')]

interface Uses {
  /** Paths of texts that a source accesses with literal names. */
  readonly named: Set<string>
  /** Paths of texts that a source accesses with a computed name, each with the source of the name. */
  readonly chosen: Map<string, string>
}

/** Finds the messages that a source file uses, by following property names from `texts`. */
const follow = (program: Node, uses: Uses): void => {
  const known = new Map<string, Map<string, Place>>()

  const note = (places: readonly Place[]): void => {
    for (const place of places) {
      if (isGroup(place)) continue
      if (place.chosen === undefined) uses.named.add(keyOf(place))
      else uses.chosen.set(keyOf(place), place.chosen)
    }
  }

  const below = (places: readonly Place[], key: string): readonly Place[] =>
    places
      .map((place) => ({ ...place, names: [...place.names, key] }))
      .filter((place) => at(place) !== undefined)

  const anyOf = (places: readonly Place[]): readonly Place[] =>
    places
      .filter((place) => place.names.length > 0 && isGroup(place))
      .flatMap((place) =>
        Object.keys(at(place) as object).map((chosen) => ({
          names: [...place.names, chosen],
          chosen,
        })),
      )

  const placesOf = (node: unknown): readonly Place[] => {
    if (!isNode(node)) return []
    if (node.type === 'Identifier') return [...(known.get(nameOf(node) ?? '')?.values() ?? [])]
    if (node.type === 'CallExpression') return nameOf(node.callee) === 'textsOf' ? root : []
    if (node.type === 'ConditionalExpression')
      return [...placesOf(node.consequent), ...placesOf(node.alternate)]
    if (node.type === 'MemberExpression') {
      const places = placesOf(node.object)
      const key = nameOf(node.property) ?? ''
      if (node.computed === true) return anyOf(places)
      return key === 'texts' && places.length === 0 ? root : below(places, key)
    }
    const inner = [node.expression, node.argument].find(isNode)
    return /^(?:TS|Parenthesized|Await)/.test(node.type) ? placesOf(inner) : []
  }

  const bind = (pattern: unknown, places: readonly Place[]): void => {
    if (!isNode(pattern)) return
    if (pattern.type === 'AssignmentPattern') bind(pattern.left, places)
    if (pattern.type === 'Identifier') {
      const name = nameOf(pattern) ?? ''
      const all = known.get(name) ?? new Map<string, Place>()
      for (const place of places) all.set(keyOf(place), place)
      known.set(name, all)
      note(places)
    }
    if (pattern.type !== 'ObjectPattern') return
    for (const property of children(pattern).filter(({ type }) => type === 'Property')) {
      const key = nameOf(property.key) ?? ''
      bind(property.value, key === 'texts' && places.length === 0 ? root : below(places, key))
    }
  }

  const nodes = [...walk(program)]
  for (let size = -1; size !== sizeOf(known); ) {
    size = sizeOf(known)
    for (const node of nodes) {
      if (node.type === 'VariableDeclarator') bind(node.id, placesOf(node.init))
      if (!/Function/.test(node.type) || !Array.isArray(node.params)) continue
      for (const parameter of node.params)
        bind(parameter, nameOf(parameter) === 'texts' ? root : [])
    }
  }
  for (const node of nodes) {
    if (node.type === 'MemberExpression') note(placesOf(node))
    if (node.type !== 'CallExpression' || !Array.isArray(node.arguments)) continue
    // If a group is passed to a function, the function may use any of its texts.
    for (const argument of node.arguments) note(anyOf(placesOf(argument)))
  }
}

/** Returns the string literals of a program, except in types, and the names of the orders, filters and kinds of lists. */
const stringsIn = (node: Node): readonly string[] => {
  if (/^TS(?:Type|Interface)/.test(node.type)) return []
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : []
  const isListed =
    node.type === 'Property' && /^(?:orders|filters|kinds)$/.test(nameOf(node.key) ?? '')
  const returnsList =
    node.type === 'VariableDeclarator' && /(?:Orders|Filters|Kinds)$/.test(nameOf(node.id) ?? '')
  const names = [
    ...(isListed && isNode(node.value) ? children(node.value) : []),
    ...(returnsList ? [...walk(node)].filter(({ type }) => type === 'Property') : []),
  ].map(({ key }) => nameOf(key))
  return [...children(node).flatMap(stringsIn), ...names.filter((name) => name !== undefined)]
}

const sizeOf = (known: ReadonlyMap<string, ReadonlyMap<string, Place>>): number =>
  [...known.values()].reduce((sum, places) => sum + places.size, 0)

const src = resolve(import.meta.dirname, '../../../src')

/** Returns all source files except the messages. */
const readSources = (): readonly string[] =>
  readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.startsWith('pages/messages/'))
    .map((path) => readFileSync(`${src}/${path}`, 'utf8'))

/**
 * Returns the texts that no source uses. A source uses a text if it accesses the text with literal names. A source also
 * uses a text if it accesses the group with a computed name, and contains the name of the text as a string literal.
 */
export const unusedMessages = (sources: readonly string[] = readSources()): readonly string[] => {
  const uses: Uses = { named: new Set(), chosen: new Map() }
  const strings = new Set<string>()
  for (const source of sources) {
    const program: unknown = parseAst(source, { lang: 'ts' })
    if (!isNode(program)) throw new Error('A source cannot be parsed.')
    follow(program, uses)
    for (const text of stringsIn(program)) strings.add(text)
  }
  return leavesOf().filter(
    (leaf) => !uses.named.has(leaf) && !strings.has(uses.chosen.get(leaf) ?? ''),
  )
}
