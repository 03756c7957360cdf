import type { User } from '../user.ts'
import { claimsOf, entity, picked } from './entity.ts'
import { flag, nullable, number, sealed, text, userKey } from './field.ts'

const fields = {
  id: userKey(),
  email: text(),
  active: flag(),
  emailVerified: flag(),
  isAdmin: flag(),
} satisfies Record<Exclude<keyof User, 'createdAt'>, unknown>
/** The claims of a built-in user. The password hash has a separate seal. */
export const userClaims = claimsOf('user', fields)
const identity = picked(fields, ['id', 'email'])
/** The claims of a password hash. */
export const passwordClaims = claimsOf('password', identity)

const row = {
  ...fields,
  passwordHash: nullable(sealed<string>(passwordClaims)),
  seal: sealed<string>(userClaims),
}

/** The property `createdAt` of a user exists only for users of an application. */
export const userCodec = entity('oauth2server_user', row, { apart: { createdAt: number() } })
