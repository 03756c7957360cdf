import { type Digest, digestOf } from '../../crypto/digest.ts'
import { type Client, usesSecret } from '../../model/client.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { maxOverlap } from '../../model/overlap.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { retryOnCollision } from '../context.ts'
import type { ClientWithSecret } from './client-input.ts'
import type { ClientRows } from './client-rows.ts'
import { formerSecret, leakedAt, withSecret } from './secret-fields.ts'

/** Replaces the ID of the client. */
export const resetClientId = (rows: ClientRows, clientId: string): Promise<Client> =>
  rewritten(rows, clientId, () => ({ clientId: rows.newId() }))

/**
 * Replaces the secret of the client.
 * @throws InvalidField for an unknown client, a client without a secret, or an overlap that is not a whole number of
 * seconds up to 30 days
 */
export const resetClientSecret = async (
  rows: ClientRows,
  clientId: string,
  overlap: number,
): Promise<ClientWithSecret> => {
  if (!Number.isSafeInteger(overlap) || overlap < 0 || overlap > maxOverlap) {
    throw new InvalidField('overlap', 'The overlap must be from 0 seconds to 30 days.', {
      problem: 'overlapInvalid',
    })
  }
  let clientSecret = ''
  const renew = (before: Client): ClientFields => {
    if (!usesSecret(before)) throw new InvalidField('client_secret', withoutSecretReason(before))
    clientSecret = rows.newSecret()
    const renewed = withSecret(before, clientSecret)
    if (overlap === 0) return renewed
    const until = rows.context.clock() + overlap * 1000
    return { ...renewed, ...formerSecret(before.clientSecret, until) }
  }
  const client = await rewritten(rows, clientId, renew, overlap)
  return { client, clientSecret }
}

const withoutSecretReason = ({ isConfidential }: Client): string =>
  isConfidential
    ? 'This client authenticates with keys and has no secret.'
    : 'A public client has no secret.'

/** Replaces the ID of the client, and the secret if the client has one, in one transaction. */
export const resetCredentials = async (
  rows: ClientRows,
  clientId: string,
): Promise<ClientWithSecret> => {
  let clientSecret = ''
  const client = await rewritten(rows, clientId, (before) => {
    const clientIdOnly = { clientId: rows.newId() }
    if (!usesSecret(before)) return clientIdOnly
    clientSecret = rows.newSecret()
    return { ...withSecret(before, clientSecret), ...clientIdOnly }
  })
  return { client, clientSecret }
}

/**
 * Revokes a leaked secret.
 * @returns the client; undefined if no client currently has this secret
 */
export const endLeakedSecret = async (
  rows: ClientRows,
  digest: Digest,
): Promise<Client | undefined> => {
  const { store, audit, clock } = rows.context
  // Most reported values are not client secrets, so do not open a transaction for them.
  if (!(await store.clients.findBySecret(digest))) return undefined
  const ended = await retryOnCollision(() =>
    store.transaction(async (tx) => {
      const row = await tx.clients.findBySecret(digest)
      const before = row && (await rows.open(row))
      if (!before?.hasSecretDigest(digest, clock())) return { client: undefined }
      const isFormer = before.clientSecret !== digest
      const after = isFormer ? { ...before, ...formerSecret(null) } : withoutSecret(rows, before)
      if (!(await tx.clients.update(before.clientId, rows.sealed(after), clock()))) return undefined
      if (!isFormer) await tx.clients.endOwnTokens(before.clientId)
      const about = { ...ofClient(before, before.owner), details: {} }
      await audit.add(tx, 'client.secret_leaked', about)
      return { client: before }
    }),
  )
  return ended.client
}

/** Revokes a leaked registration token. Returns false if no client has this token. */
export const endRegistrationToken = async (rows: ClientRows, digest: Digest): Promise<boolean> => {
  const { store, audit, clock } = rows.context
  return store.transaction(async (tx) => {
    const row = await tx.clients.findByRegistrationToken(digest)
    const before = row && (await rows.open(row))
    if (before?.registrationToken !== digest) return false
    const after = { ...before, registrationToken: null }
    if (!(await tx.clients.update(before.clientId, rows.sealed(after), clock()))) return false
    const about = { ...ofClient(before, before.owner), details: {} }
    await audit.add(tx, 'client.registration_token_leaked', about)
    return true
  })
}

// Returns the client with a random secret that nobody receives.
const withoutSecret = (rows: ClientRows, client: Client): ClientFields => ({
  ...client,
  clientSecret: digestOf('client_secret', rows.newSecret()),
  ...leakedAt(client, rows.context.clock()),
})

const rewritten = async (
  rows: ClientRows,
  clientId: string,
  renew: (before: Client) => Partial<ClientFields>,
  overlap = 0,
): Promise<Client> => {
  const { store, audit, clock } = rows.context
  return retryOnCollision(() =>
    store.transaction(async (tx) => {
      const before = await rows.existing(clientId, tx)
      const after: ClientFields = { ...before, ...renew(before) }
      if (!(await tx.clients.update(clientId, rows.sealed(after), clock()))) return undefined
      if (after.clientId !== clientId) {
        const about = { ...ofClient(after, before.owner), details: { former: clientId } }
        await audit.add(tx, 'client.id_reset', about)
      }
      if (after.clientSecret !== before.clientSecret) {
        const about = { ...ofClient(after, before.owner), details: { overlap } }
        await audit.add(tx, 'client.secret_reset', about)
      }
      return rows.existing(after.clientId, tx)
    }),
  )
}
