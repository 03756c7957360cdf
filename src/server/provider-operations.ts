import type { SaveToken } from '../model/save-token.ts'
import type { ProviderOperations } from '../protocol/client-lookup.ts'
import type { Records } from '../records/all-records.ts'

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
  options: ProviderOptions,
  { clients, tokens, users }: Records,
): ProviderOperations => {
  const { getClient, getToken, getUser } = options
  const builtIn: ProviderOperations = {
    // The hidden client of a personal token must not be used at any endpoint.
    async getClient(clientId) {
      if (typeof clientId !== 'string')
        throw new TypeError('getClient accepts the client ID, a text.')
      const client = await clients.find(clientId)
      return client?.isPersonal ? undefined : client
    },
    getToken: (by) => tokens.find(by),
    getUser: (email, password) => users.withPassword(email, password),
  }
  return {
    getClient: getClient ? (clientId) => getClient(clientId, builtIn.getClient) : builtIn.getClient,
    getToken: getToken ? (by) => getToken(by, builtIn.getToken) : builtIn.getToken,
    getUser: getUser
      ? (email, password) => getUser(email, password, builtIn.getUser)
      : builtIn.getUser,
  }
}
