import type { Endpoint, ServerContext } from '../extension.ts'
import type { HttpRequest } from '../http-request.ts'
import { longestPasswordBytes } from '../model/field-rules.ts'
import { Parameters } from '../model/parameters.ts'
import { formActionSource } from '../model/redirect-uri.ts'
import { OAuthError } from '../oauth-error.ts'
import { loginPage } from '../pages/login.ts'
import { messages } from '../pages/messages.ts'
import { browserOf, isForeign } from '../session/browser.ts'
import { safeNext } from '../session/safe-next.ts'
import { Vanished } from '../store/store.ts'
import { pageAnswer, redirectAnswer } from './answers.ts'
import { proveRedirect } from './authorization-request.ts'

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
  const next = safeNext(params.repeated('next'), server)
  const again = params.repeated('prompt').includes('login')
  if (!again && (await server.sessions.signedIn(browserOf(request)))) return redirectAnswer(next)
  return form(request, server, { next })
}

const logIn = async (request: HttpRequest, server: ServerContext): Promise<Response> => {
  const params = await request.form()
  const next = safeNext(params.repeated('next'), server)
  const email = params.optional('email') ?? ''
  const view = { next, email, status: 403 }
  const again = (problem: string) => form(request, server, { ...view, problem })
  if (isForeign(request, server.issuer)) {
    // It came without the browser's cookie (Lax); a new one would take the place of a living session's.
    return form(request, server, { ...view, problem: messages.login.foreign, keepCookie: true })
  }
  if (!server.sessions.isCsrfToken(request.headers.get('cookie'), params.optional('csrf_token'))) {
    return again(messages.login.stale)
  }
  const password = params.opaque('password') ?? ''
  const isPossible =
    email !== '' && password !== '' && Buffer.byteLength(password) <= longestPasswordBytes
  const user = isPossible ? await server.users.checked(email, password) : undefined
  if (!user) return again(messages.login.wrong)
  try {
    const browser = browserOf(request)
    return redirectAnswer(next, await server.sessions.signIn(user.id, browser, user.passwordHash))
  } catch (error) {
    if (error instanceof Vanished) return again(messages.login.wrong)
    throw error
  }
}

const form = async (
  request: HttpRequest,
  server: ServerContext,
  view: {
    readonly next: string
    readonly email?: string
    readonly problem?: string
    readonly status?: number
    readonly keepCookie?: boolean
  },
): Promise<Response> => {
  const { csrfToken, setCookie } = server.sessions.csrf(request.headers.get('cookie'))
  const { basePath, settings } = server
  const page = loginPage({
    base: server.pageBase,
    action: `${basePath}${settings.loginPath}`,
    csrfToken,
    next: view.next,
    email: view.email ?? '',
    problem: view.problem,
  })
  const formAction = await redirectAfter(view.next, server)
  return pageAnswer(page, {
    status: view.status ?? 200,
    setCookie: view.keepCookie ? undefined : setCookie,
    formAction,
  })
}

/** Where a pending authorization request may redirect straight after the login, when its consent is remembered. */
const redirectAfter = async (next: string, server: ServerContext): Promise<string | undefined> => {
  const endpoint = `${server.basePath}${server.settings.oauthPrefix}/authorize?`
  if (!next.startsWith(endpoint)) return undefined
  try {
    const { redirectUri } = await proveRedirect(new Parameters(next.slice(endpoint.length)), server)
    return formActionSource(redirectUri)
  } catch (error) {
    if (error instanceof OAuthError) return undefined
    throw error
  }
}
