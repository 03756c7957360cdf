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
    responses: { 200: answerOf('The document.', schema) },
  },
})

/** Describes the protocol endpoints briefly; the RFCs specify the details. */
export const protocolPaths = (server: Described): Parts => {
  const root = server.settings.oauthPrefix
  const pong = withToken(answerOf('The token is valid.', named('Pong')))
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
          200: answerOf('The tokens.', named('TokenAnswer')),
          400: answerOf('An error of RFC 6749 §5.2.', named('Problem')),
          401: answerOf('The client is unknown, or its authentication failed.', named('Problem'), {
            'WWW-Authenticate': {
              description: 'A challenge, if the client used the Basic scheme.',
              schema: text,
            },
          }),
          413: namedAnswer('TooLarge'),
          503: namedAnswer('Unavailable'),
        },
      },
    },
    [`${root}/ping`]: {
      get: { operationId: 'ping', summary: 'Checks that a token is valid', ...pong },
      post: { operationId: 'pingByPost', summary: 'Checks that a token is valid', ...pong },
    },
    [`${root}/info`]: {
      get: {
        operationId: 'info',
        summary: 'Returns the user, client and scopes of a token',
        ...withToken(answerOf('The holder of the token.', named('TokenHolder'))),
      },
    },
    '/.well-known/oauth-authorization-server': document(
      'getServerMetadata',
      'Returns the authorization server metadata (RFC 8414)',
      named('ServerMetadata'),
    ),
    '/.well-known/oauth-protected-resource': document(
      'getResourceMetadata',
      'Returns the protected resource metadata (RFC 9728)',
      named('ResourceMetadata'),
    ),
    [server.settings.openapiPath]: document('getOpenApi', 'Returns this document', {
      type: 'object',
    }),
  }
}
