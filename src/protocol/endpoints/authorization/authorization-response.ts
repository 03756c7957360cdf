import type { OAuthError } from '../../../model/oauth-error.ts'
import { withFragment, withQuery } from '../../../model/redirect-uri.ts'
import type { ServerContext } from '../../server-context.ts'
import { redirectResponse } from '../responses/responses.ts'

type Target = {
  readonly redirectUri: string
  readonly responseType: string | undefined
  readonly state?: string | undefined
}

type Remembered = Readonly<Record<string, unknown>>

type ResponseParameters = Readonly<Record<string, string | undefined>>

/**
 * Returns the parameters that extensions add to an authorization response. The extensions also consume stored
 * requests, such as pushed authorization requests.
 * @param answered the values that extensions stored with the request; undefined if the user has not decided
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

/** Redirects to the client with a code in the query, or with a token in the fragment. RFC 6749 §4.1.2, §4.2.2. */
export const grantedResponse = (
  response: ResponseParameters,
  target: Target,
  added: ResponseParameters,
): Response => {
  const { redirectUri, responseType, state } = target
  const parameters = { ...response, state, ...added }
  return redirectResponse(
    responseType === 'token'
      ? withFragment(redirectUri, parameters)
      : withQuery(redirectUri, parameters),
  )
}

/**
 * Redirects to the client with an error in the query. For the response type `token`, the fragment contains the error
 * too (RFC 6749 §4.2.2.1).
 * @param answered the values that extensions stored with the request; undefined if the user has not decided
 */
export const errorResponse = async (
  error: OAuthError,
  target: Target,
  server: ServerContext,
  answered?: Remembered,
): Promise<Response> => {
  const added = await addedParameters(server, answered)
  const parameters = { ...error.toWire(), state: target.state, ...added }
  const inQuery = withQuery(target.redirectUri, parameters)
  return redirectResponse(
    target.responseType === 'token' ? withFragment(inQuery, parameters) : inQuery,
  )
}
