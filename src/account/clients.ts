import { addresses } from '../pages/addresses.ts'
import { clients } from '../pages/shapes/applications.ts'
import type { ClientSummary } from '../store/contract/clients.ts'
import type { Cursor } from '../store/contract/page.ts'
import { type Arrangement, arranged, arrangedQuery } from './arranged-list.ts'
import { clientItem } from './list-items.ts'
import { showNotice } from './notice.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { arrangementToWire, clientToWire } from './wire.ts'

const arrangement: Arrangement<ClientSummary> = {
  idOf: ({ clientId }) => clientId,
  textsOf: ({ name, clientId }) => [name, clientId],
  orders: {
    newest: ({ createdAt }) => -createdAt,
    oldest: ({ createdAt }) => createdAt,
    name: ({ name }) => name,
  },
  filters: {
    confidential: ({ isConfidential }) => isConfidential,
    public: ({ isConfidential }) => !isConfidential,
    verified: ({ isVerified }) => isVerified,
    disabled: ({ isDisabled }) => isDisabled,
  },
}

/** Lists the applications that the user registered. */
export const showClients = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server, signedIn } = request
  const { id: userId } = signedIn.user
  const read = (cursor: Cursor) => server.clients.summariesOfOwner(userId, cursor)
  const list = await arranged(request, read, arrangement)
  const clients = await server.clients.ownAmong(
    userId,
    list.items.map(({ clientId }) => clientId),
  )
  const notice = await showNotice(request)
  const view = {
    clients: { ...list, items: clients.map((client) => clientItem(client, request)) },
    newClient: addresses(server.ui.links).newClient,
  }
  const json = () => ({
    clients: clients.map(({ client, users }) => clientToWire(client, users, server)),
    ...arrangementToWire(list),
  })
  return respond(request, 'clients', { view, json, refused, notice })
}

export const clientsPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/`,
  operations: () => ({
    get: {
      operationId: 'listClients',
      summary: 'Searches, sorts and filters the applications that the user registered',
      answer: 'A page of the list.',
      view: clients,
      query: arrangedQuery(arrangement),
    },
  }),
  show: showClients,
})
