import { asOAuthError } from '../../../http/refusal.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { AuthorizationRequest } from '../../../model/authorization-request.ts'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { isRegistered, withQuery } from '../../../model/redirect-uri.ts'
import { isWithin } from '../../../model/scope.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf } from '../../session/browser.ts'
import type { PendingAuthorization } from '../../short-lived.ts'
import {
  boundTo,
  type ConsentFlow,
  choicesOf,
  giveConsent,
  type Question,
  questionView,
  readDecision,
} from '../consent/consent-flow.ts'
import { renderProblem } from '../responses/problem.ts'
import { renderPage } from '../responses/render.ts'
import { redirectResponse } from '../responses/responses.ts'
import { errorResponse } from './authorization-response.ts'
import { grant } from './grant-authorization.ts'
import { timeToLogIn } from './time-to-log-in.ts'

/** The maximum time for the user's decision, in milliseconds. */
const timeToDecide = 600_000

/**
 * Stores the validated request and shows the consent page, whose form identifies the request by a one-time ID.
 * @param again the URL of this request, with which the user can log in with another account
 */
export const showConsent = async (
  http: HttpRequest,
  request: AuthorizationRequest,
  client: Client,
  signedIn: SignedIn,
  server: ServerContext,
  again: string,
): Promise<Response> => {
  const now = server.clock()
  const decideUntil = now + timeToDecide
  const pending = { request, again, decideUntil, ...boundTo(client, signedIn, server) }
  // Store the request for longer, so that the user can open it again.
  const id = await server.shortLived.pending.put(
    pending,
    now + timeToLogIn,
    String(signedIn.user.id),
  )
  const choices = await choicesOf(request, client, signedIn, server)
  return renderConsent(http, { id, asked: request, client, ...choices }, signedIn, server)
}

/**
 * The query parameter of the link with which a user logs in with another account before the decision. The value is the
 * one-time ID of the stored request.
 */
export const otherAccountOf = 'other_account'

/**
 * Redirects to the login page, so that the user can log in with another account. After the login, the browser sends the
 * stored request again. Returns an error page if the request is not stored for this session.
 */
export const useOtherAccount = async (
  http: HttpRequest,
  id: string,
  server: ServerContext,
): Promise<Response> => {
  const signedIn = await server.sessions.signedIn(browserOf(http))
  const stored = await server.shortLived.pending.get(id)
  const isOwn = stored?.userId === signedIn?.user.id && stored?.sessionId === signedIn?.sessionId
  if (!stored || !isOwn) return renderProblem(http, server, 'decided', { status: 400 })
  const page = withQuery(server.ui.links.login, { next: stored.again, prompt: 'login' })
  return redirectResponse({ page }, server)
}

/** Grants or denies a stored request, as the user decided. The first decision is final. */
export const decide = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Response> => {
  const decision = await readDecision(redirectFlow(http, server), http, params, server)
  if (decision instanceof Response) return decision
  const { id, asked: request, client, signedIn, allowed, scopes } = decision
  if (!(await server.shortLived.pending.take(id))) {
    const { uiLocales } = request
    return renderProblem(http, server, 'decided', { status: 400, uiLocales })
  }
  if (!allowed) {
    const denied = new OAuthError('access_denied', 'The user refused the request.')
    return errorResponse(
      http,
      denied,
      { ...request, client, isLoggedIn: true },
      server,
      request.extensions,
    )
  }
  try {
    if (!isWithin(request.scopes, client.scopeCeiling))
      throw new OAuthError('invalid_scope', 'A scope is no longer available.')
    const consent = await giveConsent(decision, server)
    return await grant(http, { ...request, scopes }, client, signedIn, consent, server)
  } catch (error) {
    // The stored request is consumed, so send the error to the client. The client can then start a new request.
    const known = asOAuthError(error)
    if (known instanceof OAuthError)
      return errorResponse(http, known, { ...request, client, isLoggedIn: true }, server)
    throw error
  }
}

const redirectFlow = (
  http: HttpRequest,
  server: ServerContext,
): ConsentFlow<AuthorizationRequest, PendingAuthorization> => ({
  field: 'authorization_request',
  async find(id) {
    const stored = await server.shortLived.pending.get(id)
    return stored && { stored, asked: stored.request }
  },
  again: (stored) => stored && { href: stored.again, text: (texts) => texts.problem.askAgain },
  isLate: ({ decideUntil }) => decideUntil <= server.clock(),
  // Does not check the scopes: if the client has lost a scope, `decide` sends an error to the client.
  mayAsk: (client, { redirectUri }) => isRegistered(redirectUri, client),
  ask: (question, _stored, signedIn, refused) =>
    renderConsent(http, question, signedIn, server, refused),
})

const renderConsent = (
  http: HttpRequest,
  question: Question<AuthorizationRequest>,
  signedIn: SignedIn,
  server: ServerContext,
  { problem, status }: { readonly problem?: string; readonly status?: number } = {},
): Promise<Response> => {
  const { basePath, settings } = server
  const { redirectUri, uiLocales } = question.asked
  const shared = questionView(question, signedIn, server)
  const action = `${basePath}${settings.oauthPrefix}/authorize`
  const view = {
    ...shared,
    action,
    otherAccount: withQuery(action, { [otherAccountOf]: question.id }),
    authorizationRequest: question.id,
    client: { ...shared.client, redirectUri },
    problem,
  }
  return renderPage(http, server, 'consent', view, { status, signedIn, uiLocales })
}
