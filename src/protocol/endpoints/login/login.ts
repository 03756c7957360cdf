import type { HttpRequest } from '../../../http/request.ts'
import { emailProblemOf, maxEmailLength } from '../../../model/email-address.ts'
import { maxPasswordBytes } from '../../../model/field-rules.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import { Parameters } from '../../../model/parameters.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import { userLinkPurposes } from '../../../model/user-link.ts'
import { ReferenceNotFound } from '../../../store/contract/errors.ts'
import { destinationOf } from '../../destinations.ts'
import type { Endpoint } from '../../plug-ins.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf, isForeign } from '../../session/browser.ts'
import {
  type ProvenRedirect,
  proveRedirect,
  referredTo,
} from '../authorization/authorization-request.ts'
import { withLoginProof } from '../authorization/login-again.ts'
import { prefersJson } from '../responses/prefers-json.ts'
import { readerOf, textsOf, uiLocalesIn } from '../responses/reader.ts'
import { renderPage } from '../responses/render.ts'
import { redirectResponse } from '../responses/responses.ts'
import { dropsSecureCookies } from './drops-secure-cookies.ts'

/** The query parameter whose value is the name of a draft: the stored fields of a form that was sent after a session had ended. */
export const draftParameter = 'draft'

const hasDraft = (path: string): boolean =>
  new URLSearchParams(path.replace(/^[^?]*/, '')).has(draftParameter)

/** The built-in login page. */
export const loginEndpoint: Endpoint = {
  path: ({ loginPath }) => loginPath,
  methods: ['GET', 'POST'],
  errors: 'page',
  async handle(request, server) {
    return request.method === 'POST' ? logIn(request, server) : show(request, server)
  },
}

const show = async (request: HttpRequest, server: ServerContext): Promise<Response> => {
  const params = request.queryParameters()
  const next = destinationOf({ path: params.repeated('next') }, server)
  const again = params.repeated('prompt').includes('login')
  if (!again && (await server.sessions.signedIn(browserOf(request))))
    return redirectResponse({ path: [next] }, server)
  const { userLinks } = await textsOf(
    readerOf(request, server, { uiLocales: uiLocalesOf(request, next) }),
    server,
  )
  const purpose = userLinkPurposes.find((one) => params.repeated('done').includes(one))
  const email = loginHintIn(next)
  const done = purpose && userLinks[purpose].done
  // The sentence about a draft already says that the session has ended.
  const mayTell = !again && done === undefined && !hasDraft(next)
  const hasExpired = mayTell && (await server.sessions.hasExpired(browserOf(request)))
  return form(request, server, { next, email, hasExpired, done })
}

const logIn = async (request: HttpRequest, server: ServerContext): Promise<Response> => {
  const params = await request.form()
  const next = destinationOf({ path: params.repeated('next') }, server)
  const email = params.optional('email') ?? ''
  const view = { next, email, status: 403 }
  const { login: texts, problems } = await textsOf(
    readerOf(request, server, { uiLocales: uiLocalesOf(request, next) }),
    server,
  )
  const again = (problem: string) => form(request, server, { ...view, problem })
  if (isForeign(request, server.issuer)) {
    // The browser did not send its cookie with this cross-site request (SameSite=Lax). A new cookie would overwrite
    // the cookie of an existing session.
    return form(request, server, { ...view, problem: texts.foreign, keepCookie: true })
  }
  if (!server.sessions.isCsrfToken(request.header('cookie'), params.optional('csrf_token'))) {
    const sentence = hasCookie(request, server) ? texts.stale : texts.noCookie
    const signedIn = await server.sessions.signedIn(browserOf(request))
    return form(request, server, { ...view, problem: sentence, user: signedIn?.user.email })
  }
  const password = params.opaque('password') ?? ''
  const isPossible =
    email !== '' && password !== '' && Buffer.byteLength(password) <= maxPasswordBytes
  if (!isPossible) return again(texts.wrong)
  try {
    const cookie = request.header('cookie')
    const known = await server.knownBrowsers.find(email, cookie)
    const tried = { account: email, address: request.address, browser: known }
    const user = await server.passwordTries.check(tried, password)
    if (!user) {
      // The sentence depends on the typed text alone, so it does not reveal whether an account exists.
      const isUnseen = emailProblemOf(email) === 'emailUnseen'
      return again(isUnseen ? problems.emailUnseen : texts.wrong)
    }
    const session = await server.sessions.signIn(user.id, browserOf(request), user.passwordHash)
    const page = withLoginProof(next, server.sessions.idIn(session), server)
    const browser = server.knownBrowsers.remember(email, user, cookie)
    return redirectResponse({ page }, server, session, browser)
  } catch (error) {
    if (error instanceof ReferenceNotFound) return again(texts.wrong)
    if (!(error instanceof OAuthError && error.status === 429) || prefersJson(request)) throw error
    const { status, headers } = error
    return form(request, server, { ...view, problem: texts.tooMany, status, headers })
  }
}

const hasCookie = (request: HttpRequest, { sessions }: ServerContext): boolean =>
  (request.header('cookie') ?? '').includes(`${sessions.cookieName}=`)

const form = async (
  request: HttpRequest,
  server: ServerContext,
  view: {
    readonly next: string
    readonly email?: string
    /** The e-mail address of the user who is already logged in, for instance in another tab. */
    readonly user?: string | undefined
    readonly hasExpired?: boolean
    readonly done?: string | undefined
    readonly problem?: string
    readonly status?: number
    readonly keepCookie?: boolean
    readonly headers?: Readonly<Record<string, string>>
  },
): Promise<Response> => {
  const { next, email = '', hasExpired = false, done, problem, status, keepCookie, headers } = view
  const { basePath, settings } = server
  const waiting = await waitingRequest(next, request.address, server)
  const uiLocales = uiLocalesIn(request.query)
  const action = withQuery(`${basePath}${settings.loginPath}`, { ui_locales: uiLocales })
  return renderPage(
    request,
    server,
    'login',
    {
      action,
      next,
      email,
      user: view.user,
      client: waiting?.client.name,
      hasDraft: problem === undefined && done === undefined && hasDraft(next),
      done,
      problem,
      hasExpired,
      dropsCookies: dropsSecureCookies(request, server.issuer),
    },
    {
      status,
      keepCookie,
      headers,
      uiLocales: uiLocalesOf(request, next),
    },
  )
}

/** Returns the `ui_locales` of this request, or else of the authorization request that waits for the login. */
const uiLocalesOf = ({ query }: HttpRequest, next: string): string | undefined =>
  uiLocalesIn(query) ?? uiLocalesIn(next.replace(/^[^?]*/, ''))

/**
 * Returns the `login_hint` of the authorization request that waits for the login (OpenID Connect Core §3.1.2.1). Returns
 * an empty text if the hint does not look like an e-mail address, or contains an invisible character.
 */
const loginHintIn = (next: string): string => {
  const [hint = '', ...more] = new URLSearchParams(next.replace(/^[^?]*/, '')).getAll('login_hint')
  const isShown = hint.includes('@') && emailProblemOf(hint) !== 'emailUnseen'
  return more.length === 0 && hint.length <= maxEmailLength && isShown ? hint : ''
}

/** Returns the authorization request that waits for the login. Undefined if no valid request waits. */
const waitingRequest = async (
  next: string,
  address: string,
  server: ServerContext,
): Promise<ProvenRedirect | undefined> => {
  const endpoint = `${server.basePath}${server.settings.oauthPrefix}/authorize?`
  if (!next.startsWith(endpoint)) return undefined
  try {
    const sent = new Parameters(next.slice(endpoint.length))
    const { params } = await referredTo(sent, server, { address })
    return await proveRedirect(params, server, { address })
  } catch (error) {
    if (error instanceof OAuthError) return undefined
    throw error
  }
}
