import type { TokenFields } from '../../model/entities/token.ts'
import { type SectorClient, sectorOf } from '../../model/sector.ts'
import type { Store } from '../../store/store.ts'

/**
 * Returns the sector of a token. A token from before sectors were stored has the sector that the redirect URI of its
 * code proves, if the client still has this redirect URI.
 */
export const sectorOfToken = async (
  { sector, authorizationId }: Pick<TokenFields, 'sector' | 'authorizationId'>,
  client: SectorClient,
  { authorizations }: Pick<Store, 'authorizations'>,
): Promise<string | null> => {
  const own = sectorOf(client)
  if (sector !== null || own === null) return sector
  const authorization =
    authorizationId === null ? undefined : await authorizations.find(authorizationId)
  return sectorOf(client, authorization?.code?.redirectUri)
}
