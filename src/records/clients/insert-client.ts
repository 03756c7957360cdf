import { digestOf } from '../../crypto/digest.ts'
import { randomNumber } from '../../crypto/random.ts'
import { Client, type ClientOwner, usesSecret } from '../../model/client.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { retryOnCollision } from '../context.ts'
import type { CheckedFields, ClientWithSecret } from './client-input.ts'
import type { ClientRows } from './client-rows.ts'

/** Inserts a client, and records the audit event. Returns false if the key, ID or secret of the client is taken. */
export const insertRow = async (
  rows: ClientRows,
  client: ClientFields,
  owner: ClientOwner | null,
): Promise<boolean> => {
  const { store, audit } = rows.context
  const row = rows.sealed(client)
  // For the client of a personal token, the audit log only records the personal token.
  if (client.isPersonal) return store.clients.insert(row)
  return store.transaction(async (tx) => {
    if (!(await tx.clients.insert(row))) return false
    const { origin } = client
    await audit.add(tx, 'client.created', { ...ofClient(client, owner), details: { origin } })
    return true
  })
}

/** Writes a new client with a generated ID and secret. Nobody receives the secret of a client that does not use it. */
export const insertClient = async (
  rows: ClientRows,
  fields: CheckedFields,
): Promise<ClientWithSecret> => {
  const { store, clock } = rows.context
  const owner = await rows.ownerOf(fields.userId, store)
  return retryOnCollision(async () => {
    const clientSecret = rows.newSecret()
    const created: ClientFields = {
      ...fields,
      // Use the ID of the found user, because the passed ID may have another type than the IDs in the user table.
      userId: owner?.id ?? null,
      clientKey: randomNumber(rows.context.random),
      clientId: rows.newId(),
      clientSecret: digestOf('client_secret', clientSecret),
      createdAt: clock(),
    }
    if (!(await insertRow(rows, created, owner))) return undefined
    const client = new Client(created, owner, rows.clientContext)
    return { client, clientSecret: usesSecret(client) ? clientSecret : '' }
  })
}
