import type { Endpoint } from '../../plug-ins.ts'
import { renderPage } from './render.ts'

/** The view named `svc_oauth2server.errors`: says what went wrong, and leads nowhere by itself. */
export const errorsEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/errors`,
  methods: ['GET'],
  errors: 'page',
  async handle(request, server) {
    // Shown as text whatever it is, so a doubled parameter is no reason to fail.
    const params = request.queryParameters()
    const first = (name: string): string => params.repeated(name)[0] ?? ''
    const view = {
      error: first('error').slice(0, 100),
      description: first('error_description').slice(0, 500),
    }
    return renderPage(request, server, 'error', view, { status: 400, keepCookie: true })
  },
}
