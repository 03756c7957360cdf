import { randomBytes, randomFillSync } from 'node:crypto'

/** A source of random bytes. Tests replace it with a deterministic source. */
export type RandomSource = (bytes: number) => Uint8Array

const pool = new Uint8Array(4096)
let used = pool.length

/** Returns random bytes of the operating system. A pool saves system calls, which are slow. */
export const systemRandom: RandomSource = (bytes) => {
  if (bytes > pool.length) return randomBytes(bytes)
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const drawn = pool.slice(used, used + bytes)
  // Erase the returned bytes from the pool.
  pool.fill(0, used, used + bytes)
  used += bytes
  return drawn
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The number of random characters of `[A-Za-z0-9]` that contain 256 bits. */
export const bits256 = 43

/** Returns a random integer of 48 bits, which JSON and every database can represent exactly. */
export const randomNumber = (random: RandomSource): number =>
  Buffer.from(random(6)).readUIntBE(0, 6)

/**
 * Returns a random string of `[A-Za-z0-9]`. Without a dot, the string cannot be mistaken for a JWT. Without special
 * characters, all clients encode the string identically in a Basic header.
 * @param characters an alternative alphabet of at most 256 characters
 */
export const randomString = (
  length: number,
  random: RandomSource,
  characters: string = alphabet,
): string => {
  // Skip bytes from `end` upwards, because these bytes would make the first characters of the alphabet more likely.
  const end = 256 - (256 % characters.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random(length + 16)) {
      if (byte < end && text.length < length) text += characters[byte % characters.length]
    }
  }
  return text
}
