import type { Client } from './client.ts'
import type { ClientMetadata } from './client-metadata.ts'

/** Where the metadata of a client comes from that registers itself. */
export interface RegistrationRequest {
  /** The address that it came from, from behind trusted proxies. */
  readonly address: string
  readonly headers: Headers
  /** What it presented to be let in, where `dynamicRegistration` is `token`. */
  readonly initialAccessToken: string | undefined
  /** The client that changes its registration; undefined for a new one. */
  readonly client: Client | undefined
}

/**
 * The application's say about a client that registers itself, or changes its registration (RFC 7591, RFC 7592).
 * @returns false refuses it, true takes it; metadata takes the place of those members of its own, and may give it grant
 * types that no client can give itself
 */
export type RegisterClient = (
  metadata: ClientMetadata,
  request: RegistrationRequest,
) => boolean | ClientMetadata | Promise<boolean | ClientMetadata>
