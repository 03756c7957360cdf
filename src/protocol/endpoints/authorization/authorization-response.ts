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
 * Returns what extensions add to an answer. Spends what may be answered once, such as a pushed request.
 * @param answered what extensions remembered, where the user has decided
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

/** A code goes into the query, a token into the fragment alone. RFC 6749 §4.1.2, §4.2.2. */
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
 * An error goes into the query, as specified; for response type `token` into the fragment as well (RFC 6749 §4.2.2.1).
 * @param answered what extensions remembered, where the user has decided
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
