import type { Client } from './client.ts'
import type { ClientMetadata } from './client-metadata.ts'

/** The request of a client to register itself or to change its registration. */
export interface RegistrationRequest {
  /** The IP address of the sender, resolved through trusted proxies. */
  readonly address: string
  readonly headers: Headers
  /** The token that authorizes the registration if `dynamicRegistration` is `token`. */
  readonly initialAccessToken: string | undefined
  /** The client that changes its registration; undefined for a new client. */
  readonly client: Client | undefined
}

/**
 * Accepts or refuses the registration of a client, or a change to a registration (RFC 7591, RFC 7592).
 * @returns false to refuse the registration; true to accept it; or metadata that overrides the metadata of the request.
 * The returned metadata may contain grant types that a client cannot request.
 */
export type RegisterClient = (
  metadata: ClientMetadata,
  request: RegistrationRequest,
) => boolean | ClientMetadata | Promise<boolean | ClientMetadata>
