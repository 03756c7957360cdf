import type { Endpoint } from '../../plug-ins.ts'
import { browserOf } from '../../session/browser.ts'
import { renderPage } from '../responses/render.ts'

/** The start page of a standalone server. In an embedded server, `/` belongs to the application. */
export const homeEndpoint: Endpoint = {
  path: () => '/',
  methods: ['GET'],
  errors: 'page',
  async handle(request, server) {
    const signedIn = await server.sessions.signedIn(browserOf(request))
    return renderPage(request, server, 'home', {}, { signedIn })
  },
}
