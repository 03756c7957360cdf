import type { Endpoint } from '../../plug-ins.ts'
import { jsonResponse } from '../responses/responses.ts'
import { tokenHolder } from '../token/token-holder.ts'

/** Returns 200 if the request presents a valid token. */
export const pingEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/ping`,
  methods: ['GET', 'POST'],
  errors: 'challenge',
  cors: true,
  async handle(request, server) {
    await tokenHolder(request, server)
    return jsonResponse({ ping: 'pong' })
  },
}
