import { redirectResponse } from '../protocol/endpoints/responses/responses.ts'
import type { Endpoint } from '../protocol/plug-ins.ts'

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
