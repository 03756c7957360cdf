import { crc32 } from 'node:zlib'
import { type RandomSource, randomString } from './random.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The number of base-62 digits that represent 32 bits. */
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
 * Returns the value of a new personal token: the prefix and `length` random characters. A value with a prefix ends with
 * a checksum, by which secret scanners recognize the token.
 */
export const newPersonalTokenValue = (
  prefix: string,
  length: number,
  random: RandomSource,
): string => {
  const body = `${prefix}${randomString(length, random)}`
  return prefix === '' ? body : `${body}${checksum(body)}`
}

/** Returns whether a value has the prefix of personal tokens but a wrong checksum. No personal token has this form. */
export const hasBadChecksum = (prefix: string, value: string): boolean => {
  if (prefix === '' || !value.startsWith(prefix)) return false
  return checksum(value.slice(0, -checksumLength)) !== value.slice(-checksumLength)
}
