import type { ServerContext } from '../extension.ts'
import { withFragment, withQuery } from '../model/redirect-uri.ts'
import type { OAuthError } from '../oauth-error.ts'
import { redirectAnswer } from './answers.ts'

type Target = {
  readonly redirectUri: string
  readonly responseType: string | undefined
  readonly state?: string | undefined
}

type Answer = Readonly<Record<string, string | undefined>>

const withExtensions = (answer: Answer, { state }: Target, server: ServerContext): Answer =>
  Object.assign(
    {},
    answer,
    { state },
    ...server.extensions.map((e) => e.onAuthorizationResponse?.(server)),
  )

/** A code goes into the query, a token into the fragment alone. RFC 6749 §4.1.2, §4.2.2. */
export const grantedResponse = (
  answer: Answer,
  target: Target,
  server: ServerContext,
): Response => {
  const parameters = withExtensions(answer, target, server)
  const { redirectUri } = target
  return redirectAnswer(
    target.responseType === 'token'
      ? withFragment(redirectUri, parameters)
      : withQuery(redirectUri, parameters),
  )
}

/** An error goes into the query, as specified; for response type `token` into the fragment as well (RFC 6749 §4.2.2.1). */
export const errorResponse = (
  error: OAuthError,
  target: Target,
  server: ServerContext,
): Response => {
  const parameters = withExtensions({ ...error.toWire() }, target, server)
  const inQuery = withQuery(target.redirectUri, parameters)
  return redirectAnswer(
    target.responseType === 'token' ? withFragment(inQuery, parameters) : inQuery,
  )
}
