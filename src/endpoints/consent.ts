import type { ServerContext } from '../extension.ts'
import type { HttpRequest } from '../http-request.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Client } from '../model/client.ts'
import type { Parameters } from '../model/parameters.ts'
import { formActionSource, isRegistered } from '../model/redirect-uri.ts'
import { isWithin } from '../model/scope.ts'
import { OAuthError } from '../oauth-error.ts'
import { consentPage } from '../pages/consent.ts'
import { messages } from '../pages/messages.ts'
import { problemPage } from '../pages/problem.ts'
import { asOAuthError } from '../refusal.ts'
import type { SignedIn } from '../resource-server.ts'
import { browserOf, isForeign } from '../session/browser.ts'
import { pageAnswer } from './answers.ts'
import { errorResponse } from './authorization-response.ts'
import { grant } from './grant-authorization.ts'

/** Milliseconds that a user has to decide. */
const timeToDecide = 600_000

/** Stores the validated request, and asks: the form carries nothing but its one-time id. */
export const showConsent = async (
  http: HttpRequest,
  request: AuthorizationRequest,
  client: Client,
  signedIn: SignedIn,
  server: ServerContext,
): Promise<Response> => {
  const { user, sessionId } = signedIn
  const pending = { request, terms: termsOf(client, server), userId: user.id, sessionId }
  const id = await server.pending.put(pending, server.clock() + timeToDecide)
  return renderConsent(http, id, request, client, signedIn, server)
}

/** The user's decision on a stored request. The first one is final. */
export const decide = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Response> => {
  const { origin } = new URL(server.issuer)
  const refused = (status: number, sentence: string) =>
    pageAnswer(problemPage({ base: server.pageBase, title: messages.problem.title, sentence }), {
      status,
    })
  if (isForeign(http, origin)) return refused(403, messages.problem.foreign)
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (!signedIn) return refused(403, messages.problem.loggedOut)
  const id = params.optional('authorization_request')
  const shown = id === undefined ? undefined : await server.pending.get(id)
  const isTheirs = shown?.userId === signedIn.user.id && shown.sessionId === signedIn.sessionId
  if (id === undefined || !shown) return refused(400, messages.problem.decided)
  if (!isTheirs) return refused(403, messages.problem.foreign)

  const { request } = shown
  const client = await server.getClient(request.clientId)
  const isUnchanged =
    client?.isActive &&
    isRegistered(request.redirectUri, client) &&
    shown.terms === termsOf(client, server)
  if (!isUnchanged) return refused(400, messages.problem.clientChanged)
  if (!server.sessions.isCsrfToken(http.headers.get('cookie'), params.optional('csrf_token'))) {
    return renderConsent(http, id, request, client, signedIn, server, {
      problem: messages.problem.stale,
    })
  }
  const decision = params.optional('confirm')
  if (decision !== 'yes' && decision !== 'no') return refused(400, messages.problem.undecided)
  if (!(await server.pending.take(id))) return refused(400, messages.problem.decided)

  if (decision === 'no') {
    return errorResponse(
      new OAuthError('access_denied', 'The user refused the request.'),
      request,
      server,
    )
  }
  if (!isWithin(request.scopes, client.scopeCeiling)) {
    return errorResponse(
      new OAuthError('invalid_scope', 'A scope is no longer available.'),
      request,
      server,
    )
  }
  try {
    const consent = await server.consents.grant(signedIn.user.id, client.clientId, request.scopes)
    return await grant(request, client, signedIn, consent, server)
  } catch (error) {
    // The decision is spent, so the client has to hear that it may ask again.
    const known = asOAuthError(error)
    if (known instanceof OAuthError) return errorResponse(known, request, server)
    throw error
  }
}

// What a client may do has changed while its user was asked: the request has to be judged anew.
const termsOf = (client: Client, { settings }: ServerContext): string =>
  JSON.stringify([
    client.isConfidential,
    client.allowedGrantTypes,
    client.allowedResponseTypes,
    settings.requirePkce,
  ])

const renderConsent = (
  http: HttpRequest,
  id: string,
  request: AuthorizationRequest,
  client: Client,
  { user }: SignedIn,
  server: ServerContext,
  { problem }: { problem?: string } = {},
): Promise<Response> => {
  // Whom the application signed in may have no cookie of ours yet.
  const { csrfToken, setCookie } = server.sessions.csrf(http.headers.get('cookie'))
  const { basePath, settings } = server
  const page = consentPage({
    base: server.pageBase,
    action: `${basePath}${settings.oauthPrefix}/authorize`,
    authorizationRequest: id,
    csrfToken,
    client: {
      name: client.name,
      description: client.description,
      website: client.website,
      owner: client.owner?.email,
      redirectUri: request.redirectUri,
    },
    user: user.email,
    scopes: request.scopes.flatMap((scope) => server.scopes.get(scope) ?? []),
    problem,
  })
  return pageAnswer(page, {
    status: problem === undefined ? 200 : 403,
    setCookie,
    formAction: formActionSource(request.redirectUri),
  })
}
