import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { AuthorizationRequest } from '../../../model/authorization-request.ts'
import type { Client } from '../../../model/client.ts'
import type { Consent } from '../../../model/entities/consent.ts'
import { Parameters } from '../../../model/parameters.ts'
import { returnsAccessToken, returnsCode } from '../../../model/response-type.ts'
import type { IssuedToken } from '../../../model/token.ts'
import type { AuthorizationIssue } from '../../plug-ins/extension.ts'
import type { ServerContext } from '../../server-context.ts'
import { issueToken } from '../token/token.ts'
import { addedParameters, grantedResponse } from './authorization-response.ts'

type ResponseParameters = Readonly<Record<string, string | undefined>>

interface Granted {
  readonly http: HttpRequest
  readonly request: AuthorizationRequest
  readonly client: Client
  readonly signedIn: SignedIn
  readonly consent: Consent
}

/** Returns the values that extensions store with a code. */
const atGrant = (
  { request, client, signedIn }: Granted,
  server: ServerContext,
): Readonly<Record<string, unknown>> => {
  const replaced = server.extensions.flatMap((extension) => {
    const value = extension.onAuthorizationGranted?.(request, { client, signedIn }, server)
    return value === undefined ? [] : [[extension.name, value]]
  })
  return { ...request.extensions, ...Object.fromEntries(replaced) }
}

/** Issues a code or tokens, depending on the response type, and returns the response for the client. */
export const grant = async (
  http: HttpRequest,
  request: AuthorizationRequest,
  client: Client,
  signedIn: SignedIn,
  consent: Consent,
  server: ServerContext,
): Promise<Response> => {
  const { responseType } = request
  const granted = { http, request, client, signedIn, consent }
  const remembered = atGrant(granted, server)
  const code = returnsCode(responseType) ? await newCode(granted, remembered, server) : undefined
  // Consume a stored request before a token is issued. `addedParameters` throws if another tab has already consumed the
  // request.
  const added = await addedParameters(server, request.extensions)
  const issue = async (): Promise<ResponseParameters> => {
    const token = returnsAccessToken(responseType) ? await newToken(granted, server) : undefined
    const issued = { client, signedIn, consent, code, token, remembered }
    return {
      ...(token && tokenParameters(token)),
      ...(await issuedParameters(request, issued, server)),
    }
  }
  // The metrics count a code when the client redeems it.
  const count = code === undefined ? server.operations.countGrant : undefined
  const tokens = await (count ? count('implicit', issue) : issue())
  const target = { ...request, client, isLoggedIn: true }
  return grantedResponse(http, { code, ...tokens }, target, added, server)
}

const newCode = (
  { http, request, client, signedIn, consent }: Granted,
  extensions: Readonly<Record<string, unknown>>,
  server: ServerContext,
): Promise<string> => {
  const expiresAt = server.clock() + server.settings.authorizationCodeExpiresIn * 1000
  const { redirectUri, redirectUriGiven, scopes } = request
  return server.shortLived.codes.put(
    {
      clientId: client.clientId,
      redirectUri,
      redirectUriGiven,
      scopes,
      extensions,
      userId: signedIn.user.id,
      consentId: consent.id,
      sessionId: server.sessions.rowOf(signedIn),
      userAgent: http.userAgent,
      expiresAt,
    },
    expiresAt,
    String(signedIn.user.id),
  )
}

const newToken = (
  { http, request, client, signedIn, consent }: Granted,
  server: ServerContext,
): Promise<IssuedToken> =>
  issueToken(
    {
      redemption: {
        type: 'user',
        client,
        subject: signedIn.user.record,
        scopes: request.scopes,
        refreshable: false,
        receivedAt: request.redirectUri,
        reusedSince: consent.reusedSince,
        under: {
          consentId: consent.id,
          sessionId: server.sessions.rowOf(signedIn),
          userAgent: http.userAgent,
        },
      },
      params: new Parameters(''),
      http,
      remembered: request.extensions,
    },
    server,
  )

const tokenParameters = ({ accessToken, expiresIn, token }: IssuedToken): ResponseParameters => ({
  access_token: accessToken,
  token_type: 'Bearer',
  expires_in: expiresIn === null ? undefined : String(expiresIn),
  scope: token.scopes.join(' '),
})

/** Returns the parameters that extensions add to a successful response. */
const issuedParameters = async (
  request: AuthorizationRequest,
  issued: AuthorizationIssue,
  server: ServerContext,
): Promise<ResponseParameters> => {
  let added: ResponseParameters = {}
  for (const extension of server.extensions)
    added = { ...added, ...(await extension.onAuthorizationIssued?.(request, issued, server)) }
  return added
}
