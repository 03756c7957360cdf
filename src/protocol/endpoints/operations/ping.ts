import { z } from 'zod'
import { component } from '../../../pages/shapes/shape.ts'
import { tokenOperation } from '../../openapi/operations.ts'
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
  describe() {
    const summary = 'Checks that a token is valid'
    const pong = component('Pong', z.strictObject({ ping: z.literal('pong') }))
    return {
      get: tokenOperation({ operationId: 'ping', summary }, 'The token is valid.', pong),
      post: tokenOperation({ operationId: 'pingByPost', summary }, 'The token is valid.', pong),
    }
  },
}
