import type { User } from './user.ts'

/** Claims about a user. OpenID Connect Core §5.1. */
export type UserClaims = Readonly<Record<string, unknown>>

/** The claims that each scope requests. OpenID Connect Core §5.4. */
export const claimsOfScope: Readonly<Record<string, readonly string[]>> = {
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'profile',
    'picture',
    'website',
    'gender',
    'birthdate',
    'zoneinfo',
    'locale',
    'updated_at',
  ],
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
}

/** Returns the scope that covers a claim; undefined for a claim that no scope covers. */
export const scopeOfClaim = (claim: string): string | undefined =>
  Object.keys(claimsOfScope).find((scope) => claimsOfScope[scope]?.includes(claim))

/**
 * A callback of the application that returns claims about a user: standard claims, and claims of the application. The
 * server sends a standard claim to the client only if a granted scope covers the claim.
 * @param asked the languages that the client prefers, the most preferred first (OpenID Connect Core §5.2)
 */
export type FindClaims = (
  user: User,
  scopes: readonly string[],
  asked: { readonly locales: readonly string[] },
) => UserClaims | undefined | Promise<UserClaims | undefined>
