import { crc32 } from 'node:zlib'
import { type RandomSource, randomString } from './random.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** So many digits of base 62 hold any 32 bits. */
export const checksumLength = 6

const checksum = (text: string): string => {
  let rest = crc32(text)
  let written = ''
  while (written.length < checksumLength) {
    written = `${digits[rest % digits.length]}${written}`
    rest = Math.floor(rest / digits.length)
  }
  return written
}

/**
 * The value of a new personal token: `length` random characters. With a prefix they stand between it
 * and a checksum, so that a secret scanner knows one when it sees one.
 */
export const newPersonalTokenValue = (
  prefix: string,
  length: number,
  random: RandomSource,
): string => {
  const body = `${prefix}${randomString(length, random)}`
  return prefix === '' ? body : `${body}${checksum(body)}`
}

/** Whether a value has the prefix of personal tokens but not their checksum: mistyped, cut off, or made up. */
export const hasBadChecksum = (prefix: string, value: string): boolean => {
  if (prefix === '' || !value.startsWith(prefix)) return false
  return checksum(value.slice(0, -checksumLength)) !== value.slice(-checksumLength)
}
