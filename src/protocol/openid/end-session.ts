import type { HttpRequest } from '../../http/request.ts'
import type { SignedIn } from '../../model/auth.ts'
import { Parameters } from '../../model/parameters.ts'
import { withQuery } from '../../model/redirect-uri.ts'
import { sectorOf } from '../../model/sector.ts'
import { notFound, renderProblem } from '../endpoints/responses/problem.ts'
import { readerOf, textsOf } from '../endpoints/responses/reader.ts'
import { renderPage } from '../endpoints/responses/render.ts'
import { redirectResponse } from '../endpoints/responses/responses.ts'
import type { Endpoint } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import { browserOf, isForeign } from '../session/browser.ts'
import { subjectIn } from '../subject.ts'
import {
  type EndSessionRequest,
  queryOfForm,
  readEndSessionRequest,
} from './end-session-request.ts'
import { sidOf } from './sid.ts'

/** The part of a request that the user confirmed, sealed in the form. */
interface Confirmed {
  readonly target: string | undefined
  readonly uiLocales: string | undefined
}

const claims = ['end session']

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
    return redirectResponse(`${addressOf(server)}?${queryOfForm(text)}`)
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
  if (!signedIn) return done(http, request, request.hint !== undefined, server)
  const { hostLogout } = server.ui.links
  // The application ends its session, and then sends the browser back to this request.
  if (server.sessions.isHosted && hostLogout !== null)
    return redirectResponse(withQuery(hostLogout, { next: `${addressOf(server)}?${http.query}` }))
  if (!(await isProven(request, signedIn, server))) return ask(http, request, signedIn, server)
  const cookie = await server.sessions.signOut(browserOf(http))
  return done(http, request, true, server, cookie)
}

/** Returns whether the ID token in the request belongs to this session and this user. RP-Initiated Logout §2. */
const isProven = async (
  { hint, client }: EndSessionRequest,
  { user, sessionId }: SignedIn,
  server: ServerContext,
): Promise<boolean> => {
  if (!hint || !client) return false
  const sectors = [undefined, ...client.redirectUris].map((uri) => sectorOf(client, uri))
  for (const sector of new Set(sectors)) {
    const sids = [sidOf(sessionId, sector), sidOf(sessionId, null)]
    const isOfSession = sids.some((sid) => sid === hint.sid)
    if (isOfSession && hint.sub === (await subjectIn(sector, user.id, server))) return true
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
  const confirmed: Confirmed = { target, uiLocales }
  const view = {
    action: addressOf(server),
    request: server.keys.seal('transient', JSON.stringify(confirmed), claims),
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
  const text = server.keys.open('transient', params.opaque('logout_request') ?? '', claims)
  if (text === undefined) return renderProblem(http, server, 'staleLogout', { status: 400 })
  const { target, uiLocales }: Confirmed = JSON.parse(text)
  const request = { target, uiLocales, hint: undefined, client: undefined }
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (!signedIn) return done(http, request, target !== undefined, server)
  const cookie = http.headers.get('cookie')
  if (!server.sessions.isCsrfToken(cookie, params.optional('csrf_token'))) {
    const { problem } = textsOf(readerOf(http, { uiLocales }))
    return ask(http, request, signedIn, server, { problem: problem.stale, status: 403 })
  }
  if (params.optional('confirm') !== 'yes') return redirectResponse(server.ui.links.home)
  const ended = await server.sessions.signOut(browserOf(http))
  return done(http, request, target !== undefined, server, ended)
}

/**
 * Returns the browser to the client, or shows that nobody is logged in.
 * @param mayRedirect whether an ID token or the user confirmed the request; otherwise, the page only links to the client
 */
const done = async (
  http: HttpRequest,
  { target, uiLocales }: Pick<EndSessionRequest, 'target' | 'uiLocales'>,
  mayRedirect: boolean,
  server: ServerContext,
  setCookie?: string,
): Promise<Response> => {
  const cookies = setCookie === undefined ? [] : [setCookie]
  if (mayRedirect && target !== undefined) return redirectResponse(target, ...cookies)
  const page = await renderPage(
    http,
    server,
    'loggedOut',
    { back: target },
    { uiLocales, keepCookie: true },
  )
  if (setCookie !== undefined) page.headers.append('set-cookie', setCookie)
  return page
}
