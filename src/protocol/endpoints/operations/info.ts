import type { Endpoint } from '../../plug-ins.ts'
import { jsonResponse } from '../responses/responses.ts'
import { tokenHolder } from '../token/token-holder.ts'

/** Returns the user, client and scopes of the presented token. */
export const infoEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/info`,
  methods: ['GET'],
  errors: 'challenge',
  cors: true,
  async handle(request, server) {
    const { user, client, scopes } = await tokenHolder(request, server)
    return jsonResponse({
      user: user && { id: user.id },
      client: client && { client_id: client.clientId, name: client.name },
      scopes,
    })
  },
}
