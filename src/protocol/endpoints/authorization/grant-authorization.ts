import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Consent } from '../../../model/authorization.ts'
import type { AuthorizationRequest } from '../../../model/authorization-request.ts'
import type { Client } from '../../../model/client.ts'
import { Parameters } from '../../../model/parameters.ts'
import type { ServerContext } from '../../server-context.ts'
import { issueToken } from '../token/issue-token.ts'
import { addedParameters, grantedResponse } from './authorization-response.ts'

/** Returns the values that extensions store with a code. */
const atGrant = (
  request: AuthorizationRequest,
  granted: { readonly client: Client; readonly signedIn: SignedIn },
  server: ServerContext,
): Readonly<Record<string, unknown>> => {
  const replaced = server.extensions.flatMap((extension) => {
    const value = extension.onAuthorizationGranted?.(request, granted, server)
    return value === undefined ? [] : [[extension.name, value]]
  })
  return { ...request.extensions, ...Object.fromEntries(replaced) }
}

/** Issues a code or an access token, depending on the response type, and redirects to the client. */
export const grant = async (
  http: HttpRequest,
  request: AuthorizationRequest,
  client: Client,
  signedIn: SignedIn,
  consent: Consent,
  server: ServerContext,
): Promise<Response> => {
  const { user } = signedIn
  const { userAgent } = http
  const remembered = request.extensions
  const sessionId = server.sessions.rowOf(signedIn)
  if (request.responseType === 'token') {
    // Consume the stored request before the token is issued. If another tab has already consumed it, this call fails,
    // and no token must be issued.
    const added = await addedParameters(server, remembered)
    const issued = await server.operations.countGrant('implicit', () =>
      issueToken(
        {
          redemption: {
            type: 'user',
            client,
            subject: user.record,
            scopes: request.scopes,
            refreshable: false,
            under: { consentId: consent.id, sessionId, userAgent },
          },
          params: new Parameters(''),
          http,
          remembered,
        },
        server,
      ),
    )
    const response = {
      access_token: issued.accessToken,
      token_type: 'Bearer',
      expires_in: issued.expiresIn === null ? undefined : String(issued.expiresIn),
      scope: issued.token.scopes.join(' '),
    }
    return grantedResponse(http, response, request, added, server)
  }
  const expiresAt = server.clock() + server.settings.authorizationCodeExpiresIn * 1000
  const { clientId, redirectUri, redirectUriGiven, scopes } = request
  const extensions = atGrant(request, { client, signedIn }, server)
  const code = await server.shortLived.codes.put(
    {
      clientId,
      redirectUri,
      redirectUriGiven,
      scopes,
      extensions,
      userId: user.id,
      consentId: consent.id,
      sessionId,
      userAgent,
      expiresAt,
    },
    expiresAt,
  )
  const added = await addedParameters(server, remembered)
  return grantedResponse(http, { code }, request, added, server)
}
