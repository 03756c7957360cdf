import { randomBytes } from 'node:crypto'

/** A source of random bytes: an argument of the server, so that a test can repeat a value. */
export type RandomSource = (bytes: number) => Uint8Array

export const systemRandom: RandomSource = (bytes) => randomBytes(bytes)

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Characters of `[A-Za-z0-9]` that carry 256 bits. */
export const bits256 = 43

/**
 * A random string of `[A-Za-z0-9]`: no dot, so it is never mistaken for a JWT, and nothing that
 * clients encode differently in a Basic header.
 */
export const randomString = (length: number, random: RandomSource): string => {
  let text = ''
  while (text.length < length) {
    for (const byte of random(length + 16)) {
      // 248 is the largest multiple of 62: what is above it would favour the first characters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}
