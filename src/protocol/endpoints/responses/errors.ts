import type { Endpoint } from '../../plug-ins.ts'
import { expiredReason, findDetails } from '../authorization/refused-redirect.ts'
import { renderPage } from './render.ts'

/** The view `svc_oauth2server.errors` of the specification, which shows an error and never redirects. */
export const errorsEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/errors`,
  methods: ['GET'],
  errors: 'page',
  async handle(request, server) {
    // A repeated parameter is harmless here, because the page only shows its first value as text.
    const params = request.queryParameters()
    const first = (name: string): string => params.repeated(name)[0] ?? ''
    const found = await findDetails(request, server)
    const view = {
      error: first('error').slice(0, 100),
      description: first('error_description').slice(0, 500),
      isExpired: first('reason') === expiredReason,
      refused: found?.details,
    }
    return renderPage(request, server, 'error', view, {
      status: 400,
      signedIn: found?.signedIn,
      keepCookie: true,
    })
  },
}
