import type { Endpoint } from '../../plug-ins.ts'
import { redirectResponse } from '../responses/responses.ts'

/**
 * Redirects from the root of the settings to the overview of the applications. Other pages, such as the sessions page, do
 * not exist on every server.
 */
export const settingsHome: Endpoint = {
  path: ({ settingsPrefix }) => `${settingsPrefix}/`,
  methods: ['GET'],
  errors: 'page',
  async handle(_http, server) {
    return redirectResponse({ page: server.ui.links.applications }, server)
  },
}
