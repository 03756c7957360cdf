import { sha256 } from '../../crypto/digest.ts'
import type { SignedIn } from '../../model/auth.ts'

/**
 * Returns the identifier of a session in ID tokens and logout tokens (OpenID Connect Back-Channel Logout §2.1). The ID of
 * the session cannot be derived from it.
 */
export const sidOf = ({ sessionId }: Pick<SignedIn, 'sessionId'>): string =>
  sha256(`openid sid ${sessionId}`)
