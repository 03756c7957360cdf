import { addresses } from '../pages/addresses.ts'
import { authorizedApplications } from '../pages/shapes/applications.ts'
import type { AuthorizedSummary } from '../store/contract/clients.ts'
import type { Cursor } from '../store/contract/page.ts'
import { type Arrangement, arranged, arrangedQuery } from './arranged-list.ts'
import { authorizedItem } from './list-items.ts'
import { showNotice } from './notice.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { arrangementToWire, authorizedToWire } from './wire.ts'

const arrangementOf = ({
  server,
}: Pick<SettingsRequest, 'server'>): Arrangement<AuthorizedSummary> => ({
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
  scopesOf: ({ scopes }) => server.scopes.visible(scopes),
})

/** Lists the applications that the user authorized. */
export const showAuthorized = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server, signedIn } = request
  const { id: userId } = signedIn.user
  await server.operations.flushTokenUses()
  const read = (cursor: Cursor) => server.authorizedApplications.summariesOf(userId, cursor)
  const list = await arranged(request, read, arrangementOf(request))
  const applications = await server.authorizedApplications.among(
    userId,
    list.items.map(({ clientId }) => clientId),
  )
  const notice = await showNotice(request)
  const to = addresses(server.ui.links)
  const view = {
    authorized: { ...list, items: applications.map((item) => authorizedItem(item, request)) },
    revokeSelected: to.selectedApplications,
    revokeAllAction: to.revokeAll,
  }
  const json = () => ({
    authorized: applications.map((item) => authorizedToWire(item, server.scopes)),
    ...arrangementToWire(list),
  })
  return respond(request, 'authorized', { view, json, refused, notice })
}

export const authorizedPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/authorized/`,
  operations: (server) => ({
    get: {
      operationId: 'listAuthorizedApplications',
      summary: 'Searches, sorts and filters the applications that the user authorized',
      answer: 'A page of the list.',
      view: authorizedApplications,
      query: arrangedQuery(arrangementOf({ server })),
    },
  }),
  show: showAuthorized,
})
