// RFC 7009: OAuth 2.0 Token Revocation

import { done } from '../../pages/shapes/shape.ts'
import { authorizationOfRotated, endAuthorization } from '../../records/tokens/end-tokens.ts'
import { jsonResponse } from '../endpoints/responses/responses.ts'
import {
  aboutTokenBody,
  authenticationMetadata,
  readAboutToken,
} from '../endpoints/token/about-token.ts'
import { clientOperation } from '../openapi/operations.ts'
import { responseOf } from '../openapi/responses.ts'
import type { Extension } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

/**
 * Revokes a token of the client, and the authorization of the token. With `revokeAccessTokenAlone`, or if a refresh has
 * replaced the access token, revokes only the access token. An unknown token, a revoked token and a token of another
 * client are not an error, because the client could not handle the error (RFC 7009 §2.2).
 */
const revoke = async (presented: string, clientId: string, server: ServerContext) => {
  const { tokens, settings } = server
  const access = await server.getToken({ accessToken: presented })
  const found = access ?? (await server.getToken({ refreshToken: presented }))
  if (!found) {
    // The client may have lost the response with the successor of a rotated refresh token.
    const authorization = await authorizationOfRotated(presented, server.records)
    return authorization?.clientId === clientId && endAuthorization(authorization, server.records)
  }
  const { token } = found
  // Users revoke personal tokens on the settings page.
  if (token.clientId !== clientId || token.isPersonal) return false
  // A client that revokes a replaced access token still uses the new access token.
  const isAlone = found.isFormer || settings.revokeAccessTokenAlone
  const revokesAccessOnly = access && isAlone && token.refreshExpires !== null
  if (revokesAccessOnly) return tokens.revokeAccess(found, presented)
  return tokens.revoke(token, access && presented)
}

/** Lets a client revoke its tokens, for example when the user logs out or uninstalls the client. */
export const revocation: Extension = {
  name: 'revocation',
  isOn: ({ revocation }) => revocation,
  metadata: ({ clientAuthentication }) =>
    authenticationMetadata('revocation_endpoint', clientAuthentication),
  endpoints: [
    {
      path: ({ oauthPrefix }) => `${oauthPrefix}/revoke`,
      methods: ['POST'],
      cors: true,
      errors: 'json',
      advertisedAs: 'revocation_endpoint',
      async handle(request, server) {
        const { client, token } = await readAboutToken(request, server)
        await revoke(token, client.clientId, server)
        return jsonResponse({})
      },
      describe: (server) => ({
        post: clientOperation({
          operationId: 'revoke',
          summary: 'Revokes a token of the client (RFC 7009)',
          requestBody: aboutTokenBody(server),
          responses: {
            200: responseOf('The token is revoked or is not a token of the client.', done),
          },
        }),
      }),
    },
  ],
}
