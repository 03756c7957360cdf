import type { TestData } from '../support/observed-test-data.ts'
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts'
import { body } from './mutate-body.ts'
import { credential } from './mutate-credentials.ts'
import { headers } from './mutate-headers.ts'
import { type Mutation, structure } from './mutate-structure.ts'
import { nastyValues } from './nasty.ts'
import { type Document, openapiSeeds } from './openapi-seeds.ts'
import { rawOf } from './raw.ts'
import { seeds, type WeightedSeed } from './seeds.ts'
import { wireOf } from './shape.ts'

/** A request that is ready to be sent. */
export interface FuzzRequest {
  readonly number: number
  readonly endpoint: string
  /** The kind of the first mutation, or `valid`. */
  readonly kind: string
  readonly bytes: Buffer
  /** Whether the method is HEAD, whose response has no body even with a Content-Length. */
  readonly isHead: boolean
  readonly isAlone: boolean
  readonly leaves: boolean
}

/** The kinds of the first mutation, with their share in percent. Up to two further mutations can be of any kind. */
const levels: readonly (readonly [name: string, share: number, mutation: Mutation | undefined])[] =
  [
    ['valid', 3, undefined],
    ['structure', 42, structure],
    ['headers', 18, headers],
    ['body', 15, body],
    ['credentials', 18, credential],
    ['raw', 4, undefined],
  ]

const levelAt = (share: number) => {
  let rest = share
  for (const level of levels) {
    rest -= level[1]
    if (rest < 0) return level
  }
  return levels[1] as (typeof levels)[number]
}

const seedAt = (all: readonly WeightedSeed[], weight: number): WeightedSeed['seed'] => {
  let rest = weight
  for (const one of all) {
    rest -= one.weight
    if (rest < 0) return one.seed
  }
  throw new RangeError('The weight is beyond all seeds.')
}

/**
 * Returns a function that creates the request with a number. Only values that the server generates differ between runs.
 */
export const requestMaker = (seed: number, document: Document) => {
  const nasty = nastyValues(seed)
  const all = [...seeds, ...openapiSeeds(document)]
  const weights = all.reduce((sum, { weight }) => sum + weight, 0)
  const others = [structure, headers, body, credential]
  return (number: number, testData: TestData): FuzzRequest => {
    const random: SeededRandom = seededRandom(seed, number)
    const shape = seedAt(all, random.below(weights))(testData, random)
    const [name, , mutation] = levelAt(random.below(100))
    mutation?.(shape, random, nasty)
    if (name !== 'valid') {
      for (let more = random.below(3); more > 0; more -= 1)
        random.pick(others)(shape, random, nasty)
    }
    const { endpoint } = shape
    const raw = name === 'raw' ? rawOf(shape, random) : undefined
    return {
      number,
      endpoint,
      kind: name,
      bytes: raw?.bytes ?? wireOf(shape),
      isHead: shape.method === 'HEAD',
      isAlone: shape.isAlone || raw !== undefined,
      leaves: raw?.leaves ?? false,
    }
  }
}
