import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The number of base-62 digits that represent 32 bits. */
export const checksumLength = 6

/** Returns the CRC-32 of a text as base-62 digits. A checksum detects errors; anyone can compute it. */
export const checksumOf = (text: string): string => {
  let rest = crc32(text)
  let written = ''
  while (written.length < checksumLength) {
    written = `${digits[rest % digits.length]}${written}`
    rest = Math.floor(rest / digits.length)
  }
  return written
}
