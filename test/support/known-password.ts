import { PasswordHasher } from '../../src/crypto/password.ts'
import type { KeyRing } from '../../src/crypto/sealed.ts'
import { passwordClaims } from '../../src/records/claims.ts'

/** The password of the users that tests find there. */
export const password = 'correct horse battery staple'

// Hashed once in each process: that is slow on purpose, and every server of the tests has such a user.
let hash: Promise<string> | undefined

/** What the database keeps of it for a user. */
export const sealedPassword = async (
  keys: KeyRing,
  user: Parameters<typeof passwordClaims>[0],
): Promise<string> => {
  hash ??= new PasswordHasher().hash(password)
  return keys.seal('row', await hash, passwordClaims(user))
}
