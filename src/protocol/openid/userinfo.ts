import type { HttpRequest } from '../../http/request.ts'
import { HttpResponse, noStore } from '../../http/response.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { Parameters } from '../../model/parameters.ts'
import { subjectIn } from '../../model/sector.ts'
import { sectorOfToken } from '../../records/tokens/sector-of-token.ts'
import { jsonResponse } from '../endpoints/responses/responses.ts'
import { type TokenHolder, tokenHolder } from '../endpoints/token/token-holder.ts'
import { tokenOperation } from '../openapi/operations.ts'
import { text } from '../openapi/schema.ts'
import type { Endpoint } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import { claimsOfUser } from './claims-of-user.ts'
import { grantIn, type OpenIdGrant } from './openid-request.ts'

/** The endpoint that returns claims about the user of a token. OpenID Connect Core §5.3. */
export const userinfoEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/userinfo`,
  methods: ['GET', 'POST'],
  errors: 'challenge',
  cors: true,
  advertisedAs: 'userinfo_endpoint',
  async handle(request, server) {
    const auth = await holderOf(request, server)
    const { user, client: holder, scopes } = auth
    const lacking = server.resourceServer.challenge({ auth }, ['openid'])
    if (lacking) throw lacking
    const client = holder && (await server.getClient(holder.clientId, { address: request.address }))
    // The user of a `client_credentials` token is the owner of the client, who has granted no claims.
    const isGranted = auth.authorizationId !== null
    if (!user || !client || scopes === null || !isGranted) throw notForUsers()
    const sub = await subjectIn(
      await sectorOfToken(auth.token, client, server.store),
      user.id,
      server,
    )
    const grant = await grantOf(auth, server)
    const claims = await claimsOfUser(user.record, scopes, grant, server.hostHooks)
    return responseTo(client, { ...claims, sub }, server)
  },
  describe() {
    const summary = 'Returns claims about the user of a token (OpenID Connect Core §5.3)'
    const description = 'The claims. A signed JWT if the client registered an algorithm.'
    const claims = { type: 'object', required: ['sub'], properties: { sub: text } }
    return {
      get: tokenOperation({ operationId: 'userinfo', summary }, description, claims),
      post: tokenOperation({ operationId: 'userinfoByPost', summary }, description, claims),
    }
  },
}

const notForUsers = (): OAuthError =>
  new OAuthError('invalid_token', 'The token was not issued to a client on behalf of a user.', {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  })

/** Authenticates the request by the token in the header, or in a form (RFC 6750 §2.2). */
const holderOf = async (request: HttpRequest, server: ServerContext): Promise<TokenHolder> => {
  const isForm =
    request.method === 'POST' && request.mediaType?.type === 'application/x-www-form-urlencoded'
  const token = isForm ? new Parameters(await request.formText()).opaque('access_token') : undefined
  return tokenHolder(request, server, token)
}

const grantOf = async (
  { token }: TokenHolder,
  server: ServerContext,
): Promise<OpenIdGrant | undefined> => {
  if (token.authorizationId === null) return undefined
  const authorization = await server.store.authorizations.find(token.authorizationId)
  return grantIn(authorization?.code?.extensions, token, server)
}

/** Returns the claims as JSON, or as a signed JWT if the client registered an algorithm (§5.3.2). */
const responseTo = async (
  client: Client,
  claims: object,
  { issuer, signingKeys }: ServerContext,
): Promise<HttpResponse> => {
  const { userinfo_signed_response_alg: algorithm } = keptMetadata(client)
  if (algorithm === undefined) return jsonResponse(claims)
  const signed = { ...claims, iss: issuer, aud: client.clientId }
  const headers = { ...noStore, 'content-type': 'application/jwt' }
  return new HttpResponse(200, headers, await signingKeys.sign(signed, 'JWT', algorithm))
}
