import type { HttpRequest } from '../../../http/request.ts'
import { InvalidField } from '../../../model/invalid-field.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import type { UserLinkPurpose } from '../../../model/user-link.ts'
import type { RequestLinkView } from '../../../pages/views/request-link.ts'
import type { Settings } from '../../../settings/settings.ts'
import { destinationOf } from '../../destinations.ts'
import type { Endpoint } from '../../plug-ins.ts'
import type { ServerContext } from '../../server-context.ts'
import { isForeign } from '../../session/browser.ts'
import { problemOf } from '../forms/form.ts'
import { prefersJson } from '../responses/prefers-json.ts'
import { renderProblem } from '../responses/problem.ts'
import { readerOf, textsOf, uiLocalesIn } from '../responses/reader.ts'
import { type RenderOptions, renderPage } from '../responses/render.ts'
import { sendLink } from './send-link.ts'

type Purpose = Exclude<UserLinkPurpose, 'verify_email'>

/** Creates the page on which a visitor requests a link by e-mail. */
const requestLink = (purpose: Purpose, path: (settings: Settings) => string): Endpoint => ({
  path,
  methods: ['GET', 'POST'],
  errors: 'page',
  async handle(http, server) {
    const action = `${server.basePath}${path(server.settings)}`
    const form = http.method === 'POST' ? await http.form() : http.queryParameters()
    const next = destinationOf({ path: form.repeated('next') }, server)
    const empty = { purpose, action, next, email: '', isSent: false, problem: undefined }
    return http.method === 'POST'
      ? send(http, server, { ...empty, email: form.optional('email') ?? '' }, form)
      : show(http, server, empty)
  },
})

const send = async (
  http: HttpRequest,
  server: ServerContext,
  view: RequestLinkView,
  form: { optional(name: string): string | undefined },
): Promise<Response> => {
  if (isForeign(http, server.issuer)) return renderProblem(http, server, 'foreign', { status: 403 })
  const reader = readerOf(http, server)
  const texts = await textsOf(reader, server)
  if (!server.sessions.isCsrfToken(http.header('cookie'), form.optional('csrf_token')))
    return show(
      http,
      server,
      { ...view, problem: { sentence: texts.login.stale } },
      { status: 403 },
    )
  try {
    const { purpose, email, next } = view
    const browser = form.optional('csrf_token')
    await sendLink({ purpose, email, next, browser, language: reader.language }, http, server)
    return show(http, server, { ...view, isSent: true })
  } catch (error) {
    if (error instanceof InvalidField) {
      const problem = problemOf(error, { texts, reader })
      return show(http, server, { ...view, problem }, { status: 400 })
    }
    if (!(error instanceof OAuthError && error.status === 429) || prefersJson(http)) throw error
    const { status, headers } = error
    return show(
      http,
      server,
      { ...view, problem: { sentence: texts.userLinks.tooMany } },
      { status, headers },
    )
  }
}

const show = (
  http: HttpRequest,
  server: ServerContext,
  view: RequestLinkView,
  options: RenderOptions = {},
): Promise<Response> => {
  const action = withQuery(view.action, { ui_locales: uiLocalesIn(http.query) })
  return renderPage(http, server, 'requestLink', { ...view, action }, options)
}

/** The page on which a user who forgot the password requests a link. */
export const forgotPasswordEndpoint = requestLink(
  'reset_password',
  ({ loginPath }) => `${loginPath}/forgot-password`,
)

/** The page on which a visitor requests a link to create an account. */
export const signUpEndpoint = requestLink('sign_up', ({ loginPath }) => `${loginPath}/sign-up`)
