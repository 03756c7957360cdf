import { digestOf } from '../../crypto/digest.ts'
import { bits256, randomNumber, randomString } from '../../crypto/random.ts'
import { Client } from '../../model/client.ts'
import { blankClient } from '../../model/entities/client.ts'
import { ReferenceNotFound } from '../../store/contract/errors.ts'
import { keyAfter, removeFormerKey } from './change-client.ts'
import { checkedFields } from './checked-fields.ts'
import type { CheckedFields, ClientInput, Registration } from './client-input.ts'
import type { ClientRows } from './client-rows.ts'
import { insertRow } from './insert-client.ts'
import { hasSameIdentity } from './verified-identity.ts'

interface Description {
  readonly input: ClientInput
  readonly registration: Registration
  /** The stored client. */
  readonly stored: Client | undefined
}

/**
 * Builds a client from its metadata document.
 * @throws InvalidField, ScopeDoesNotExists
 */
export const describedClient = (
  rows: ClientRows,
  clientId: string,
  { input, registration, stored }: Description,
): Client => {
  const { random, clock } = rows.context
  const fields = {
    ...checkedFields(blankClient, input, rows.context),
    ...registration,
    clientKey: randomNumber(random),
    clientId,
    clientSecret: digestOf('client_secret', randomString(bits256, random)),
    createdAt: clock(),
  }
  const kept = stored ? keptOf(stored, fields) : {}
  return new Client({ ...fields, ...kept }, null, rows.clientContext)
}

/**
 * Writes a client that a metadata document describes, so that authorizations can refer to the client. A pinned client
 * remains unchanged. A disabled client remains disabled. A verified client remains verified only if its identity is
 * unchanged.
 * @throws ReferenceNotFound if the stored row was tampered with, or has another origin
 */
export const keepDescribed = async (rows: ClientRows, client: Client): Promise<void> => {
  const { store, clock } = rows.context
  if (await insertRow(rows, client, client.owner)) return
  const [former, after] = await store.transaction(async (tx) => {
    const before = await rows.find(client.clientId, tx)
    if (before?.origin !== client.origin)
      throw new ReferenceNotFound('The row of the client cannot be used.')
    // An administrator may have pinned the client after the server fetched the document.
    if (before.isPinned) return [before, before]
    const kept = {
      ...client,
      ...keptOf(before, client),
      clientKey: keyAfter(rows, before, client),
    }
    await tx.clients.update(client.clientId, rows.sealed(kept), clock())
    return [before, kept]
  })
  await removeFormerKey(rows, former, after)
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
