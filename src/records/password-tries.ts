import type { ServerContext } from '../extension.ts'
import { emailKey } from '../model/field-rules.ts'

/**
 * Checks a password, unless too many were wrong: of this account from this address, or from this address at all.
 * Nobody elsewhere can lock the account.
 * @returns what the check found
 * @throws OAuthError 429 with `Retry-After`; nothing is hashed then
 */
export const tryPassword = async <U>(
  account: string,
  { address }: { readonly address: string },
  { limits }: Pick<ServerContext, 'limits'>,
  check: () => Promise<U | undefined>,
): Promise<U | undefined> => {
  const end = limits.begin('wrongPasswords', address)
  try {
    return await tried(account, address, limits, check)
  } finally {
    end()
  }
}

const tried = async <U>(
  account: string,
  address: string,
  limits: ServerContext['limits'],
  check: () => Promise<U | undefined>,
): Promise<U | undefined> => {
  // Before it is known whether it is right, so that tries at once are no more than those one after the other.
  const giveBack = await limits.attempt(
    'wrongPasswordsOfAccount',
    address,
    emailKey(account) ?? account,
  )
  let user: U | undefined
  try {
    user = await check()
  } catch (error) {
    // It was not judged, so it counts for nobody.
    await giveBack()
    throw error
  }
  if (user) await giveBack()
  else await limits.countFailure('wrongPasswords', address)
  return user
}
