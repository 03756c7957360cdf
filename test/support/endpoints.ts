import type { Endpoint } from '../../src/protocol/plug-ins.ts'
import type { PlugIns } from '../../src/protocol/server-context.ts'
import type { Prepared } from '../../src/server/prepare.ts'
import { selectPlugIns } from '../../src/server/select-plug-ins.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'

/** Returns the plug-ins of a server with these settings, the built-in users and metrics. */
export const plugInsOf = (given: Readonly<Record<string, unknown>>): PlugIns => {
  const prometheus = { scrape: async () => '' }
  const settings = parseSettings(given)
  return selectPlugIns({ options: {}, settings, prometheus } as unknown as Prepared)
}

/** Returns the endpoints of a server with these settings, with their paths. */
export const endpointsOf = (
  given: Readonly<Record<string, unknown>>,
): readonly { readonly endpoint: Endpoint; readonly path: string }[] => {
  const settings = parseSettings(given)
  return plugInsOf(given).endpoints.map((endpoint) => ({
    endpoint,
    path: endpoint.path(settings),
  }))
}
