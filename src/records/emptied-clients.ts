import type { UserId } from '../model/user.ts'
import type { Store } from '../store/store.ts'

/** Authorizations or tokens that one statement deletes at most. */
const mostAtOnce = 1_000
/** Clients of a user that are looked at together. */
const mostClients = 100

/**
 * Deletes what a client has been granted, bit by bit: of one that has very many, no single statement could
 * delete them together with the client. What ends early was to end anyway; the last few are left to whoever
 * deletes the client, since one that goes on asking for tokens would have some for ever.
 */
export const emptyClient = async (
  clientId: string,
  { authorizations, tokens }: Store,
): Promise<void> => {
  while ((await authorizations.deleteOfClient(clientId, mostAtOnce)) === mostAtOnce);
  while ((await tokens.deleteOfClient(clientId, mostAtOnce)) === mostAtOnce);
}

/** The same for every client that a user owns. */
export const emptyClientsOf = async (userId: UserId, store: Store): Promise<void> => {
  let after: string | null = null
  do {
    const { items, next } = await store.clients.ofOwner(userId, { after, limit: mostClients })
    for (const { fields } of items) await emptyClient(fields.clientId, store)
    after = next
  } while (after !== null)
}
