// RFC 7009: OAuth 2.0 Token Revocation

import { jsonAnswer } from '../endpoints/responses/answers.ts'
import { authenticationMetadata, readAboutToken } from '../endpoints/token/about-token.ts'
import type { Extension } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

/**
 * Ends a token of the client's, with its authorization. What is not its own, unknown or ended already is no
 * error: the client could do nothing about it (RFC 7009 §2.2).
 */
const revoke = async (presented: string, clientId: string, server: ServerContext) => {
  const { tokens, settings } = server
  const access = await server.getToken({ accessToken: presented })
  const found = access ?? (await server.getToken({ refreshToken: presented }))
  if (!found) return tokens.revokeRotated(presented, clientId)
  const { token } = found
  // A personal token is its user's, and ends where that user manages it.
  if (token.clientId !== clientId || token.isPersonal) return false
  const isAlone = access && settings.revokeAccessTokenAlone && token.refreshExpires !== null
  return isAlone ? tokens.revokeAccess(found, presented) : tokens.revoke(token)
}

/** Lets a client give back its tokens: when its user logs out, or removes it. */
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
        return jsonAnswer({})
      },
    },
  ],
}
