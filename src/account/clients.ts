import { clients as clientsShape } from '../pages/shapes/applications.ts'
import { listResource } from './list-resource.ts'
import { clientToWire } from './wire.ts'

/** Lists the applications that the user registered. */
export const clientsPage = listResource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/`,
  page: 'clients',
  view: clientsShape,
  operationId: 'listClients',
  summary: 'Searches, sorts and filters the applications that the user registered',
  async list({ server, signedIn: { user } }) {
    return {
      summaries: (cursor) => server.clients.summariesOfOwner(user.id, cursor),
      async entries(found) {
        const ids = found.map(({ clientId }) => clientId)
        const clients = await server.clients.ownAmong(user.id, ids)
        return { clients: clients.map(({ client, users }) => clientToWire(client, users, server)) }
      },
    }
  },
  arrangement: () => ({
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
  }),
})
