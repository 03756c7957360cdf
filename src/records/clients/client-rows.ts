import type { Digest } from '../../crypto/digest.ts'
import { randomString } from '../../crypto/random.ts'
import { Client, type ClientOwner } from '../../model/client.ts'
import { countLimit } from '../../model/count-limit.ts'
import {
  type ClientFields,
  clientClaims,
  clientStateClaims,
  type SealedClient,
} from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { earliestRowOf, type UserId } from '../../model/user.ts'
import type { ClientWithOwner } from '../../store/contract/clients.ts'
import type { Page } from '../../store/contract/page.ts'
import { type RecordsContext, userOfRow } from '../context.ts'
import { refusedRow, reportTampered } from '../seals/refused-row.ts'
import type { ListedClient } from './client-input.ts'

/** Returns the client. Returns undefined for a missing row, and for a row that was tampered with. */
export const findClient = async (
  clientId: string,
  context: RecordsContext,
): Promise<Client | undefined> => {
  const found = await context.store.clients.find(clientId)
  return found && openClient(found, context)
}

/** @throws InvalidField if the client does not exist or belongs to a personal token */
export const existingClient = async (
  clientId: string,
  context: RecordsContext,
): Promise<Client> => {
  const client = await findClient(clientId, context)
  if (!client || client.isPersonal) throw new InvalidField('client_id', 'There is no such client.')
  return client
}

/** @throws InvalidField if the user does not exist */
export const ownerOf = async (
  userId: UserId | null,
  context: RecordsContext,
): Promise<ClientOwner | null> => {
  if (userId === null) return null
  const owner = await context.users.find(userId, context)
  if (!owner) throw new InvalidField('user_id', 'There is no such user.')
  return owner
}

/** Whether `recallClient` may ever return a client. */
export const canRecall = ({ store, users }: RecordsContext): boolean =>
  // The version does not change when the application deactivates an owner whom the store cannot read.
  users.areInStore && store.recallClient !== undefined

/**
 * Returns the client and the version that this process last read and verified, without a store operation; undefined if
 * no client is cached. Call it only if `canRecall` returns true. The client may have changed. Therefore, the caller must
 * pass the version to `tokens.issue`, and must call `findClient` before refusing a request. Returns no client of a
 * personal token, and no client with a metadata document.
 */
export const recallClient = (
  clientId: string,
  context: RecordsContext,
): { readonly client: Client; readonly version: string } | undefined => {
  const recalled = context.store.recallClient?.(clientId)
  const client = recalled && context.intact.clients.get(recalled.row)
  const isOwn = client && !client.isPersonal && client.origin !== 'metadata_document'
  return isOwn ? { client, version: recalled.version } : undefined
}

/** Returns the client of a row; undefined if the row was tampered with. */
export const openClient = async (
  row: ClientWithOwner,
  context: RecordsContext,
): Promise<Client | undefined> => {
  const { clientId, userId } = row.fields
  const known = context.intact.clients.get(row)
  // The row contains the owner. A refused owner is not cached, so that every request reports it.
  if (known && context.users.areInStore && (known.owner?.id ?? null) === userId) return known
  const owner = await userOfRow(row.fields, row.owner, context)
  return intactClient(row, owner, context) ?? refusedRow('client', row.seal, { clientId }, context)
}

const intactClient = (
  row: ClientWithOwner,
  owner: ClientOwner | null,
  context: RecordsContext,
): Client | undefined => {
  const { fields, seal } = row
  const { intact, keys } = context
  const known = intact.clients.get(row)
  if (known?.owner === owner) return known
  if (!known && !keys.isIntact(seal, clientClaims(fields))) return undefined
  const client = newClient(fields, owner, context)
  intact.clients.set(row, client)
  return client
}

export const newClient = (
  fields: ClientFields,
  owner: ClientOwner | null,
  { clientContext, store }: RecordsContext,
): Client =>
  new Client(fields, owner, {
    ...clientContext,
    countTokens: async (clientId, most) =>
      (await store.clients.countTokens([clientId], most)).get(clientId) ?? 0,
  })

/** Seals the fields for writing. */
export const sealedClient = (fields: ClientFields, { keys }: RecordsContext): SealedClient => ({
  fields,
  seal: keys.sealRow(clientClaims(fields)),
  stateSeal: keys.sealRow(clientStateClaims(fields)),
})

/**
 * Adds to each client the number of its tokens, without personal, internal and exchanged tokens, up to `countLimit`.
 */
export const listedClients = async (
  found: Promise<Page<ClientWithOwner>>,
  context: RecordsContext,
): Promise<Page<ListedClient>> => {
  const { items, next } = await found
  const clients = await intactClients(items, context)
  const users = await context.store.clients.countTokens(
    clients.map(({ clientId }) => clientId),
    countLimit,
  )
  return {
    items: clients.map((client) => ({ client, users: users.get(client.clientId) ?? 0 })),
    next,
  }
}

/** Returns the clients whose rows are intact. */
export const intactClients = async (
  rows: readonly ClientWithOwner[],
  context: RecordsContext,
): Promise<readonly Client[]> => {
  // Look up each user of the application once, even if the user owns several clients.
  const owners = new Map<UserId, Promise<ClientOwner | null>>()
  const ownerOfRow = async ({ fields, owner }: ClientWithOwner) => {
    const { userId, createdAt } = fields
    if (userId === null) return null
    const asked =
      owners.get(userId) ?? Promise.resolve(context.users.current(userId, owner, context))
    owners.set(userId, asked)
    const current = await asked
    return createdAt >= earliestRowOf(current) ? current : null
  }
  const clients = await Promise.all(
    rows.map(async (row) => {
      const { clientId } = row.fields
      const client = intactClient(row, await ownerOfRow(row), context)
      return client ?? reportTampered('client', { clientId }, context)
    }),
  )
  return clients.filter((client) => client !== undefined)
}

export const newClientId = ({ settings, random }: RecordsContext): string =>
  randomString(settings.clientIdSaltLen, random)

export const newClientSecret = ({ settings, random }: RecordsContext): string =>
  randomString(settings.clientSecretSaltLen, random)

/**
 * Returns the applications with these client IDs, of all owners, in the order of the IDs. Omits unknown IDs and
 * personal tokens.
 */
export const listedAmong = async (
  clientIds: readonly string[],
  context: RecordsContext,
): Promise<readonly ListedClient[]> => {
  const { items } = await listedClients(foundAmong(clientIds, context), context)
  return inOrder(clientIds, items, ({ client }) => client.clientId)
}

/** Does the same as `listedAmong`, without the numbers of tokens. */
export const clientsAmong = async (
  clientIds: readonly string[],
  context: RecordsContext,
): Promise<readonly Client[]> => {
  const { items } = await foundAmong(clientIds, context)
  const clients = await intactClients(items, context)
  return inOrder(clientIds, clients, ({ clientId }) => clientId)
}

const foundAmong = (clientIds: readonly string[], { store }: RecordsContext) =>
  store.clients.list('among', { clientIds }, { after: null, limit: clientIds.length })

/** Returns the client that manages its registration with the token of this digest. */
export const findByRegistrationToken = async (
  digest: Digest,
  context: RecordsContext,
): Promise<Client | undefined> => {
  const row = await context.store.clients.find({ registrationToken: digest })
  const client = row && (await openClient(row, context))
  return client?.registrationToken === digest ? client : undefined
}

/** Returns the client with the secret of this digest; undefined if no valid secret matches. */
export const findBySecret = async (
  digest: Digest,
  context: RecordsContext,
): Promise<Client | undefined> => {
  const row = await context.store.clients.find({ secret: digest })
  const client = row && (await openClient(row, context))
  return client?.hasSecretDigest(digest, context.clock()) ? client : undefined
}

const inOrder = <T>(
  ids: readonly string[],
  items: readonly T[],
  idOf: (item: T) => string,
): readonly T[] => {
  const known = new Map(items.map((item) => [idOf(item), item]))
  return ids.flatMap((id) => known.get(id) ?? [])
}
