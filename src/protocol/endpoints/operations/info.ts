import { emailScope } from '../../../model/scope.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { userIdFor } from '../../subject.ts'
import { jsonResponse } from '../responses/responses.ts'
import { tokenHolder } from '../token/token-holder.ts'

/** Returns the user, client and scopes of the presented token. The scope `user:email` adds the e-mail address. */
export const infoEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/info`,
  methods: ['GET'],
  errors: 'challenge',
  cors: true,
  async handle(request, server) {
    const { user, client, scopes } = await tokenHolder(request, server)
    // A client with pairwise subjects must not learn the ID of the user.
    const registered =
      server.settings.openidConnect && client && (await server.getClient(client.clientId))
    return jsonResponse({
      user: user && {
        id: registered ? await userIdFor(user.id, registered, server) : user.id,
        ...(scopes?.includes(emailScope.id) && {
          email: user.email,
          email_verified: user.emailVerified,
        }),
      },
      client: client && { client_id: client.clientId, name: client.name },
      scopes,
    })
  },
}
