import type { Client } from '../../model/client.ts'
import type {
  blankClient,
  ClientFields,
  TokenEndpointAuthMethod,
} from '../../model/entities/client.ts'
import {
  accepted,
  flag,
  listOf,
  object,
  onlyMembers,
  orNull,
  text,
  userId,
} from '../../model/members.ts'
import type { OpenIdClientMetadata } from '../../model/openid-client-metadata.ts'
import type { UserId } from '../../model/user.ts'

/** The fields of a new client. Omitted fields get the specified default. */
export interface ClientInput {
  readonly name: string
  readonly description?: string
  readonly website?: string
  /** The https URL of the logo, or empty. The server fetches the image when an administrator verifies the client. */
  readonly logoUri?: string
  readonly userId?: UserId | null
  readonly isConfidential?: boolean
  readonly isInternal?: boolean
  /** A list, or a text with one URI per line. The first URI is the default. */
  readonly redirectUris?: string | readonly string[]
  readonly defaultScopes?: readonly string[]
  /** Scopes that a user may refuse on the consent page while granting the other scopes. */
  readonly optionalScopes?: readonly string[]
  readonly allowedScopes?: readonly string[] | null
  readonly grantTypes?: readonly string[] | null
  readonly responseTypes?: readonly string[] | null
  readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null
  /**
   * The resource of the client's tokens if the client requests no resource. Null selects the setting `defaultResource`.
   */
  readonly defaultResource?: string | null
  /** The public keys as a JSON Web Key Set, for `private_key_jwt`. */
  readonly jwks?: string | null
  /** The https URL of the keys. */
  readonly jwksUri?: string | null
  /** The metadata of OpenID Connect, such as `post_logout_redirect_uris`. Null removes a member. */
  readonly openid?: { readonly [N in keyof OpenIdClientMetadata]: OpenIdClientMetadata[N] | null }
}

/** Refuses unknown fields of a client. @throws TypeError */
export const checkClientInput = onlyMembers<ClientInput>('clients', {
  name: text,
  description: text,
  website: text,
  logoUri: text,
  userId: orNull(userId),
  isConfidential: flag,
  isInternal: flag,
  redirectUris: accepted(
    'a string or an array of strings',
    (value) => text.fits(value) || listOf(text).problems('', value).length === 0,
  ),
  defaultScopes: listOf(text),
  optionalScopes: listOf(text),
  allowedScopes: orNull(listOf(text)),
  grantTypes: orNull(listOf(text)),
  responseTypes: orNull(listOf(text)),
  tokenEndpointAuthMethod: orNull(text),
  defaultResource: orNull(text),
  jwks: orNull(text),
  jwksUri: orNull(text),
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
