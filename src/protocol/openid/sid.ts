import { sha256 } from '../../crypto/digest.ts'

/**
 * Returns the identifier of a session in ID tokens and logout tokens (OpenID Connect Back-Channel Logout §2.1). Clients
 * cannot derive the ID of the session from this identifier.
 * @param session the public ID of the session
 */
export const sidOf = (session: string): string => sha256(`openid sid ${session}`)
