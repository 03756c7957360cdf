import type { Endpoint } from '../../plug-ins.ts'
import { redirectResponse } from '../responses/responses.ts'

/** Redirects from the root of the settings to the overview of the applications, which every server has. */
export const settingsHome: Endpoint = {
  path: ({ settingsPrefix }) => `${settingsPrefix}/`,
  methods: ['GET'],
  errors: 'page',
  async handle(_http, { ui }) {
    return redirectResponse(ui.links.applications)
  },
}
