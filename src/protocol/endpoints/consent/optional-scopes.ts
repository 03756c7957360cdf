import type { Client } from '../../../model/client.ts'
import type { Consent } from '../../../model/entities/consent.ts'

/** Returns the requested scopes that the user may decline while granting the other scopes. */
export const optionalScopesOf = (
  requested: readonly string[],
  { optionalScopes }: Pick<Client, 'optionalScopes'>,
): readonly string[] => requested.filter((scope) => optionalScopes.includes(scope))

/**
 * Returns the requested scopes that a remembered consent grants. Returns undefined if the user has to decide again: a
 * requested scope is new, or a declined scope is no longer optional.
 */
export const rememberedScopes = (
  requested: readonly string[],
  client: Pick<Client, 'optionalScopes'>,
  { scopes, declinedScopes }: Pick<Consent, 'scopes' | 'declinedScopes'>,
): readonly string[] | undefined => {
  const optional = optionalScopesOf(requested, client)
  const granted = requested.filter((scope) => scopes.includes(scope))
  const isDecided = (scope: string): boolean =>
    granted.includes(scope) || (optional.includes(scope) && declinedScopes.includes(scope))
  return requested.every(isDecided) ? granted : undefined
}
