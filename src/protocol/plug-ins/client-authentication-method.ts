import type { Client } from '../../model/client.ts'
import type { TokenEndpointAuthMethod } from '../../model/entities/client.ts'
import type { ParameterList, Parameters } from '../../model/parameters.ts'
import type { ClientLookup } from '../client-lookup.ts'

/** One way for a client to authenticate at the token endpoint. RFC 6749 §2.3. */
export interface ClientAuthenticationMethodFor<Server> {
  readonly name: TokenEndpointAuthMethod
  readonly parameters: ParameterList
  /** Whether the server may call `proves` again for the same request, because the function has no side effects. */
  readonly isRepeatable?: boolean
  /** Returns the credentials in the request, or undefined if the request does not use this method. */
  presented(authorization: string | null, params: Parameters): ClientCredentials | undefined
  /** Verifies the credentials. Returns false for an unknown client, after the same computation as for a known client. */
  proves(
    credentials: ClientCredentials,
    client: Client | undefined,
    server: Server,
    lookup: ClientLookup,
  ): boolean | Promise<boolean>
  /** Members of the server's metadata. RFC 8414 §2. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The credentials of a client in a request. */
export interface ClientCredentials {
  readonly clientId: string
  /** The secret or the assertion; undefined for a public client. */
  readonly proof?: string
}
