import type { Client } from '../../src/model/client.ts'
import type { ClientInput, Registration } from '../../src/records/clients/client-input.ts'
import { clientOfDocument, keepClient } from '../../src/records/clients/self-described.ts'
import { internals, type RecordsContext } from '../../src/records/context.ts'
import type { AuthorizationServer } from '../../src/server/authorization-server.ts'
import type { Store } from '../../src/store/store.ts'

/** Returns the context of the records of a server. */
export const contextOf = (server: Pick<AuthorizationServer, typeof internals>): RecordsContext =>
  server[internals]

/** Returns the store of a server. */
export const storeOf = (server: Pick<AuthorizationServer, typeof internals>): Store =>
  server[internals].store

/** Stores a client that a metadata document describes. */
export const keepDescribed = async (
  server: Pick<AuthorizationServer, typeof internals>,
  clientId: string,
  input: ClientInput,
  registration: Registration,
): Promise<Client> => {
  const client = clientOfDocument(clientId, { input, registration }, contextOf(server))
  await keepClient(client, contextOf(server))
  return client
}
