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
export const protocolSchemas = ({ grantTypes }: Described): Parts => ({
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
      token_type: constant('Bearer'),
      expires_in: about('Seconds.', count),
      scope: about('What was granted, with spaces between.', text),
      refresh_token: text,
      user: object(
        { id: userId, email: text, email_verified: flag },
        { optional: ['email', 'email_verified'] },
      ),
    },
    { optional: ['expires_in', 'refresh_token', 'user'] },
  ),
  Pong: object({ ping: constant('pong') }),
  TokenHolder: object({
    user: nullable(object({ id: userId })),
    client: about('Null for a personal token.', nullable(object({ client_id: text, name: text }))),
    scopes: list(text),
  }),
  ServerMetadata: about('RFC 8414 §2. Extensions may add members.', open(serverMembers)),
  ResourceMetadata: about('RFC 9728 §2.', open(resourceMembers)),
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
  scopes_supported: list(text),
  response_modes_supported: list(text),
  code_challenge_methods_supported: list(text),
  authorization_response_iss_parameter_supported: flag,
}

const resourceMembers: Parts = {
  resource: text,
  authorization_servers: list(text),
  scopes_supported: list(text),
  bearer_methods_supported: list(text),
}

/** An object with these members, and perhaps others. */
const open = (properties: Parts): Part => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
