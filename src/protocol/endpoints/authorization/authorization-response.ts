import type { HttpRequest } from '../../../http/request.ts'
import type { AuthorizationRequest } from '../../../model/authorization-request.ts'
import type { OAuthError } from '../../../model/oauth-error.ts'
import { withFragment, withQuery } from '../../../model/redirect-uri.ts'
import { responseTypeNamed, returnsIdToken } from '../../../model/response-type.ts'
import { destinationOf, type Visit } from '../../destinations.ts'
import type { ServerContext } from '../../server-context.ts'
import { renderPage } from '../responses/render.ts'
import { redirectResponse } from '../responses/responses.ts'
import { supportedResponseTypes } from '../token/supported.ts'

interface AnsweredRequest extends Visit {
  readonly redirectUri: string
  readonly responseType: string | undefined
  readonly responseMode: string | undefined
  readonly state?: string | undefined
  readonly uiLocales?: string | undefined
}

type Remembered = Readonly<Record<string, unknown>>

type ResponseParameters = Readonly<Record<string, string | undefined>>

/**
 * Returns the parameters that extensions add to an authorization response. In this call, extensions also consume stored
 * requests, such as pushed authorization requests.
 * @param answered the values that extensions stored with a request that the user granted or denied; otherwise undefined
 */
export const addedParameters = async (
  server: ServerContext,
  answered?: Remembered,
): Promise<ResponseParameters> => {
  const added = await Promise.all(
    server.extensions.map((extension) => extension.onAuthorizationResponse?.(server, answered)),
  )
  return Object.assign({}, ...added)
}

/**
 * Sends a code or tokens to the client: in the query, in the fragment (RFC 6749 §4.1.2, §4.2.2), or in a form (OAuth 2.0
 * Form Post Response Mode §2).
 */
export const grantedResponse = async (
  http: HttpRequest,
  response: ResponseParameters,
  target: AuthorizationRequest & Visit,
  added: ResponseParameters,
  server: ServerContext,
): Promise<Response> => {
  const { responseMode, state } = target
  const parameters = { ...response, state, ...added }
  if (responseMode === 'form_post') return formResponse(http, target, parameters, server)
  const place = responseMode === 'fragment' ? withFragment : withQuery
  return redirectResponse(placed(target, place, parameters), server)
}

/**
 * Sends an error to the client: in a form if the client requested `form_post`, otherwise in the query. For the response
 * type `token`, the fragment also contains the error (RFC 6749 §4.2.2.1). For response types with an ID token, only the
 * fragment contains the error (OpenID Connect Core §3.2.2.6).
 * @param answered the values that extensions stored with a request that the user granted or denied; otherwise undefined
 */
export const errorResponse = async (
  http: HttpRequest,
  error: OAuthError,
  target: AnsweredRequest,
  server: ServerContext,
  answered?: Remembered,
): Promise<Response> => {
  const added = await addedParameters(server, answered)
  const parameters = { ...error.toWire(), state: target.state, ...added }
  if (target.responseMode === 'form_post') return formResponse(http, target, parameters, server)
  const type = responseTypeNamed(target.responseType ?? '')
  if (type && returnsIdToken(type) && supportedResponseTypes(server).includes(type))
    return redirectResponse(placed(target, withFragment, parameters), server)
  const inQuery = placed(target, withQuery, parameters)
  if (target.responseType !== 'token') return redirectResponse(inQuery, server)
  const address = withFragment(inQuery.address, parameters)
  return redirectResponse({ ...inQuery, address }, server)
}

/** Returns the redirect URI with the parameters of the response. */
const placed = (
  { redirectUri: uri, client, isLoggedIn }: Pick<AnsweredRequest, 'redirectUri'> & Visit,
  place: (uri: string, parameters: ResponseParameters) => string,
  parameters: ResponseParameters,
) => ({ client, isLoggedIn, uri, address: place(uri, parameters) })

/** Returns a page whose form sends the parameters to the redirect URI. */
const formResponse = (
  http: HttpRequest,
  target: Pick<AnsweredRequest, 'redirectUri' | 'uiLocales'> & Visit,
  parameters: ResponseParameters,
  server: ServerContext,
): Promise<Response> => {
  const fields = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  )
  const action = destinationOf(
    placed(target, (uri) => uri, parameters),
    server,
  )
  return renderPage(
    http,
    server,
    'formPost',
    { action, fields },
    { uiLocales: target.uiLocales, keepCookie: true },
  )
}
