import { claimsOfScope, scopeOfClaim, type UserClaims } from '../../model/standard-claims.ts'
import type { User } from '../../model/user.ts'
import type { HostHooks } from '../server-context.ts'
import type { OpenIdGrant } from './openid-request.ts'
import type { RequestedClaims } from './requested-claims.ts'

/** The names of claims that the protocol defines. The application cannot set these claims. */
const reserved = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'nbf',
  'jti',
  'azp',
  'nonce',
  'sid',
  'auth_time',
  'acr',
  'amr',
  'at_hash',
  'c_hash',
  's_hash',
  'events',
  '_claim_names',
  '_claim_sources',
]

/** Returns the claims about a user that the granted scopes cover, from the user record and from the application. */
export const claimsOfUser = async (
  user: User,
  scopes: readonly string[],
  grant: Pick<OpenIdGrant, 'claims' | 'claimsLocales' | 'impliedScopes'> | undefined,
  { claims }: Pick<HostHooks, 'claims'>,
): Promise<UserClaims> => {
  const locales = (grant?.claimsLocales ?? '').split(' ').filter((tag) => tag !== '')
  const given = await claims?.(user, scopes, { locales })
  const own = user.email === '' ? {} : { email: user.email, email_verified: user.emailVerified }
  const all = Object.entries({ ...own, ...given })
  const isGranted = isGrantedBy(scopes, grant)
  return Object.fromEntries(
    all.filter(([name, value]) => isPresent(value) && !reserved.includes(name) && isGranted(name)),
  )
}

// A claim without a value is omitted. OpenID Connect Core §5.3.2.
const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/**
 * Returns whether the scopes cover a claim. If a requested claim implied a scope, that scope covers only the requested
 * claims. The application decides on claims that no standard scope covers.
 */
const isGrantedBy =
  (scopes: readonly string[], grant: Pick<OpenIdGrant, 'claims' | 'impliedScopes'> | undefined) =>
  (name: string): boolean => {
    const scope = scopeOfClaim(name)
    if (scope === undefined) return true
    if (!scopes.includes(scope)) return false
    return !grant?.impliedScopes.includes(scope) || isNamed(name, grant.claims)
  }

const isNamed = (name: string, claims: RequestedClaims | undefined): boolean =>
  claims !== undefined &&
  [claims.userinfo, claims.id_token].some((place) => Object.hasOwn(place, name))

/** The names of all claims that a client can request. */
export const supportedClaims: readonly string[] = [
  'sub',
  'iss',
  'auth_time',
  'acr',
  'amr',
  ...Object.values(claimsOfScope).flat(),
]
