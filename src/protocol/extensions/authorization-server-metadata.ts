// RFC 8414: OAuth 2.0 Authorization Server Metadata

import { metadataResponse, withoutEmptyLists } from '../endpoints/responses/responses.ts'
import { meaningfulWhenEmpty, serverMetadata } from '../endpoints/token/server-metadata.ts'
import type { Extension } from '../plug-ins.ts'

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
        metadataResponse(withoutEmptyLists(serverMetadata(server), meaningfulWhenEmpty)),
    },
  ],
}
