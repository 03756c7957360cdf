import type { Endpoint } from '../extension.ts'
import { messages } from '../pages/messages.ts'
import { problemPage } from '../pages/problem.ts'
import { browserOf, isForeign } from '../session/browser.ts'
import { pageAnswer, redirectAnswer } from './answers.ts'

/** Ends the session. A link cannot do it: POST with the page's CSRF token. */
export const logoutEndpoint: Endpoint = {
  path: ({ logoutPath }) => logoutPath,
  methods: ['POST'],
  errors: 'page',
  async handle(request, server) {
    const { basePath, pageBase, sessions } = server
    const params = await request.form()
    const isOurs = sessions.isCsrfToken(
      request.headers.get('cookie'),
      params.optional('csrf_token'),
    )
    if (!isOurs || isForeign(request, server.issuer)) {
      const page = problemPage({
        base: pageBase,
        title: messages.problem.title,
        sentence: messages.problem.stale,
      })
      return pageAnswer(page, { status: 403 })
    }
    return redirectAnswer(`${basePath}/`, await sessions.signOut(browserOf(request)))
  },
}
