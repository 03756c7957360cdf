import type { SaveToken } from '../model/save-token.ts'
import type { ProviderOperations } from '../protocol/client-lookup.ts'
import type { Records } from '../records/records.ts'

/** How a host takes the specification's provider operations into its own hands. */
export interface ProviderOptions {
  /** Replaces the specification's `get_client`; `next` is the built-in one. */
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

/** The provider operations: the built-in ones, or the host's where it gave its own. */
export const providerOperations = (
  options: ProviderOptions,
  { clients, tokens, users }: Records,
): ProviderOperations => {
  const { getClient, getToken, getUser } = options
  const own: ProviderOperations = {
    // The client row behind a personal token is a client at no endpoint.
    async getClient(clientId) {
      const client = await clients.find(clientId)
      return client?.isPersonal ? undefined : client
    },
    getToken: (by) => tokens.find(by),
    getUser: (email, password) => users.withPassword(email, password),
  }
  return {
    getClient: getClient ? (clientId) => getClient(clientId, own.getClient) : own.getClient,
    getToken: getToken ? (by) => getToken(by, own.getToken) : own.getToken,
    getUser: getUser ? (email, password) => getUser(email, password, own.getUser) : own.getUser,
  }
}
