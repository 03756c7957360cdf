import type { Described } from '../described.ts'
import {
  about,
  choice,
  constant,
  count,
  flag,
  list,
  nullable,
  object,
  type Part,
  type Parts,
  text,
  userId,
} from '../schema.ts'

/** What the protocol endpoints are sent and answer. */
export const protocolSchemas = ({
  grantTypes,
  settings,
  metadata,
  resourceMetadata,
}: Described): Parts => ({
  TokenRequest: {
    type: 'object',
    properties: {
      grant_type: choice(grantTypes),
      ...tokenParameters(grantTypes),
      client_id: about('Of a client that does not authenticate by the Basic scheme.', text),
      client_secret: text,
    },
    required: ['grant_type'],
  },
  TokenAnswer: object(
    {
      access_token: text,
      token_type: choice(['Bearer', 'DPoP']),
      expires_in: about('Seconds.', count),
      scope: about('What was granted, with spaces between.', text),
      refresh_token: text,
      issued_token_type: about('Of a token exchange (RFC 8693).', text),
      user: object(
        { id: userId, email: text, email_verified: flag },
        { optional: ['email', 'email_verified'] },
      ),
    },
    { optional: ['expires_in', 'refresh_token', 'issued_token_type', 'user'] },
  ),
  Pong: object({ ping: constant('pong') }),
  TokenHolder: object({
    user: nullable(object({ id: userId })),
    client: about('Null for a personal token.', nullable(object({ client_id: text, name: text }))),
    scopes: list(text),
  }),
  ServerMetadata: about(
    'RFC 8414 §2. Extensions may add members.',
    open(serverMembers, { ...furtherServerMembers, ...membersOf(metadata) }),
  ),
  ResourceMetadata: about(
    'RFC 9728 §2.',
    open(resourceMembers, { ...furtherResourceMembers, ...membersOf(resourceMetadata) }),
  ),
  ...(settings.dynamicRegistration !== 'off' && {
    RegisteredClient: about(
      'RFC 7591 §3.2.1, with the metadata as it was taken.',
      open(
        {
          client_id: text,
          client_id_issued_at: count,
          registration_access_token: text,
          registration_client_uri: text,
        },
        { client_secret: text, client_secret_expires_at: count },
      ),
    ),
  }),
})

const tokenParameters = (grantTypes: readonly string[]): Parts => ({
  ...(grantTypes.includes('authorization_code') && {
    code: text,
    redirect_uri: text,
    code_verifier: about('RFC 7636.', text),
  }),
  ...(grantTypes.includes('refresh_token') && { refresh_token: text }),
  ...(grantTypes.includes('password') && { username: text, password: text }),
  scope: about('Scopes with spaces between.', text),
})

const serverMembers: Parts = {
  issuer: text,
  authorization_endpoint: text,
  token_endpoint: text,
  response_types_supported: list(text),
  grant_types_supported: list(text),
  token_endpoint_auth_methods_supported: list(text),
  code_challenge_methods_supported: list(text),
  authorization_response_iss_parameter_supported: flag,
}

// A list of nothing is left out.
const furtherServerMembers: Parts = {
  scopes_supported: list(text),
  response_modes_supported: list(text),
}

/** Members as what they are on this server. */
const membersOf = (metadata: Described['metadata']): Parts =>
  Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => {
      if (Array.isArray(value)) return [name, list(text)]
      return [name, typeof value === 'boolean' ? flag : text]
    }),
  )

const resourceMembers: Parts = {
  resource: text,
  authorization_servers: list(text),
  bearer_methods_supported: list(text),
}

const furtherResourceMembers: Parts = {
  scopes_supported: list(text),
  resource_name: text,
  resource_documentation: text,
}

/** An object with these members, perhaps some of those, and perhaps others. */
const open = (properties: Parts, optional: Parts = {}): Part => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
})
