import { checksumLength, checksumOf } from './checksum.ts'
import { type RandomSource, randomString } from './random.ts'

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
  return prefix === '' ? body : `${body}${checksumOf(body)}`
}

/** Returns whether a value has the prefix of personal tokens but a wrong checksum. No personal token has this form. */
export const hasBadChecksum = (prefix: string, value: string): boolean => {
  if (prefix === '' || !value.startsWith(prefix)) return false
  return checksumOf(value.slice(0, -checksumLength)) !== value.slice(-checksumLength)
}
