import { digestOf } from '../../crypto/digest.ts'
import { bits256, randomNumber, randomString } from '../../crypto/random.ts'
import type { Client } from '../../model/client.ts'
import { blankClient } from '../../model/entities/client.ts'
import { ReferenceNotFound } from '../../store/contract/errors.ts'
import type { RecordsContext } from '../context.ts'
import { checkedFields } from './checked-fields.ts'
import type { CheckedFields, ClientInput, Registration } from './client-input.ts'
import { findClient, newClient } from './client-rows.ts'
import { insertRow } from './insert-client.ts'
import { rewriteClient } from './rewrite-client.ts'
import { hasSameIdentity } from './verified-identity.ts'

interface Description {
  readonly input: ClientInput
  readonly registration: Registration
  /** The stored client, with the fields that the metadata document cannot determine. */
  readonly stored?: Client | undefined
}

/**
 * Builds a client from its metadata document.
 * @throws InvalidField, ScopeDoesNotExists
 */
export const clientOfDocument = (
  clientId: string,
  { input, registration, stored }: Description,
  context: RecordsContext,
): Client => {
  const { random, clock } = context
  const fields = {
    ...checkedFields(blankClient, input, context),
    ...registration,
    clientKey: randomNumber(random),
    clientId,
    clientSecret: digestOf('client_secret', randomString(bits256, random)),
    createdAt: clock(),
  }
  const kept = stored ? keptOf(stored, fields) : {}
  return newClient({ ...fields, ...kept }, null, context)
}

/**
 * Stores a client with a metadata document, so that authorizations can refer to the client. A pinned client
 * remains unchanged. A disabled client remains disabled. A verified client remains verified only if its identity is
 * unchanged. Does nothing for other clients, because they are already stored.
 * @throws ReferenceNotFound if the stored row was tampered with, or has another origin
 */
export const keepClient = async (client: Client, context: RecordsContext): Promise<void> => {
  if (client.origin !== 'metadata_document') return
  if (await insertRow(client, client.owner, context)) return
  await rewriteClient(
    async (tx) => {
      const before = await findClient(client.clientId, tx)
      if (before?.origin === client.origin) return before
      throw new ReferenceNotFound('The row of the client cannot be used.')
    },
    // An administrator may have pinned the client after the server fetched the document.
    (before) =>
      before.isPinned ? undefined : { fields: { ...client, ...keptOf(before, client) } },
    context,
  )
}

// Returns the fields that the server determines instead of the document.
const keptOf = (stored: Client, described: CheckedFields) => {
  const isVerified =
    stored.isVerified && hasSameIdentity(withoutTime(stored), withoutTime(described))
  return {
    clientKey: stored.clientKey,
    clientSecret: stored.clientSecret,
    createdAt: stored.createdAt,
    defaultResource: stored.defaultResource,
    isDisabled: stored.isDisabled,
    isPinned: stored.isPinned,
    isVerified,
    logo: isVerified ? stored.logo : null,
  }
}

// Ignore the time of the last fetch, which is not part of the document.
const withoutTime = (client: CheckedFields): CheckedFields => ({
  ...client,
  metadata: JSON.stringify({ ...JSON.parse(client.metadata), confirmed_at: undefined }),
})
