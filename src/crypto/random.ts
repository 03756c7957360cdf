import { randomBytes, randomFillSync } from 'node:crypto'

/** A source of random bytes. It is an option of the server, so that tests can use a deterministic one. */
export type RandomSource = (bytes: number) => Uint8Array

const pool = new Uint8Array(4096)
let used = pool.length

/**
 * Returns random bytes of the operating system, from a pool, since each system call costs as much as hundreds of bytes.
 */
export const systemRandom: RandomSource = (bytes) => {
  if (bytes > pool.length) return randomBytes(bytes)
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const drawn = pool.slice(used, used + bytes)
  // Each byte is returned once and then erased from the pool.
  pool.fill(0, used, used + bytes)
  used += bytes
  return drawn
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Characters of `[A-Za-z0-9]` that carry 256 bits. */
export const bits256 = 43

/** Returns a random number of 48 bits, which JSON and every database represent exactly. */
export const randomNumber = (random: RandomSource): number =>
  Buffer.from(random(6)).readUIntBE(0, 6)

/**
 * Returns a random string of `[A-Za-z0-9]`. It contains no dot, so that it is never mistaken for a JWT, and no
 * character that clients encode differently in a Basic header.
 * @param characters an alternative alphabet of at most 256 characters
 */
export const randomString = (
  length: number,
  random: RandomSource,
  characters: string = alphabet,
): string => {
  // Reject larger bytes, which would favour the first characters.
  const end = 256 - (256 % characters.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random(length + 16)) {
      if (byte < end && text.length < length) text += characters[byte % characters.length]
    }
  }
  return text
}
