// RFC 7662: OAuth 2.0 Token Introspection

import { decodeJwt, type JWTPayload } from 'jose'
import { z } from 'zod'
import type { Client } from '../../model/client.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { sectorOf, subjectIn } from '../../model/sector.ts'
import { type FoundToken, isActive, isExpired, type Token } from '../../model/token.ts'
import { count, flag, text } from '../../pages/shapes/shape.ts'
import { sectorOfToken } from '../../records/tokens/sector-of-token.ts'
import { findFormer } from '../../records/tokens/token-finder.ts'
import { jsonResponse } from '../endpoints/responses/responses.ts'
import {
  aboutTokenBody,
  authenticationMetadata,
  readAboutToken,
} from '../endpoints/token/about-token.ts'
import { clientOperation } from '../openapi/operations.ts'
import { responseOf } from '../openapi/responses.ts'
import type { Extension } from '../plug-ins.ts'
import type { Configuration, Environment, Identity, ServerContext } from '../server-context.ts'

/** Returns whether the client is a resource server that accepts the token. */
const isAudience = ({ resources }: Token, { clientId }: Client, server: Identity): boolean =>
  server.resources.some(
    ({ resource, introspectionClients = [] }) =>
      introspectionClients.includes(clientId) &&
      (resources.length === 0 || resources.includes(resource)),
  )

const isUsable = (
  found: FoundToken,
  expires: number | null,
  { clock, settings }: Environment & Configuration,
): boolean => {
  const canBeProven = found.token.keyThumbprint === null || settings.dpop !== 'off'
  return !isExpired(expires, clock()) && isActive(found) && canBeProven
}

const describeAccessToken = async (
  found: FoundToken,
  presented: string,
  client: Client,
  server: ServerContext,
): Promise<object | undefined> => {
  const { token } = found
  const isEntitled =
    !token.isPersonal && (token.clientId === client.clientId || isAudience(token, client, server))
  if (!isEntitled || !isUsable(found, token.expires, server)) return undefined
  const [only = server.issuer, ...others] = token.resources
  return {
    ...(await commonMembers(token, client, token.scopes, token.expires, server)),
    // `createdAt` is the time of the refresh that replaced the token. The token itself, if it is a JWT, contains `iat`.
    ...(found.isFormer ? { iat: issuedAt(presented) } : {}),
    token_type: token.keyThumbprint === null ? 'Bearer' : 'DPoP',
    aud: others.length === 0 ? only : [only, ...others],
    jti: identifierOf(presented, token),
    ...(token.keyThumbprint === null ? {} : { cnf: { jkt: token.keyThumbprint } }),
  }
}

// A JWT access token contains its identifier (RFC 9068 §2.2).
const identifierOf = (presented: string, { id }: Token): string =>
  claimsOf(presented).jti ?? String(id)

const issuedAt = (presented: string): number | undefined => claimsOf(presented).iat

const claimsOf = (presented: string): JWTPayload => {
  if (!presented.includes('.')) return {}
  try {
    return decodeJwt(presented)
  } catch {
    return {}
  }
}

// Only the client of a refresh token may introspect it. The response has no `token_type` (RFC 7662 §2.2).
const describeRefreshToken = async (
  found: FoundToken,
  client: Client,
  server: ServerContext,
): Promise<object | undefined> => {
  const { token, authorization } = found
  if (token.clientId !== client.clientId || !authorization) return undefined
  if (!isUsable(found, token.refreshExpires, server)) return undefined
  return {
    ...(await commonMembers(token, client, authorization.scopes, token.refreshExpires, server)),
    aud: server.issuer,
  }
}

const commonMembers = async (
  token: Token,
  client: Client,
  scopes: readonly string[],
  expires: number | null,
  server: ServerContext,
) => ({
  active: true,
  scope: scopes.join(' '),
  client_id: token.clientId,
  sub: await subjectOf(token, client, server),
  iss: server.issuer,
  iat: seconds(token.createdAt),
  ...(expires === null ? {} : { exp: seconds(expires) }),
})

// A client with pairwise subjects must not learn the ID of the user. Other resource servers identify users by the ID.
const subjectOf = async (token: Token, client: Client, server: ServerContext): Promise<string> => {
  const { clientId, userId } = token
  if (userId === null) return clientId
  const isOwn = client.clientId === clientId
  const sector = isOwn ? await sectorOfToken(token, client, server.store) : sectorOf(client)
  return subjectIn(sector, userId, server)
}

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

// Look up both token types, so that the response time does not reveal the type of a token.
const found = (token: string, { getToken }: ServerContext) =>
  Promise.all([getToken({ accessToken: token }), getToken({ refreshToken: token })])

/**
 * Describes an access token to its client and to its resource servers, and a refresh token to its client. To any other
 * client, the token appears inactive. Personal tokens always appear inactive.
 */
export const introspection: Extension = {
  name: 'introspection',
  isOn: ({ introspection }) => introspection,
  metadata: ({ clientAuthentication }) =>
    authenticationMetadata(
      'introspection_endpoint',
      clientAuthentication.filter(({ name }) => name !== 'none'),
    ),
  endpoints: [
    {
      path: ({ oauthPrefix }) => `${oauthPrefix}/introspect`,
      methods: ['POST'],
      errors: 'json',
      advertisedAs: 'introspection_endpoint',
      async handle(request, server) {
        let looked: ReturnType<typeof found> | undefined
        const { client, token } = await readAboutToken(request, server, (given) => {
          looked = found(given, server)
          // Avoid an unhandled rejection if the client is refused. Otherwise, the `await` below throws the error.
          looked.catch(() => undefined)
        })
        if (!client.isConfidential)
          throw new OAuthError('invalid_client', 'The client has to authenticate itself.')
        const [access, refresh] = await (looked ?? found(token, server))
        const response =
          (access && (await describeAccessToken(access, token, client, server))) ??
          (refresh && (await describeRefreshToken(refresh, client, server)))
        if (response) return jsonResponse(response)
        // The look-up of an unknown token ends with `findFormer`. Run the same query for an existing token, so that the
        // response time does not reveal that the token exists.
        if (access && !access.isFormer) await findFormer(token, server.records)
        // Limit the unknown tokens, because a client could guess tokens here (RFC 7662 §4).
        await server.limits.consume('wrongIntrospections', request.address, client.clientId)
        return jsonResponse({ active: false })
      },
      describe: (server) => ({
        post: clientOperation({
          operationId: 'introspect',
          summary: 'Describes a token of the client (RFC 7662)',
          requestBody: aboutTokenBody(server),
          responses: {
            200: responseOf(
              'The token; only `active: false` if the token is inactive or the client may not see it.',
              z.strictObject({
                active: flag,
                scope: text.optional(),
                client_id: text.optional(),
                sub: text.optional(),
                iss: text.optional(),
                aud: z.union([text, z.array(text)]).optional(),
                iat: count.optional(),
                exp: count.optional(),
                jti: text.optional(),
                token_type: text.optional(),
                cnf: z.strictObject({ jkt: text }).optional(),
              }),
            ),
          },
        }),
      }),
    },
  ],
}
