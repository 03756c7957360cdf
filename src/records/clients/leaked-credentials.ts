import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { Client } from '../../model/client.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { findByRegistrationToken, findBySecret, newClientSecret } from './client-rows.ts'
import { rewriteClient } from './rewrite-client.ts'
import { formerSecret, leakedAt } from './secret-fields.ts'

/**
 * Revokes the leaked secret with this digest. A current secret is replaced with a random secret that nobody knows, and
 * the tokens of `client_credentials` are also revoked. The owner must then reset the secret. If a former secret leaked,
 * only this secret is revoked.
 * @returns the client; undefined if no client currently has this secret
 */
export const endLeakedSecret = async (
  digest: Digest,
  context: RecordsContext,
): Promise<Client | undefined> => {
  // Most reported values are not client secrets, so do not open a transaction for them.
  if (!(await context.store.clients.find({ secret: digest }))) return undefined
  const { client } = await retryOnCollision(async () => ({
    client: await rewriteClient(
      (tx) => findBySecret(digest, tx),
      async (before, tx) => {
        const events = { 'client.secret_leaked': {} }
        if (before.clientSecret !== digest) return { fields: formerSecret(null), events }
        await tx.store.clients.endOwnTokens(before.clientId)
        const clientSecret = digestOf('client_secret', newClientSecret(tx))
        return { fields: { clientSecret, ...leakedAt(before, tx.clock()) }, events }
      },
      context,
    ),
  }))
  return client
}

/**
 * Revokes the leaked registration token with this digest. The client can no longer manage its registration. Returns
 * false if no client has this token.
 */
export const endRegistrationToken = async (
  digest: Digest,
  context: RecordsContext,
): Promise<boolean> => {
  const ended = await rewriteClient(
    (tx) => findByRegistrationToken(digest, tx),
    () => ({
      fields: { registrationToken: null },
      events: { 'client.registration_token_leaked': {} },
    }),
    context,
  )
  return ended !== undefined
}
