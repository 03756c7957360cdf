import type { HttpRequest } from '../http/request.ts'
import type { SignedIn } from '../model/auth.ts'
import { withQuery } from '../model/redirect-uri.ts'
import type { Reader } from '../pages/frame.ts'
import type { Messages } from '../pages/messages/en.ts'
import { prefersJson } from '../protocol/endpoints/responses/prefers-json.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { readerOf, textsOf } from '../protocol/endpoints/responses/reader.ts'
import { redirectResponse } from '../protocol/endpoints/responses/responses.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { browserOf } from '../protocol/session/browser.ts'

/** The request of a signed-in user to a settings page. */
export interface SettingsRequest {
  readonly http: HttpRequest
  readonly server: ServerContext
  readonly signedIn: SignedIn
  /** Whether a script sent the request. A script receives JSON, a browser receives the page. */
  readonly asJson: boolean
  readonly reader: Reader
  readonly texts: Messages
}

/**
 * Authenticates a request to a settings page. Browsers need the session cookie, and scripts also need the session's
 * JWT. Access tokens are not accepted.
 * @param back a function that returns the URL to open after the login
 * @returns the request; for a browser without a session, a redirect to the login page
 * @throws AuthenticationRequired, JWTExtendedException if a script is not authenticated
 */
export const settingsRequestOf = async (
  http: HttpRequest,
  server: ServerContext,
  back: () => string | Promise<string>,
): Promise<SettingsRequest | Response> => {
  const asJson = prefersJson(http)
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (signedIn && asJson) {
    const refusal = await server.sessions.jwtRefusal(http.headers, signedIn)
    if (refusal) throw refusal
  }
  const reader = readerOf(http, server)
  if (signedIn)
    return { http, server, signedIn, asJson, reader, texts: await textsOf(reader, server) }
  if (asJson) throw server.resourceServer.unauthenticated()
  const page = withQuery(server.ui.links.login, { next: await back() })
  return redirectResponse({ page }, server)
}

/** Verifies that the user is an administrator. @throws OAuthError 404 for other users */
export const checkAdmin = ({ signedIn }: SettingsRequest): void => {
  if (!signedIn.user.isAdmin) throw notFound()
}

/** Parses the ID of a token. @throws OAuthError 404 if the text is not a valid ID */
export const asTokenId = (text: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}

/** Returns the token ID in the path. @throws OAuthError 404 if the path does not contain a valid ID */
export const tokenIdOf = ({ http }: SettingsRequest): number => asTokenId(http.param('id'))
