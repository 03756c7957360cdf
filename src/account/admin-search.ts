import type { Parameters } from '../model/parameters.ts'
import { choicesIn } from './arranged-list.ts'
import type { Changed } from './notice.ts'
import { searched } from './search.ts'
import type { SettingsRequest } from './settings-request.ts'

/** Redirects the search form of a list to the URL of its results. */
export const searchedList = (
  request: SettingsRequest,
  params: Parameters,
  field: 'client' | 'token',
): Promise<Changed> => {
  const { links } = request.server.ui
  const list = field === 'client' ? links.adminApplications : links.adminTokens
  return searched(request, params, {
    names: [field],
    location: (found) => {
      const query = new URLSearchParams([...found, ...choicesIn(params)])
      return `${list}${query.size === 0 ? '' : `?${query}`}#list`
    },
    isKnown: (text) => isClient(text, request),
  })
}

/** Returns whether a text is the ID of a client. */
export const isClient = async (clientId: string, { server }: SettingsRequest): Promise<boolean> =>
  (await server.clients.find(clientId)) !== undefined
