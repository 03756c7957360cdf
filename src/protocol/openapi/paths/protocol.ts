import type { Described } from '../described.ts'
import { namedResponse, responseOf } from '../responses.ts'
import { named, type Part, type Parts, text } from '../schema.ts'
import { byClient, byToken } from '../security.ts'
import { authorizationPath } from './authorize.ts'

const open = { security: [] }

const withToken = (response: Part): Part => ({
  tags: ['protocol'],
  security: byToken,
  responses: {
    200: response,
    400: namedResponse('BadTokenRequest'),
    401: namedResponse('InvalidToken'),
    403: namedResponse('Forbidden'),
    503: namedResponse('Unavailable'),
  },
})

const userinfo: Part = {
  summary: 'Returns claims about the user of a token (OpenID Connect Core §5.3)',
  ...withToken(
    responseOf('The claims. A signed JWT if the client registered an algorithm.', {
      type: 'object',
      required: ['sub'],
      properties: { sub: text },
    }),
  ),
}

const document = (operationId: string, summary: string, schema: Part): Part => ({
  get: {
    ...open,
    operationId,
    summary,
    tags: ['metadata'],
    responses: { 200: responseOf('The document.', schema) },
  },
})

/** Describes the protocol endpoints briefly; the RFCs specify the details. */
export const protocolPaths = (server: Described): Parts => {
  const root = server.settings.oauthPrefix
  const pong = withToken(responseOf('The token is valid.', named('Pong')))
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
          200: responseOf('The tokens.', named('TokenResponse')),
          400: responseOf('An error of RFC 6749 §5.2.', named('Problem')),
          401: responseOf(
            'The client is unknown, or its authentication failed.',
            named('Problem'),
            {
              'WWW-Authenticate': {
                description: 'A challenge, if the client used the Basic scheme.',
                schema: text,
              },
            },
          ),
          413: namedResponse('TooLarge'),
          503: namedResponse('Unavailable'),
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
        ...withToken(responseOf('The holder of the token.', named('TokenHolder'))),
      },
    },
    ...(server.settings.openidConnect && {
      [`${root}/userinfo`]: {
        get: { operationId: 'userinfo', ...userinfo },
        post: { operationId: 'userinfoByPost', ...userinfo },
      },
      '/.well-known/openid-configuration': document(
        'getOpenIdConfiguration',
        'Returns the metadata of the OpenID provider (OpenID Connect Discovery §4)',
        named('ServerMetadata'),
      ),
    }),
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
