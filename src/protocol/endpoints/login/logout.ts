import type { Endpoint } from '../../plug-ins.ts'
import { browserOf, isForeign } from '../../session/browser.ts'
import { renderProblem } from '../responses/problem.ts'
import { redirectResponse } from '../responses/responses.ts'

/** Logs the user out. The endpoint requires a POST with the CSRF token, so that other sites cannot log users out. */
export const logoutEndpoint: Endpoint = {
  path: ({ logoutPath }) => logoutPath,
  methods: ['POST'],
  errors: 'page',
  async handle(request, server) {
    const { sessions, ui } = server
    const params = await request.form()
    const isOurs = sessions.isCsrfToken(
      request.headers.get('cookie'),
      params.optional('csrf_token'),
    )
    if (!isOurs || isForeign(request, server.issuer))
      return renderProblem(request, server, 'staleLogout', { status: 403 })
    return redirectResponse(ui.links.home, await sessions.signOut(browserOf(request)))
  },
}
