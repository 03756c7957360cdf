import type { SeededRandom } from '../support/seeded-random.ts'
import type { Nasty } from './nasty.ts'
import type { Pair, Shape, Value } from './shape.ts'

/** Changes a request in place. */
export type Mutation = (shape: Shape, random: SeededRandom, nasty: Nasty) => void

const foreignNames: readonly string[] = [
  '__proto__',
  'constructor',
  'client_id',
  'client_secret',
  'scope',
  'request',
  'request_uri',
  'resource',
  'redirect_uri',
  'response_mode',
  'grant_type',
  'code_verifier',
  'access_token',
  'token',
  'csrf_token',
  'form_id',
  'confirm',
  'scope[]',
  'scope[0]',
  'scope.x',
  '',
]

const pairChanges: readonly ((pairs: Pair[], at: number, r: SeededRandom, n: Nasty) => void)[] = [
  (pairs, at) => void pairs.splice(at, 1),
  (pairs, at) => void pairs.push([...(pairs[at] as Pair)]),
  (pairs, at, r, n) => void pairs.push([(pairs[at] as Pair)[0], n.value(r)]),
  (pairs, at) => {
    ;(pairs[at] as Pair)[1] = ''
  },
  (pairs, at, r, n) => {
    ;(pairs[at] as Pair)[1] = n.value(r)
  },
  (pairs, at, r, n) => {
    ;(pairs[at] as Pair)[1] = n.value(r)
  },
  (pairs, at, r, n) => {
    const pair = pairs[at] as Pair
    const [before, added] = [textOf(pair[1]), n.text(r)]
    pair[1] = r.chance(50) ? `${before}${added}` : `${added}${before}`
  },
  (pairs, at, r, n) => {
    ;(pairs[at] as Pair)[0] = n.value(r)
  },
  (pairs, at) => {
    const pair = pairs[at] as Pair
    pair[0] = textOf(pair[0]).toUpperCase()
  },
  (pairs, at, r) => {
    const other = pairs[r.below(pairs.length)] as Pair
    const pair = pairs[at] as Pair
    ;[pair[1], other[1]] = [other[1], pair[1]]
  },
  (pairs, at, r) => {
    const pair = pairs[at] as Pair
    pair[1] = textOf(pair[1]).slice(0, r.below(10))
  },
  (pairs, _at, r, n) => void pairs.push([r.pick(foreignNames), n.value(r)]),
  (pairs, _at, r) => {
    for (let count = r.below(150); count > 0; count -= 1) pairs.push([`p${count}`, 'x'])
  },
]

const textOf = (value: Value): string => (typeof value === 'string' ? value : value.raw)

const changePairs = (pairs: Pair[], r: SeededRandom, n: Nasty): void => {
  if (pairs.length === 0) pairs.push([r.pick(foreignNames), n.value(r)])
  else r.pick(pairChanges)(pairs, r.below(pairs.length), r, n)
}

const deep = (depth: number): unknown => {
  let value: unknown = 'x'
  for (let at = 0; at < depth; at += 1) value = at % 2 ? [value] : { a: value }
  return value
}

const changeJson = (value: unknown, r: SeededRandom, n: Nasty): unknown => {
  if (typeof value !== 'object' || value === null || r.chance(5)) return n.json(r)
  const object = value as Record<string, unknown>
  const name = r.pick([...Object.keys(object), '__proto__', 'extra'])
  const what = r.below(6)
  if (what === 0) delete object[name]
  else if (what === 1) object[name] = [object[name], object[name]]
  else if (what === 2) object[name] = { value: object[name] }
  else if (what === 3) object[name] = deep(r.pick([5, 100, 1_000]))
  // Define the member as an own property, even if it is called `__proto__`.
  else
    Object.defineProperty(object, name, {
      value: n.json(r),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  return object
}

const methods = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'HEAD',
  'TRACE',
  'PROPFIND',
  'QUERY',
]

const pathChanges: readonly ((path: string, r: SeededRandom, n: Nasty) => string)[] = [
  (path) => `${path}/`,
  (path) => path.slice(0, -1) || '/',
  (path) => `/${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => path.toUpperCase(),
  (path) => `${path};x=y`,
  (path) => `${path}%00`,
  (path) => `${path}/..%2f`,
  (path) => `${path}/../..${path}`,
  (path) => `${path}%ff`,
  (path) => `${path}%`,
  (path) => `${path}?${'a'.repeat(3_000)}`,
  (path) => path.replace(/[^/]+\/?$/, (last) => encodeURIComponent(last)),
  (path, r, n) => path.replace(/[^/]+(\/?)$/, (_all, slash) => `${encoded(n.text(r))}${slash}`),
  (path, r, n) => `${path}/${encoded(n.text(r))}`,
]

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/**
 * Mutates the method, the path, or a parameter or member: removes, repeats, empties or enlarges it, or changes its
 * type.
 */
export const structure: Mutation = (shape, r, n) => {
  const { body } = shape
  const what = r.below(20)
  if (what === 0) shape.method = r.pick(methods)
  else if (what <= 2) shape.path = r.pick(pathChanges)(shape.path, r, n)
  else if (body.kind === 'json') body.value = changeJson(body.value, r, n)
  else if (body.kind === 'form' && what < 18) changePairs(body.pairs, r, n)
  else changePairs(shape.query, r, n)
}
