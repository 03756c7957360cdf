import { digestOf } from '../../crypto/digest.ts'
import { randomNumber } from '../../crypto/random.ts'
import { type Client, type ClientOwner, usesSecret } from '../../model/client.ts'
import { blankClient, type ClientFields } from '../../model/entities/client.ts'
import type { UserId } from '../../model/user.ts'
import { ReferenceNotFound } from '../../store/contract/errors.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { definedOf } from './checked-fields.ts'
import type { CheckedFields, ClientWithSecret } from './client-input.ts'
import {
  findClient,
  newClient,
  newClientId,
  newClientSecret,
  ownerOf,
  sealedClient,
} from './client-rows.ts'
import { rewriteClient } from './rewrite-client.ts'

/** Inserts a client, and records the audit event. Returns false if the key, ID or secret of the client is taken. */
export const insertRow = async (
  client: ClientFields,
  owner: ClientOwner | null,
  context: RecordsContext,
): Promise<boolean> => {
  const { store, audit } = context
  const row = sealedClient(client, context)
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
  fields: CheckedFields,
  context: RecordsContext,
): Promise<ClientWithSecret> => {
  const { clock, random } = context
  const owner = await ownerOf(fields.userId, context)
  return retryOnCollision(async () => {
    const clientSecret = newClientSecret(context)
    const created: ClientFields = {
      ...fields,
      // Use the ID of the found user, because the passed ID may have another type than the IDs in the user table.
      userId: owner?.id ?? null,
      clientKey: randomNumber(random),
      clientId: newClientId(context),
      clientSecret: digestOf('client_secret', clientSecret),
      createdAt: clock(),
    }
    if (!(await insertRow(created, owner, context))) return undefined
    const client = newClient(created, owner, context)
    return { client, clientSecret: usesSecret(client) ? clientSecret : '' }
  })
}

/** Inserts the client of a personal token. */
export const insertPersonalClient = async (
  name: string,
  userId: UserId,
  scopes: readonly string[],
  context: RecordsContext,
): Promise<Client> => {
  const { client } = await insertClient(
    {
      ...blankClient,
      name,
      userId,
      isConfidential: false,
      isInternal: true,
      isPersonal: true,
      defaultScopes: scopes,
    },
    context,
  )
  return client
}

/** Changes validated fields of the client of a personal token. */
export const rewritePersonalClient = async (
  clientId: string,
  changed: { readonly [Name in 'name' | 'defaultScopes']?: ClientFields[Name] | undefined },
  context: RecordsContext,
): Promise<void> => {
  const change = () => ({ fields: definedOf(changed) as Partial<ClientFields> })
  if (!(await rewriteClient((tx) => findClient(clientId, tx), change, context)))
    throw new ReferenceNotFound('The client of the personal token was deleted.')
}
