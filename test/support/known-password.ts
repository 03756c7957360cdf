import { argon2Sync } from 'node:crypto'
import { PasswordHasher } from '../../src/crypto/passwords/password.ts'
import type { KeyRing } from '../../src/crypto/sealed.ts'
import { passwordClaims } from '../../src/records/seals/claims.ts'

/** The password of the users that test servers create. */
export const password = 'correct horse battery staple'

// Hash the password only once per process, because hashing is slow and every test server creates such a user.
let hash: Promise<string> | undefined

/** Returns the sealed hash of the password, as it is stored for a user. */
export const sealedPassword = async (
  keys: KeyRing,
  user: Parameters<typeof passwordClaims>[0],
): Promise<string> => {
  hash ??= new PasswordHasher().hash(password)
  return keys.seal('row', await hash, passwordClaims(user))
}

/** Returns a sealed hash of minimal cost, for tests with many guesses. */
export const sealedCheaply = (
  keys: KeyRing,
  user: Parameters<typeof passwordClaims>[0],
): ReturnType<KeyRing['seal']> => {
  const nonce = Buffer.alloc(16)
  const cost = { memory: 64, passes: 1, parallelism: 1, tagLength: 32 }
  const tag = argon2Sync('argon2id', { message: password, nonce, ...cost })
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return keys.seal('row', `$argon2id$v=19$m=64,t=1,p=1$${salt}$${hash}`, passwordClaims(user))
}
