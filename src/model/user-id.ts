import type { User, UserId } from './user.ts'
import type { UserKeyType } from './user-table.ts'

/** Returns the user ID that a text represents; undefined if the text cannot be an ID of this type. */
export const userIdIn = (text: string, keyType: UserKeyType): UserId | undefined => {
  if (keyType === 'integer') {
    // Every number of 18 digits fits into a 64-bit integer. PostgreSQL would report an error for a larger number.
    if (!/^\d{1,18}$/.test(text)) return undefined
    // The stores also return a key above 2^53 as text, because JavaScript numbers cannot represent every larger key.
    return Number.isSafeInteger(Number(text)) ? Number(text) : text
  }
  if (keyType === 'uuid') return uuid.test(text) ? text : undefined
  return text === '' ? undefined : text
}

/**
 * The maximum number of bytes of a text ID. PostgreSQL refuses index entries of more than 2,704 bytes, and the path of a
 * page contains the ID percent-encoded.
 */
const maxIdBytes = 1_000

/**
 * Returns a user whose ID can be stored in every table.
 * @throws TypeError if the ID is too long
 */
export const withStorableId = <Found extends User | undefined>(user: Found): Found => {
  if (typeof user?.id !== 'string' || Buffer.byteLength(user.id) <= maxIdBytes) return user
  throw new TypeError(
    `The ID of a user has more than ${maxIdBytes} bytes. Use another column or value as the ID of the users.`,
  )
}

// PostgreSQL accepts a UUID without hyphens too.
const uuid = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i
