import { z } from 'zod'
import { metadataResponse } from '../endpoints/responses/responses.ts'
import { metadataOperation } from '../openapi/operations.ts'
import { responseOf } from '../openapi/responses.ts'
import type { Extension } from '../plug-ins.ts'

/** Publishes the keys (RFC 7517 §5) with which clients verify ID tokens, and resource servers verify JWT access tokens. */
export const publishedKeys: Extension = {
  name: 'published-keys',
  isOn: ({ accessTokenFormat, openidConnect }) => accessTokenFormat === 'jwt' || openidConnect,
  endpoints: [
    {
      path: ({ oauthPrefix }) => `${oauthPrefix}/jwks`,
      methods: ['GET'],
      cors: true,
      errors: 'json',
      advertisedAs: 'jwks_uri',
      handle: async (_request, { signingKeys }) => metadataResponse(await signingKeys.published()),
      describe: () =>
        metadataOperation(
          {
            operationId: 'getKeys',
            summary: 'Returns the public keys that verify tokens (RFC 7517)',
          },
          { 200: responseOf('The keys.', z.strictObject({ keys: z.array(z.looseObject({})) })) },
        ),
    },
  ],
}
