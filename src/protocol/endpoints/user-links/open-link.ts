import type { HttpRequest } from '../../../http/request.ts'
import { minPasswordLength } from '../../../model/field-rules.ts'
import { InvalidField } from '../../../model/invalid-field.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import type { FormProblem } from '../../../pages/form-problem.ts'
import type { Messages } from '../../../pages/messages/en.ts'
import type { Endpoint } from '../../plug-ins.ts'
import type { ServerContext } from '../../server-context.ts'
import { isForeign } from '../../session/browser.ts'
import { problemOf } from '../forms/form.ts'
import { renderProblem, type Way } from '../responses/problem.ts'
import { readerOf, textsOf } from '../responses/reader.ts'
import { renderPage } from '../responses/render.ts'
import { redirectResponse } from '../responses/responses.ts'
import { openLinkPath } from './send-link.ts'

/** The page that a link in an e-mail opens: a form for a new password, or a confirmation of the e-mail address. */
export const openLinkEndpoint: Endpoint = {
  path: openLinkPath,
  methods: ['GET', 'POST'],
  errors: 'page',
  async handle(http, server) {
    return http.method === 'POST'
      ? use(http, server, await http.form())
      : show(http, server, http.queryParameters())
  },
}

const use = async (
  http: HttpRequest,
  server: ServerContext,
  form: Parameters,
): Promise<Response> => {
  if (isForeign(http, server.issuer)) return renderProblem(http, server, 'foreign', { status: 403 })
  const reader = readerOf(http, server)
  const texts = await textsOf(reader, server)
  const again = (problem: FormProblem, status: number) =>
    show(http, server, form, { problem, status })
  if (!server.sessions.isCsrfToken(http.header('cookie'), form.optional('csrf_token')))
    return again({ sentence: texts.login.stale }, 403)
  try {
    const password = form.opaque('new_password') ?? ''
    const used = await server.userLinks.use(form.optional('token') ?? '', password)
    if (!used) return invalid(http, server)
    const { browser, purpose } = used
    // Anyone can request a link for any user, with any path. Open the path only in the browser that requested the link.
    const isRequester = server.sessions.isCsrfToken(http.header('cookie'), browser)
    const next = isRequester ? used.next : undefined
    const page = withQuery(server.ui.links.login, { next, done: purpose })
    return redirectResponse({ page }, server)
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error
    const problem = problemOf(error, { texts, reader })
    return again(problem ?? { sentence: error.message }, 400)
  }
}

const show = async (
  http: HttpRequest,
  server: ServerContext,
  params: Parameters,
  { problem, status }: { readonly problem?: FormProblem; readonly status?: number } = {},
): Promise<Response> => {
  const [token = '', ...more] = params.repeated('token')
  const link = more.length === 0 ? await server.userLinks.open(token) : undefined
  if (!link) return invalid(http, server)
  const { purpose, email } = link
  const action = `${server.basePath}${openLinkPath(server.settings)}`
  const view = { purpose, email, token, action, minLength: minPasswordLength, problem }
  return renderPage(http, server, 'openLink', view, { status })
}

const invalid = (http: HttpRequest, server: ServerContext): Promise<Response> => {
  const { forgotPassword, login } = server.ui.links
  const ways: readonly Way[] = [
    ...(forgotPassword === null
      ? []
      : [
          {
            href: forgotPassword,
            text: ({ userLinks }: Messages) => userLinks.reset_password.title,
          },
        ]),
    // The user may have used the link before, and may already be logged in.
    { href: login, text: (texts) => texts.login.submit },
  ]
  return renderProblem(http, server, 'linkInvalid', { status: 400, ways })
}
