import { type RandomSource, systemRandom } from '../../src/crypto/random.ts'

/** A random source that can be made to repeat itself. */
export interface RepeatingRandom {
  readonly random: RandomSource
  /** What was drawn since the last call. */
  drawn(): readonly Uint8Array[]
  /** Lets the next draws give these bytes again, in order; after them it is random again. */
  repeat(values: readonly Uint8Array[]): void
  /** How many repeated values nobody has drawn yet. */
  readonly left: number
}

export const repeatingRandom = (): RepeatingRandom => {
  let drawn: Uint8Array[] = []
  const repeated: Uint8Array[] = []
  return {
    random(bytes) {
      const value = repeated.shift() ?? systemRandom(bytes)
      drawn.push(value)
      return value
    },
    drawn() {
      const values = drawn
      drawn = []
      return values
    },
    repeat: (values) => void repeated.push(...values),
    get left() {
      return repeated.length
    },
  }
}
