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
    if (isForeign(request, server.issuer))
      return renderProblem(request, server, 'foreign', { status: 403 })
    const params = await request.form()
    const home = { page: ui.links.home }
    const cookie = request.header('cookie')
    const isOurs = sessions.isCsrfToken(cookie, params.optional('csrf_token'))
    // The user has logged out before, for instance in another tab, so nothing remains to be done.
    if (!isOurs && !sessions.hasCookie(cookie)) return redirectResponse(home, server)
    if (!isOurs) return renderProblem(request, server, 'staleLogout', { status: 403 })
    return redirectResponse(home, server, await sessions.signOut(browserOf(request)))
  },
}
