import { randomBytes, randomFillSync } from 'node:crypto'

/** A source of random bytes: an argument of the server, so that a test can repeat a value. */
export type RandomSource = (bytes: number) => Uint8Array

const pool = new Uint8Array(4096)
let used = pool.length

/** Asks the operating system for many bytes at once: each time costs as much as hundreds of them. */
export const systemRandom: RandomSource = (bytes) => {
  if (bytes > pool.length) return randomBytes(bytes)
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const drawn = pool.slice(used, used + bytes)
  // Each byte is given once, and kept nowhere here.
  pool.fill(0, used, used + bytes)
  used += bytes
  return drawn
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Characters of `[A-Za-z0-9]` that carry 256 bits. */
export const bits256 = 43

/** A random number that JSON and every database represent exactly: 48 bits. */
export const randomNumber = (random: RandomSource): number =>
  Buffer.from(random(6)).readUIntBE(0, 6)

/**
 * A random string of `[A-Za-z0-9]`: no dot, so it is never mistaken for a JWT, and nothing that
 * clients encode differently in a Basic header.
 * @param characters others to choose from, at most 256
 */
export const randomString = (
  length: number,
  random: RandomSource,
  characters: string = alphabet,
): string => {
  // The largest multiple: what is above it would favour the first characters.
  const end = 256 - (256 % characters.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random(length + 16)) {
      if (byte < end && text.length < length) text += characters[byte % characters.length]
    }
  }
  return text
}
