import { z } from 'zod'
import { emailScope } from '../../../model/scope.ts'
import { userIdIn } from '../../../model/sector.ts'
import { component, text } from '../../../pages/shapes/shape.ts'
import { sectorOfToken } from '../../../records/tokens/sector-of-token.ts'
import { tokenOperation } from '../../openapi/operations.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { jsonResponse } from '../responses/responses.ts'
import { tokenHolder, tokenUser } from '../token/token-holder.ts'

/** Returns the user, client and scopes of the presented token. The scope `user:email` adds the e-mail address. */
export const infoEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/info`,
  methods: ['GET'],
  errors: 'challenge',
  cors: true,
  async handle(request, server) {
    const { user, client, scopes, token } = await tokenHolder(request, server)
    // A client with pairwise subjects must not learn the ID of the user.
    const registered =
      server.settings.openidConnect && token.sector === null && client
        ? await server.getClient(client.clientId)
        : undefined
    const sector = registered ? await sectorOfToken(token, registered, server.store) : token.sector
    return jsonResponse({
      user: user && {
        id: await userIdIn(sector, user.id, server),
        ...(scopes?.includes(emailScope.id) && {
          email: user.email,
          email_verified: user.emailVerified,
        }),
      },
      client: client && { client_id: client.clientId, name: client.name },
      scopes,
    })
  },
  describe: () => ({
    get: tokenOperation(
      { operationId: 'info', summary: 'Returns the user, client and scopes of a token' },
      'The holder of the token.',
      component(
        'TokenHolder',
        z.strictObject({
          user: tokenUser().nullable(),
          client: z
            .strictObject({ client_id: text, name: text })
            .nullable()
            .describe('Null for a personal token.'),
          scopes: z.array(text),
        }),
      ),
    ),
  }),
}
