import type { User } from '../user.ts'
import { claimsOf, type RowOf, rowCodec } from './entity.ts'
import { flag, nullable, text, userKey } from './field.ts'

const fields = {
  id: userKey(),
  email: text(),
  active: flag(),
  emailVerified: flag(),
  isAdmin: flag(),
} satisfies Record<Exclude<keyof User, 'createdAt'>, unknown>
const row = { ...fields, passwordHash: nullable(text()), seal: text() }

/** The row of a built-in user. The property `createdAt` of a user exists only for users of an application. */
export type UserRow = RowOf<typeof row> & { readonly created_at: number }
export const userCodec = rowCodec(row)
/** The claims of a built-in user. The password hash has a separate seal. */
export const userClaims = claimsOf('user', fields)
/** The claims of a password hash. */
export const passwordClaims = claimsOf('password', fields, ['id', 'email'])
