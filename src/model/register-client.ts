import type { Client } from './client.ts'
import type { ClientMetadata } from './client-metadata.ts'

/** The request with which a client registers itself, or changes its registration. */
export interface RegistrationRequest {
  /** The address of the sender, resolved through trusted proxies. */
  readonly address: string
  readonly headers: Headers
  /** The token that authorizes the registration, where `dynamicRegistration` is `token`. */
  readonly initialAccessToken: string | undefined
  /** The client that changes its registration; undefined for a new one. */
  readonly client: Client | undefined
}

/**
 * Decides, for the application, on a client that registers itself or changes its registration (RFC 7591, RFC 7592).
 * @returns false to refuse the registration; true to accept it; or metadata that replaces those members of the request,
 * and may contain grant types that a client cannot request itself
 */
export type RegisterClient = (
  metadata: ClientMetadata,
  request: RegistrationRequest,
) => boolean | ClientMetadata | Promise<boolean | ClientMetadata>
