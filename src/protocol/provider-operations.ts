import type { SaveToken } from '../model/save-token.ts'
import type { Records } from '../records/all-records.ts'
import { findClient } from '../records/clients/client-rows.ts'
import type { RecordsContext } from '../records/context.ts'
import { tokenFinder } from '../records/tokens/token-finder.ts'
import type { ClientFinder, ProviderOperations } from './client-lookup.ts'
import type { ServerContext } from './server-context.ts'

/** Functions of the application that replace or wrap the provider operations of the specification. */
export interface ProviderOptions {
  /** Replaces the specification's `get_client`. The parameter `next` is the built-in operation. */
  readonly getClient?: (
    clientId: string,
    next: ProviderOperations['getClient'],
  ) => ReturnType<ProviderOperations['getClient']>
  /** Replaces the specification's `get_token`. */
  readonly getToken?: (
    by: { readonly accessToken?: string; readonly refreshToken?: string },
    next: ProviderOperations['getToken'],
  ) => ReturnType<ProviderOperations['getToken']>
  /** Replaces the specification's `get_user`. */
  readonly getUser?: (
    email: string,
    password: string,
    next: ProviderOperations['getUser'],
  ) => ReturnType<ProviderOperations['getUser']>
  /** Wraps the specification's `save_token`. */
  readonly saveToken?: SaveToken
}

/** Returns the provider operations. A function of the application replaces or wraps the built-in operation. */
export const providerOperations = (
  { getClient, getToken, getUser }: ProviderOptions,
  { users }: Records,
  context: RecordsContext,
): ProviderOperations => {
  const builtIn: ProviderOperations = {
    // The hidden client of a personal token must not be used at any endpoint.
    async getClient(clientId) {
      if (typeof clientId !== 'string')
        throw new TypeError('getClient accepts the client ID, a text.')
      const client = await findClient(clientId, context)
      return client?.isPersonal ? undefined : client
    },
    getToken: tokenFinder(context),
    getUser: users.withPassword.bind(users),
  }
  return {
    getClient: getClient ? (clientId) => getClient(clientId, builtIn.getClient) : builtIn.getClient,
    getToken: getToken ? (by) => getToken(by, builtIn.getToken) : builtIn.getToken,
    getUser: getUser
      ? (email, password) => getUser(email, password, builtIn.getUser)
      : builtIn.getUser,
  }
}

/** Returns a function that looks up a client in the extensions first, then with the provider operation. */
export const clientFinder = (
  provider: ProviderOperations,
  server: ServerContext,
): ClientFinder['getClient'] => {
  const finders = server.extensions.filter(({ findClient }) => findClient)
  return async (clientId, lookup = {}) => {
    for (const extension of finders) {
      const found = await extension.findClient?.(clientId, server, lookup)
      if (found !== undefined) return found ?? undefined
    }
    const client = await provider.getClient(clientId)
    // Ignore a stored client with a metadata document. Only the extension that validates the document may return this
    // client.
    return client?.origin === 'metadata_document' ? undefined : client
  }
}
