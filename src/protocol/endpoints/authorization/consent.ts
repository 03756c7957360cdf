import { asOAuthError } from '../../../http/refusal.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { AuthorizationRequest } from '../../../model/authorization-request.ts'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { formActionSource, isRegistered } from '../../../model/redirect-uri.ts'
import { isWithin } from '../../../model/scope.ts'
import type { Configuration, ServerContext } from '../../server-context.ts'
import { browserOf, isForeign } from '../../session/browser.ts'
import { type ProblemName, renderProblem } from '../responses/problem.ts'
import { readerOf, textsOf } from '../responses/reader.ts'
import { renderPage } from '../responses/render.ts'
import { askingClient } from './asking-client.ts'
import { errorResponse } from './authorization-response.ts'
import { grant } from './grant-authorization.ts'
import { optionalScopesOf } from './optional-scopes.ts'

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
  const id = await server.shortLived.pending.put(pending, server.clock() + timeToDecide)
  const before = await server.consents.find(user.id, client.clientId)
  const declined = before?.declinedScopes ?? []
  const ticked = optionalScopesOf(request.scopes, client).filter((id) => !declined.includes(id))
  return renderConsent(http, { id, request, client, ticked }, signedIn, server)
}

/** The user's decision on a stored request. The first one is final. */
export const decide = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Response> => {
  const { origin } = new URL(server.issuer)
  let uiLocales: string | undefined
  const refused = (status: number, name: ProblemName) =>
    renderProblem(http, server, name, { status, uiLocales })
  if (isForeign(http, origin)) return refused(403, 'foreign')
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (!signedIn) return refused(403, 'loggedOut')
  const id = params.optional('authorization_request')
  const shown = id === undefined ? undefined : await server.shortLived.pending.get(id)
  const isTheirs = shown?.userId === signedIn.user.id && shown.sessionId === signedIn.sessionId
  const isOurs = server.sessions.isCsrfToken(
    http.headers.get('cookie'),
    params.optional('csrf_token'),
  )
  if (id === undefined || !shown) return refused(isOurs ? 400 : 403, 'decided')
  if (!isTheirs) return refused(403, 'foreign')

  const { request } = shown
  uiLocales = request.uiLocales
  const { address } = http
  const client = await server.getClient(request.clientId, { address, forAuthorization: true })
  const isUnchanged =
    client?.isActive &&
    isRegistered(request.redirectUri, client) &&
    shown.terms === termsOf(client, server)
  if (!isUnchanged) return refused(400, 'clientChanged')
  if (!isOurs) {
    const problem = textsOf(readerOf(http, { uiLocales })).problem.stale
    const asked = { id, request, client, ticked: params.repeated('optional_scope') }
    return renderConsent(http, asked, signedIn, server, { problem, status: 403 })
  }
  const decision = params.optional('confirm')
  if (decision !== 'yes' && decision !== 'no') return refused(400, 'undecided')
  if (!(await server.shortLived.pending.take(id))) return refused(400, 'decided')

  if (decision === 'no') {
    return errorResponse(
      new OAuthError('access_denied', 'The user refused the request.'),
      request,
      server,
      request.extensions,
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
    // The form can take optional scopes away from what was asked for, and nothing else.
    const ticked = params.repeated('optional_scope')
    const declined = optionalScopesOf(request.scopes, client).filter((id) => !ticked.includes(id))
    const scopes = request.scopes.filter((id) => !declined.includes(id))
    const { user } = signedIn
    await server.clients.keep(client)
    const consent = await server.consents.grant(user.id, client.clientId, scopes, { declined })
    return await grant(http, { ...request, scopes }, client, signedIn, consent, server)
  } catch (error) {
    // The decision is spent, so the client has to hear that it may ask again.
    const known = asOAuthError(error)
    if (known instanceof OAuthError) return errorResponse(known, request, server)
    throw error
  }
}

// What a client may do has changed while its user was asked: the request has to be judged anew.
const termsOf = (client: Client, { settings }: Configuration): string =>
  JSON.stringify([
    client.isConfidential,
    client.allowedGrantTypes,
    client.allowedResponseTypes,
    // Whoever unticked a scope has to be sure that it is left out.
    client.optionalScopes,
    settings.requirePkce,
  ])

/** What the page asks about. */
interface Question {
  readonly id: string
  readonly request: AuthorizationRequest
  readonly client: Client
  /** The optional scopes that stand ticked. */
  readonly ticked: readonly string[]
}

const renderConsent = (
  http: HttpRequest,
  { id, request, client, ticked }: Question,
  signedIn: SignedIn,
  server: ServerContext,
  { problem, status }: { readonly problem?: string; readonly status?: number } = {},
): Promise<Response> => {
  const { basePath, settings } = server
  const view = {
    action: `${basePath}${settings.oauthPrefix}/authorize`,
    authorizationRequest: id,
    client: { ...askingClient(client), redirectUri: request.redirectUri },
    user: signedIn.user.email,
    scopes: request.scopes.flatMap((scope) => server.scopes.get(scope) ?? []),
    optionalScopes: optionalScopesOf(request.scopes, client),
    ticked,
    problem,
  }
  return renderPage(http, server, 'consent', view, {
    status,
    signedIn,
    uiLocales: request.uiLocales,
    formAction: formActionSource(request.redirectUri),
  })
}
