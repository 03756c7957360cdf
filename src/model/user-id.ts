import type { UserId } from './user.ts'
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

// PostgreSQL accepts a UUID without hyphens too.
const uuid = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i
