import type { AuthorizationRequest } from '../../model/authorization-request.ts'
import { type ResponseType, returnsAccessToken, returnsCode } from '../../model/response-type.ts'
import { sectorOf, sectorSince } from '../../model/sector.ts'
import { ofUser } from '../../records/audit/audit-trail.ts'
import type { AuthorizationIssue } from '../plug-ins/extension.ts'
import type { ServerContext } from '../server-context.ts'
import { noteLogin } from './client-login.ts'
import { createIdToken } from './id-token.ts'
import { grantIn, loginDigestOf } from './openid-request.ts'

/** Issues the ID token of an authorization response. Core §3.2.2.5, §3.3.2.5. */
export const frontChannelIdToken = async (
  {
    responseType,
    scopes,
    redirectUri,
  }: Pick<AuthorizationRequest, 'responseType' | 'scopes' | 'redirectUri'>,
  { client, signedIn, consent, code, token, remembered }: AuthorizationIssue,
  server: ServerContext,
): Promise<string> => {
  const userId = signedIn.user.id
  const { clientKey } = client
  const grant = grantIn(
    remembered,
    { clientKey, userId, loginDigest: loginDigestOf(remembered) },
    server,
  )
  if (!grant) throw new Error('The request has no stored OpenID Connect values.')
  const idToken = await createIdToken(
    {
      client,
      userId,
      sector: sectorSince(sectorOf(client, redirectUri), consent.reusedSince),
      scopes,
      grant,
      userClaims: claimsWith(responseType),
      bound: { code, accessToken: token?.accessToken },
    },
    server,
  )
  const authorizationId = token?.token.authorizationId ?? null
  const sessionId = server.sessions.rowOf(signedIn)
  await noteLogin({ client, userId, authorizationId, scopes, grant, sessionId }, server)
  const { audit } = server.records
  const { clientId, name: subject } = client
  const details = { scopes }
  const about = { ...ofUser(signedIn.user), clientId, authorizationId, subject, details }
  await audit.add(server.store, 'id_token.issued', about)
  return idToken
}

// Without an access token, only the ID token can contain the claims (§5.4). With a code, the client receives a second ID
// token with the claims, so the ID token in the redirect omits them (§3.3.3.6).
const claimsWith = (responseType: ResponseType): 'granted' | 'none' | undefined => {
  if (returnsCode(responseType)) return 'none'
  return returnsAccessToken(responseType) ? undefined : 'granted'
}
