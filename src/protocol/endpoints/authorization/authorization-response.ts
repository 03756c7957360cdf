import type { OAuthError } from '../../../model/oauth-error.ts'
import { withFragment, withQuery } from '../../../model/redirect-uri.ts'
import type { ServerContext } from '../../server-context.ts'
import { redirectAnswer } from '../responses/answers.ts'

type Target = {
  readonly redirectUri: string
  readonly responseType: string | undefined
  readonly state?: string | undefined
}

type Remembered = Readonly<Record<string, unknown>>

type Answer = Readonly<Record<string, string | undefined>>

/**
 * Returns the parameters that extensions add to an authorization response. Consumes stored requests, such as pushed
 * ones.
 * @param answered the values that extensions stored, if the user has decided
 */
export const addedParameters = async (
  server: ServerContext,
  answered?: Remembered,
): Promise<Answer> => {
  const added = await Promise.all(
    server.extensions.map((extension) => extension.onAuthorizationResponse?.(server, answered)),
  )
  return Object.assign({}, ...added)
}

/** Redirects with a code in the query, or with a token in the fragment. RFC 6749 §4.1.2, §4.2.2. */
export const grantedResponse = (answer: Answer, target: Target, added: Answer): Response => {
  const { redirectUri, responseType, state } = target
  const parameters = { ...answer, state, ...added }
  return redirectAnswer(
    responseType === 'token'
      ? withFragment(redirectUri, parameters)
      : withQuery(redirectUri, parameters),
  )
}

/**
 * Redirects with an error in the query; for response type `token` also in the fragment (RFC 6749 §4.2.2.1).
 * @param answered the values that extensions stored, if the user has decided
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
  return redirectAnswer(
    target.responseType === 'token' ? withFragment(inQuery, parameters) : inQuery,
  )
}
