import type { Client } from '../model/client.ts'
import type { FoundToken } from '../model/token.ts'
import type { User } from '../model/user.ts'

/** The provider operations of the specification, or the host's replacements. */
export interface ProviderOperations {
  getClient(clientId: string): Promise<Client | undefined>
  /** Finds a token by the access token, or by the refresh token if no access token is given. */
  getToken(by: {
    readonly accessToken?: string
    readonly refreshToken?: string
  }): Promise<FoundToken | undefined>
  /** Only for the `password` grant. */
  getUser(email: string, password: string): Promise<User | undefined>
}

/** The purpose of a client look-up. */
export interface ClientLookup {
  /** The address of the sender of the request. */
  readonly address?: string
  /** Whether the look-up is for a new authorization by a user; otherwise, the client uses an existing one. */
  readonly forAuthorization?: boolean
}

/** Finds clients: asks the extensions first, then the provider operation. */
export interface ClientFinder {
  /** @throws OAuthError if the ID names no client, or if the client could not be looked up now */
  getClient(clientId: string, lookup?: ClientLookup): Promise<Client | undefined>
}
