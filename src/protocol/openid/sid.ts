import { sha256 } from '../../crypto/digest.ts'

/**
 * Returns the identifier of a session in ID tokens and logout tokens (OpenID Connect Back-Channel Logout §2.1). Clients
 * cannot derive the ID of the session from this identifier.
 * @param session the public ID of the session
 * @param sector the sector of a client with pairwise subjects. The identifier differs in each sector, because clients
 * could otherwise recognize the user by it
 */
export const sidOf = (session: string, sector: string | null): string =>
  sha256(sector === null ? `openid sid ${session}` : `openid sid ${session} ${sector}`)
