import { type Digest, digestOf } from '../../crypto/digest.ts'
import { type Client, usesSecret } from '../../model/client.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { maxOverlap } from '../../model/overlap.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import type { ClientWithSecret } from './client-input.ts'
import {
  existingClient,
  newClientId,
  newClientSecret,
  openClient,
  sealedClient,
} from './client-rows.ts'
import { formerSecret, leakedAt, withSecret } from './secret-fields.ts'

/** Replaces the ID of the client. */
export const resetClientId = (clientId: string, context: RecordsContext): Promise<Client> =>
  rewritten(clientId, () => ({ clientId: newClientId(context) }), context)

/**
 * Replaces the secret of the client.
 * @throws InvalidField for an unknown client, a client without a secret, or an overlap that is not a whole number of
 * seconds up to 30 days
 */
export const resetClientSecret = async (
  clientId: string,
  overlap: number,
  context: RecordsContext,
): Promise<ClientWithSecret> => {
  if (!Number.isSafeInteger(overlap) || overlap < 0 || overlap > maxOverlap) {
    throw new InvalidField('overlap', 'The overlap must be from 0 seconds to 30 days.', {
      problem: 'overlapInvalid',
    })
  }
  let clientSecret = ''
  const renew = (before: Client): ClientFields => {
    if (!usesSecret(before)) throw new InvalidField('client_secret', withoutSecretReason(before))
    clientSecret = newClientSecret(context)
    const renewed = withSecret(before, clientSecret)
    if (overlap === 0) return renewed
    const until = context.clock() + overlap * 1000
    return { ...renewed, ...formerSecret(before.clientSecret, until) }
  }
  const client = await rewritten(clientId, renew, context, overlap)
  return { client, clientSecret }
}

const withoutSecretReason = ({ isConfidential }: Client): string =>
  isConfidential
    ? 'This client authenticates with keys and has no secret.'
    : 'A public client has no secret.'

/** Replaces the ID of the client, and the secret if the client has one, in one transaction. */
export const resetCredentials = async (
  clientId: string,
  context: RecordsContext,
): Promise<ClientWithSecret> => {
  let clientSecret = ''
  const renew = (before: Client): Partial<ClientFields> => {
    const clientIdOnly = { clientId: newClientId(context) }
    if (!usesSecret(before)) return clientIdOnly
    clientSecret = newClientSecret(context)
    return { ...withSecret(before, clientSecret), ...clientIdOnly }
  }
  const client = await rewritten(clientId, renew, context)
  return { client, clientSecret }
}

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
  const { store, audit, clock } = context
  // Most reported values are not client secrets, so do not open a transaction for them.
  if (!(await store.clients.findBySecret(digest))) return undefined
  const ended = await retryOnCollision(() =>
    store.transaction(async (tx) => {
      const row = await tx.clients.findBySecret(digest)
      const before = row && (await openClient(row, context))
      if (!before?.hasSecretDigest(digest, clock())) return { client: undefined }
      const isFormer = before.clientSecret !== digest
      const after = isFormer ? { ...before, ...formerSecret(null) } : withoutSecret(before, context)
      if (!(await tx.clients.update(before.clientId, sealedClient(after, context), clock())))
        return undefined
      if (!isFormer) await tx.clients.endOwnTokens(before.clientId)
      const about = { ...ofClient(before, before.owner), details: {} }
      await audit.add(tx, 'client.secret_leaked', about)
      return { client: before }
    }),
  )
  return ended.client
}

/**
 * Revokes the leaked registration token with this digest. The client can no longer manage its registration. Returns
 * false if no client has this token.
 */
export const endRegistrationToken = async (
  digest: Digest,
  context: RecordsContext,
): Promise<boolean> => {
  const { store, audit, clock } = context
  return store.transaction(async (tx) => {
    const row = await tx.clients.findByRegistrationToken(digest)
    const before = row && (await openClient(row, context))
    if (before?.registrationToken !== digest) return false
    const after = { ...before, registrationToken: null }
    if (!(await tx.clients.update(before.clientId, sealedClient(after, context), clock())))
      return false
    const about = { ...ofClient(before, before.owner), details: {} }
    await audit.add(tx, 'client.registration_token_leaked', about)
    return true
  })
}

// Returns the client with a random secret that nobody receives.
const withoutSecret = (client: Client, context: RecordsContext): ClientFields => ({
  ...client,
  clientSecret: digestOf('client_secret', newClientSecret(context)),
  ...leakedAt(client, context.clock()),
})

const rewritten = async (
  clientId: string,
  renew: (before: Client) => Partial<ClientFields>,
  context: RecordsContext,
  overlap = 0,
): Promise<Client> => {
  const { store, audit, clock } = context
  return retryOnCollision(() =>
    store.transaction(async (tx) => {
      const before = await existingClient(clientId, context, tx)
      const after: ClientFields = { ...before, ...renew(before) }
      if (!(await tx.clients.update(clientId, sealedClient(after, context), clock())))
        return undefined
      if (after.clientId !== clientId) {
        const about = { ...ofClient(after, before.owner), details: { former: clientId } }
        await audit.add(tx, 'client.id_reset', about)
      }
      if (after.clientSecret !== before.clientSecret) {
        const about = { ...ofClient(after, before.owner), details: { overlap } }
        await audit.add(tx, 'client.secret_reset', about)
      }
      return existingClient(after.clientId, context, tx)
    }),
  )
}
