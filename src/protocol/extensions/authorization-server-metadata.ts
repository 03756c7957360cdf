// RFC 8414: OAuth 2.0 Authorization Server Metadata

import { responseModeOf } from '../endpoints/authorization/authorization-request.ts'
import { metadataResponse, withoutEmptyLists } from '../endpoints/responses/responses.ts'
import {
  advertisedAddresses,
  metadataOfExtensions,
  supportedGrantTypes,
  supportedResponseTypes,
} from '../endpoints/token/supported.ts'
import type { Extension } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

/** Returns the capabilities of the enabled plug-ins. RFC 8414 §2. */
const metadata = (server: ServerContext): Readonly<Record<string, unknown>> => {
  const { issuer, scopes, clientAuthentication } = server
  const responseTypes = supportedResponseTypes(server)
  const implicit = responseTypes.includes('token') ? ['implicit'] : []
  return {
    issuer,
    ...advertisedAddresses(server),
    scopes_supported: scopes.requestable(),
    response_types_supported: responseTypes,
    response_modes_supported: responseTypes.map((type) => responseModeOf[type]),
    grant_types_supported: [...supportedGrantTypes(server), ...implicit],
    token_endpoint_auth_methods_supported: clientAuthentication.map(({ name }) => name),
    ...metadataOfExtensions(server),
  }
}

// Publish these lists even if they are empty: the first is required, and the second has a default (RFC 8414 §2).
const meaningfulWhenEmpty = ['response_types_supported', 'grant_types_supported']

export const authorizationServerMetadata: Extension = {
  name: 'authorization-server-metadata',
  endpoints: [
    {
      path: () => '/.well-known/oauth-authorization-server',
      wellKnown: ({ issuer }) => [issuer],
      methods: ['GET'],
      cors: true,
      errors: 'json',
      handle: async (_request, server) =>
        metadataResponse(withoutEmptyLists(metadata(server), meaningfulWhenEmpty)),
    },
  ],
}
