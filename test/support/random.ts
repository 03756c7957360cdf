import { type RandomSource, systemRandom } from '../../src/crypto/random.ts'

/** A random source that a test can make return earlier values again. */
export interface RepeatingRandom {
  readonly random: RandomSource
  /** Returns the values that were drawn since the previous call. */
  drawn(): readonly Uint8Array[]
  /** Makes the next draws return these bytes in order. After that, the source is random again. */
  repeat(values: readonly Uint8Array[]): void
  /** The number of values passed to `repeat` that were not drawn yet. */
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
