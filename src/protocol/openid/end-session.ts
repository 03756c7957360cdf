import type { HttpRequest } from '../../http/request.ts'
import type { SignedIn } from '../../model/auth.ts'
import { Parameters } from '../../model/parameters.ts'
import { withQuery } from '../../model/redirect-uri.ts'
import { sectorOf, sectorSince, subjectIn } from '../../model/sector.ts'
import { mayReturn } from '../destinations.ts'
import { notFound, renderProblem } from '../endpoints/responses/problem.ts'
import { readerOf, textsOf } from '../endpoints/responses/reader.ts'
import { renderPage } from '../endpoints/responses/render.ts'
import { redirectResponse } from '../endpoints/responses/responses.ts'
import type { Endpoint } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import { browserOf, isForeign } from '../session/browser.ts'
import { openHeld, sealHeld } from '../session/held-values.ts'
import {
  type EndSessionRequest,
  queryOfForm,
  readEndSessionRequest,
  targetOf,
} from './end-session-request.ts'
import { sidOf } from './sid.ts'

/** The part of a request that the user confirmed, sealed in the form. */
interface Confirmed {
  /** The session that the user wants to end. */
  readonly sessionId: string
  readonly clientId?: string | undefined
  readonly uri?: string | undefined
  readonly state?: string | undefined
  readonly uiLocales: string | undefined
}

/** The time for which the user can confirm the request, in milliseconds. */
const timeToConfirm = 86_400_000

/** The endpoint to which a client sends the browser to log the user out. OpenID Connect RP-Initiated Logout §2. */
export const endSessionEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/logout`,
  methods: ['GET', 'POST'],
  errors: 'page',
  async handle(http, server) {
    // The application has its own sessions, but no logout URL is configured, so this server cannot end a session.
    if (server.sessions.isHosted && server.ui.links.hostLogout === null) throw notFound()
    if (http.method !== 'POST') return answer(http, http.queryParameters(), server)
    const text = await http.formText()
    const params = new Parameters(text)
    if (params.repeated('confirm').length > 0) return decide(http, params, server)
    // Browsers send no session cookie with a form of another site. They send the cookie when they follow this redirect.
    return redirectResponse({ page: `${addressOf(server)}?${queryOfForm(text)}` }, server)
  },
}

const addressOf = ({ basePath, settings }: ServerContext): string =>
  `${basePath}${endSessionEndpoint.path(settings)}`

const answer = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Response> => {
  const request = await readEndSessionRequest(params, http, server)
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (!signedIn) return done(http, request, visitor(request.hint !== undefined), server)
  const { hostLogout } = server.ui.links
  // The application ends its session, and then sends the browser back to this request.
  if (server.sessions.isHosted && hostLogout !== null) {
    const page = withQuery(hostLogout, { next: `${addressOf(server)}?${http.query}` })
    return redirectResponse({ page }, server)
  }
  if (!(await isProven(request, signedIn, server))) return ask(http, request, signedIn, server)
  const cookie = await server.sessions.signOut(browserOf(http))
  return done(http, request, { isConfirmed: true, isLoggedIn: true }, server, cookie)
}

/** Returns whether the ID token in the request belongs to this session and this user. RP-Initiated Logout §2. */
const isProven = async (
  { hint, client }: EndSessionRequest,
  { user, sessionId }: SignedIn,
  server: ServerContext,
): Promise<boolean> => {
  if (!hint || !client) return false
  const consent = await server.consents.find(user.id, client.clientId)
  const sectors = [undefined, ...client.redirectUris].map((uri) => sectorOf(client, uri))
  for (const sector of new Set(sectors)) {
    const isOfSession = [sector, null].some((one) => hint.sid === sidOf(sessionId, one))
    if (!isOfSession) continue
    const own = sectorSince(sector, consent?.reusedSince ?? null)
    if (hint.sub === (await subjectIn(own, user.id, server))) return true
  }
  return false
}

const ask = (
  http: HttpRequest,
  request: EndSessionRequest,
  signedIn: SignedIn,
  server: ServerContext,
  refused: { readonly problem?: string; readonly status?: number } = {},
): Promise<Response> => {
  const { target, uiLocales, client } = request
  const { uri, state } = target ?? {}
  const confirmed: Confirmed = {
    sessionId: signedIn.sessionId,
    clientId: client?.clientId,
    uri,
    state,
    uiLocales,
  }
  const until = server.clock() + timeToConfirm
  const view = {
    action: addressOf(server),
    request: sealHeld('end_session', [], { ...confirmed, until }, server),
    client: client?.name,
    user: signedIn.user.email,
    problem: refused.problem,
  }
  const { status } = refused
  return renderPage(http, server, 'logout', view, { status, signedIn, uiLocales })
}

const decide = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Response> => {
  if (isForeign(http, server.issuer))
    return renderProblem(http, server, 'staleLogout', { status: 403 })
  const confirmed = openHeld<Confirmed>('end_session', [], params.opaque('logout_request'), server)
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (!confirmed)
    return signedIn
      ? renderProblem(http, server, 'staleLogout', { status: 400 })
      : done(http, nowhere, visitor(false), server)
  const { sessionId, clientId, uri, state, uiLocales } = confirmed
  const { address } = http
  const client = clientId === undefined ? undefined : await server.getClient(clientId, { address })
  const target = uri === undefined ? undefined : targetOf(client, uri, state)
  const request = { target, uiLocales, hint: undefined, client }
  if (!signedIn) return done(http, request, visitor(true), server)
  const cookie = http.header('cookie')
  const isOwn = server.sessions.isCsrfToken(cookie, params.optional('csrf_token'))
  if (!isOwn || sessionId !== signedIn.sessionId) {
    const { problem } = await textsOf(readerOf(http, server, { uiLocales }), server)
    return ask(http, request, signedIn, server, { problem: problem.stale, status: 403 })
  }
  if (params.optional('confirm') !== 'yes')
    return redirectResponse({ page: server.ui.links.home }, server)
  const ended = await server.sessions.signOut(browserOf(http))
  return done(http, request, { isConfirmed: true, isLoggedIn: true }, server, ended)
}

interface Confirmation {
  /** Whether an ID token or the user confirmed the request. */
  readonly isConfirmed: boolean
  /** Whether this request ended a session. */
  readonly isLoggedIn: boolean
}

/** A request whose target is unknown. */
const nowhere = { target: undefined, uiLocales: undefined }

/** Returns the confirmation of a request without a session. */
const visitor = (isConfirmed: boolean): Confirmation => ({ isConfirmed, isLoggedIn: false })

/**
 * Returns the browser to the client, or shows that nobody is logged in, with a link to the client. Any client can obtain
 * an ID token for its own user, so an ID token alone does not send other visitors to a client that is not trusted.
 */
const done = async (
  http: HttpRequest,
  { target, uiLocales }: Pick<EndSessionRequest, 'target' | 'uiLocales'>,
  { isConfirmed, isLoggedIn }: Confirmation,
  server: ServerContext,
  setCookie?: string,
): Promise<Response> => {
  const cookies = setCookie === undefined ? [] : [setCookie]
  if (target && isConfirmed && mayReturn({ ...target, isLoggedIn }))
    return redirectResponse({ ...target, isLoggedIn }, server, ...cookies)
  const page = await renderPage(
    http,
    server,
    'loggedOut',
    { back: target?.address },
    { uiLocales, keepCookie: true },
  )
  if (setCookie !== undefined) page.headers.append('set-cookie', setCookie)
  return page
}
