import type { Credential } from '../../model/credential.ts'
import { endLeakedSecret, endRegistrationToken } from '../../records/clients/leaked-credentials.ts'
import { deviceAuthorizations } from '../../records/device-authorizations.ts'
import { endAuthorization, endCode, revokeToken } from '../../records/tokens/end-tokens.ts'
import { blockRestoring, makeFinal } from '../../records/tokens/ended-tokens.ts'
import type { ServerContext } from '../server-context.ts'

/**
 * Revokes a credential that leaked, with everything that it gives: a token with its authorization, a code with the tokens
 * that it was redeemed for. A deleted personal token cannot be restored any more.
 * @param event the name of the audit event of a token
 * @returns false if nothing was revoked, for instance because another request revoked the credential first
 */
export const endCredential = async (
  { kind, userId, tokenId, authorizationId, digest }: Credential,
  server: ServerContext,
  event?: 'token.deleted',
): Promise<boolean> => {
  const { sessions, shortLived, userLinks, store, records } = server
  if (digest !== null) {
    if (kind === 'session') return userId !== null && sessions.endOne(userId, digest)
    if (kind === 'client_secret') return (await endLeakedSecret(digest, records)) !== undefined
    if (kind === 'registration_token') return endRegistrationToken(digest, records)
    if (kind === 'user_link') return userLinks.end(digest)
    if (kind === 'authorization_code' || kind === 'device_code') {
      const codes =
        kind === 'device_code' ? deviceAuthorizations(server).requests : shortLived.codes
      const isEnded = await endCode(digest, await codes.getDigest(digest), records)
      await codes.deleteDigest(digest)
      return isEnded
    }
    // The user may have deleted this personal token. If the user restores it at the same time, revoke the restored token
    // below.
    if (await blockRestoring(digest, records)) return true
  }
  const byId = () => (tokenId === null ? undefined : store.tokens.find(tokenId))
  const row = await (digest === null ? byId() : store.tokens.findByAccess(digest))
  // If only the former value of a personal token leaked, the current value remains valid.
  if (row) return revokeToken(row, records, event)
  const authorization =
    authorizationId === null ? undefined : await store.authorizations.find(authorizationId)
  return authorization !== undefined && endAuthorization(authorization, records)
}

/**
 * Makes the deletion of the found personal tokens final: a deleted token that leaked must not come back, even if the
 * user does nothing on the next page.
 */
export const makeDeletionsFinal = async (
  found: readonly (Credential | undefined)[],
  { records }: Pick<ServerContext, 'records'>,
): Promise<void> => {
  for (const credential of found)
    if (credential?.kind === 'personal_token' && credential.digest)
      await makeFinal(credential.digest, records)
}
