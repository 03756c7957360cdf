import { argon2Sync } from 'node:crypto'
import { PasswordHasher } from '../../src/crypto/passwords/password.ts'
import type { KeyRing } from '../../src/crypto/sealed.ts'
import { passwordClaims } from '../../src/model/entities/user.ts'

/** The password of the users that test servers create. */
export const password = 'correct horse battery staple'

type User = Parameters<typeof passwordClaims>[0]

const cheapHash = (): string => {
  const nonce = Buffer.alloc(16)
  const cost = { memory: 64, passes: 1, parallelism: 1, tagLength: 32 }
  const tag = argon2Sync('argon2id', { message: password, nonce, ...cost })
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return `$argon2id$v=19$m=64,t=1,p=1$${salt}$${hash}`
}

/**
 * Returns the sealed hash of the password, as it is stored for a user. The hash has a minimal cost, because thousands of
 * tests log in.
 */
export const sealedPassword = (keys: KeyRing, user: User): ReturnType<KeyRing['seal']> =>
  keys.seal('row', cheapHash(), passwordClaims(user))

/** Returns the sealed hash of the password with the cost of the server, for tests that depend on the time of a login. */
export const sealedAtFullCost = async (keys: KeyRing, user: User): Promise<string> =>
  keys.seal('row', await new PasswordHasher().hash(password), passwordClaims(user))
