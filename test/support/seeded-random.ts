/** Deterministic 32-bit numbers from a seed (sfc32). */
export interface SeededRandom {
  /** Returns an integer from 0 up to, but not including, the limit. */
  below(end: number): number
  /** Returns true with this probability in percent. */
  chance(percent: number): boolean
  pick<T>(from: readonly T[]): T
  bytes(length: number): Buffer
}

export const seededRandom = (seed: number, number = 0): SeededRandom => {
  let a = seed | 0
  let b = number | 0
  let c = 0x9e3779b9 | 0
  let counter = 1
  const next = (): number => {
    const t = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }
  for (let turn = 0; turn < 12; turn += 1) next()
  const below = (end: number): number => Math.floor((next() / 2 ** 32) * end)
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: (from) => {
      if (from.length === 0) throw new RangeError('There is nothing to pick from.')
      return from[below(from.length)] as (typeof from)[number]
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  }
}

/** A deterministic random source for a server. */
export const seededBytes = (seed: number): ((bytes: number) => Uint8Array<ArrayBuffer>) => {
  const random = seededRandom(seed)
  return (length) => new Uint8Array(random.bytes(length))
}
