// RFC 8414: OAuth 2.0 Authorization Server Metadata

import { metadataResponse, withoutEmptyLists } from '../endpoints/responses/responses.ts'
import {
  meaningfulWhenEmpty,
  metadataSchema,
  serverMetadata,
} from '../endpoints/token/server-metadata.ts'
import { metadataOperation } from '../openapi/operations.ts'
import { responseOf } from '../openapi/responses.ts'
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
      describe: (server) =>
        metadataOperation(
          {
            operationId: 'getServerMetadata',
            summary: 'Returns the authorization server metadata (RFC 8414)',
          },
          { 200: responseOf('The document.', metadataSchema(server)) },
        ),
    },
  ],
}
