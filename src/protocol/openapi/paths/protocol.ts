import type { Described } from '../described.ts'
import { answerOf, namedAnswer } from '../responses.ts'
import { named, type Part, type Parts, text } from '../schema.ts'
import { byClient, byToken } from '../security.ts'
import { authorizationPath } from './authorize.ts'

const open = { security: [] }

const withToken = (answer: Part): Part => ({
  tags: ['protocol'],
  security: byToken,
  responses: {
    200: answer,
    400: namedAnswer('BadTokenRequest'),
    401: namedAnswer('InvalidToken'),
    403: namedAnswer('Forbidden'),
    503: namedAnswer('Unavailable'),
  },
})

const document = (operationId: string, summary: string, schema: Part): Part => ({
  get: {
    ...open,
    operationId,
    summary,
    tags: ['metadata'],
    responses: { 200: answerOf('Public.', schema) },
  },
})

/** Describes the protocol endpoints briefly; the RFCs have the details. */
export const protocolPaths = (server: Described): Parts => {
  const root = server.settings.oauthPrefix
  const pong = withToken(answerOf('The token works.', named('Pong')))
  return {
    [`${root}/authorize`]: authorizationPath(server),
    [`${root}/token`]: {
      post: {
        operationId: 'token',
        summary: 'Exchanges a grant for tokens (RFC 6749 §3.2)',
        tags: ['protocol'],
        security: byClient,
        requestBody: {
          required: true,
          content: { 'application/x-www-form-urlencoded': { schema: named('TokenRequest') } },
        },
        responses: {
          200: answerOf('Tokens.', named('TokenAnswer')),
          400: answerOf('RFC 6749 §5.2.', named('Problem')),
          401: answerOf('The client is unknown, or its secret is wrong.', named('Problem'), {
            'WWW-Authenticate': {
              description: 'Where the client used the Basic scheme.',
              schema: text,
            },
          }),
          413: namedAnswer('TooLarge'),
          503: namedAnswer('Unavailable'),
        },
      },
    },
    [`${root}/ping`]: {
      get: { operationId: 'ping', summary: 'Whether a token works', ...pong },
      post: { operationId: 'pingByPost', summary: 'Whether a token works', ...pong },
    },
    [`${root}/info`]: {
      get: {
        operationId: 'info',
        summary: 'The user, client and scopes of a token',
        ...withToken(answerOf('Its holder.', named('TokenHolder'))),
      },
    },
    '/.well-known/oauth-authorization-server': document(
      'getServerMetadata',
      'What the authorization server can do (RFC 8414)',
      named('ServerMetadata'),
    ),
    '/.well-known/oauth-protected-resource': document(
      'getResourceMetadata',
      'Which authorization server protects the application (RFC 9728)',
      named('ResourceMetadata'),
    ),
    [server.settings.openapiPath]: document('getOpenApi', 'This document', { type: 'object' }),
  }
}
