import type { Client } from '../model/client.ts'
import type { FoundToken } from '../model/token.ts'
import type { User } from '../model/user.ts'

/** The provider operations of the specification, which the host may replace. */
export interface ProviderOperations {
  /** Returns the client with this ID; undefined for an unknown client. */
  getClient(clientId: string): Promise<Client | undefined>
  /** Finds a token by the value of its access token or its refresh token. */
  getToken(by: {
    readonly accessToken?: string
    readonly refreshToken?: string
  }): Promise<FoundToken | undefined>
  /** Finds a user by e-mail address and password, for the `password` grant. */
  getUser(email: string, password: string): Promise<User | undefined>
}

/** Options of a client look-up. */
export interface ClientLookup {
  /** The IP address of the sender of the request. */
  readonly address?: string
  /** Whether the client requests a new authorization. */
  readonly forAuthorization?: boolean
}

/** Finds clients: calls the extensions first, then the provider operation. */
export interface ClientFinder {
  /** @throws OAuthError if an extension does not accept the ID, or if the look-up failed */
  getClient(clientId: string, lookup?: ClientLookup): Promise<Client | undefined>
  /** Whether a token request may use the copy of its client in the memory of this process. @internal */
  readonly mayRecall: boolean
}
