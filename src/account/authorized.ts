import { authorizedApplications } from '../pages/shapes/applications.ts'
import { listResource } from './list-resource.ts'
import { authorizedToWire } from './wire.ts'

/** Lists the applications that the user authorized. */
export const authorizedPage = listResource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/authorized/`,
  page: 'authorized',
  view: authorizedApplications,
  operationId: 'listAuthorizedApplications',
  summary: 'Searches, sorts and filters the applications that the user authorized',
  async list({ server, signedIn: { user } }) {
    await server.operations.flushTokenUses()
    return {
      summaries: (cursor) => server.authorizedApplications.summariesOf(user.id, cursor),
      async entries(found) {
        const ids = found.map(({ clientId }) => clientId)
        const applications = await server.authorizedApplications.among(user.id, ids)
        return { authorized: applications.map((item) => authorizedToWire(item, server)) }
      },
    }
  },
  arrangement: ({ scopes }) => ({
    idOf: ({ clientId }) => clientId,
    textsOf: ({ name, clientId }) => [name, clientId],
    orders: {
      name: ({ name }) => name,
      newest: ({ createdAt }) => -createdAt,
      oldest: ({ createdAt }) => createdAt,
      used: ({ lastUsedAt }) => -(lastUsedAt ?? 0),
      unused: ({ lastUsedAt }) => lastUsedAt ?? 0,
    },
    filters: {
      never_used: ({ lastUsedAt }) => lastUsedAt === null,
      verified: ({ isVerified }) => isVerified,
      disabled: ({ isDisabled }) => isDisabled,
    },
    scopesOf: (application) => scopes.visible(application.scopes),
  }),
})
