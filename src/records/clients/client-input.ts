import type { Client } from '../../model/client.ts'
import {
  type blankClient,
  type ClientFields,
  clientInput,
  type EditableFields,
} from '../../model/entities/client.ts'
import { accepted, listOf, object, onlyMembers, text } from '../../model/members.ts'
import type { OpenIdClientMetadata } from '../../model/openid-client-metadata.ts'

/** The fields of a new client. Omitted fields get the specified default. */
export interface ClientInput extends EditableFields {
  readonly name: string
  /** The https URL of the logo, or empty. The server fetches the image when an administrator verifies the client. */
  readonly logoUri?: string
  /** A list, or a text with one URI per line. The first URI is the default. */
  readonly redirectUris?: string | readonly string[]
  /** The metadata of OpenID Connect, such as `post_logout_redirect_uris`. Null removes a member. */
  readonly openid?: { readonly [N in keyof OpenIdClientMetadata]: OpenIdClientMetadata[N] | null }
}

/** Refuses unknown fields of a client. @throws TypeError */
export const checkClientInput = onlyMembers<ClientInput>('clients', {
  ...clientInput.members,
  logoUri: text,
  redirectUris: accepted(
    'a string or an array of strings',
    (value) => text.fits(value) || listOf(text).problems('', value).length === 0,
  ),
  openid: object,
})

/** The fields of a client that no user registered: its origin, registration token and metadata. */
export type Registration = Pick<ClientFields, 'origin' | 'registrationToken' | 'metadata'>

/** A client with its new secret. Later look-ups do not return the secret. */
export interface ClientWithSecret {
  readonly client: Client
  /** Empty for a client that does not authenticate with a secret: a public client, or a client with keys. */
  readonly clientSecret: string
}

/** An application in a list. */
export interface ListedClient {
  readonly client: Client
  /**
   * The number of tokens of the client, without personal, internal and exchanged tokens, counted up to `countLimit`.
   */
  readonly users: number
}

/** The validated fields of a client. Keys, IDs and secrets are added when the client is written. */
export type CheckedFields = typeof blankClient
