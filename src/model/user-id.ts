import type { UserId } from './user.ts'
import type { UserKeyType } from './user-table.ts'

/** Returns the text as a user ID; undefined if it cannot be an ID of this type. */
export const userIdIn = (text: string, keyType: UserKeyType): UserId | undefined => {
  if (keyType === 'integer') {
    if (!/^\d{1,18}$/.test(text)) return undefined
    // Applications read larger keys as text, because a number could not distinguish all of them.
    return Number.isSafeInteger(Number(text)) ? Number(text) : text
  }
  if (keyType === 'uuid') return uuid.test(text) ? text : undefined
  return text === '' ? undefined : text
}

const uuid = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i
