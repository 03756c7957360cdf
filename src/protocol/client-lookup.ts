import type { Client } from '../model/client.ts'
import type { FoundToken } from '../model/token.ts'
import type { User } from '../model/user.ts'

/** The specification's provider operations, the host's own where it replaced them. */
export interface ProviderOperations {
  getClient(clientId: string): Promise<Client | undefined>
  /** By the access token; by the refresh token where that is absent. */
  getToken(by: {
    readonly accessToken?: string
    readonly refreshToken?: string
  }): Promise<FoundToken | undefined>
  /** For the `password` grant alone. */
  getUser(email: string, password: string): Promise<User | undefined>
}

/** What a client is looked up for, where that makes a difference to who looks. */
export interface ClientLookup {
  /** The address of who asks. */
  readonly address?: string
  /** Whether a user is to be asked for an authorization; otherwise the client goes on with one that it has. */
  readonly forAuthorization?: boolean
}

/** Finds clients: by the extensions first, then by the provider operation. */
export interface ClientFinder {
  /** @throws OAuthError if the ID names no client, or if the client could not be looked up now */
  getClient(clientId: string, lookup?: ClientLookup): Promise<Client | undefined>
}
