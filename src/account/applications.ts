import { addresses } from '../pages/addresses.ts'
import { applications } from '../pages/shapes/applications.ts'
import type { Cursor } from '../store/contract/page.ts'
import { authorizedItem, clientItem, tokenItem } from './list-items.ts'
import { cursorOf, listed } from './list-page.ts'
import { showNotice } from './notice.ts'
import { after } from './page-operations.ts'
import type { Refused } from './settings-page.ts'
import { respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { authorizedToWire, clientToWire, personalTokenToWire } from './wire.ts'

/** The maximum number of entries of each list on the page. JSON responses contain up to `pageSize` entries. */
const overviewSize = 8

/** Shows the first entries of the user's own applications, personal tokens and authorized applications. */
export const showApplications = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server, signedIn } = request
  const { id } = signedIn.user
  await server.operations.flushTokenUses()
  const to = addresses(server.ui.links)
  const cursor = (name: string): Cursor => ({
    ...cursorOf(request, name),
    ...(!request.asJson && { limit: overviewSize }),
  })
  const [clients, tokens, authorized] = await Promise.all([
    server.clients.ofOwner(id, cursor('clients_after')),
    server.personalTokens.listByUser(id, cursor('tokens_after')),
    server.authorizedApplications.listByUser(id, cursor('authorized_after')),
  ])
  const notice = await showNotice(request)
  const page = {
    clients: listed(request, 'clients_after', clients, (item) => clientItem(item, request)),
    personalTokens: listed(request, 'tokens_after', tokens, (item) => tokenItem(item, request)),
    authorized: listed(request, 'authorized_after', authorized, (item) =>
      authorizedItem(item, request),
    ),
  }
  const view = {
    ...page,
    newClient: to.newClient,
    newToken: to.newToken,
  }
  const json = () => ({
    clients: clients.items.map(({ client, users }) => clientToWire(client, users, server)),
    personal_tokens: tokens.items.map(personalTokenToWire),
    authorized: authorized.items.map((item) => authorizedToWire(item, server.scopes)),
    next: {
      clients: page.clients.next,
      personal_tokens: page.personalTokens.next,
      authorized: page.authorized.next,
    },
  })
  return respond(request, 'applications', { view, json, refused, notice })
}

export const applicationsPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/`,
  operations: () => ({
    get: {
      operationId: 'listApplications',
      summary: 'Lists the user’s own applications, personal tokens and authorized applications',
      answer: 'The first or the requested page of each list.',
      view: applications,
      query: [after('clients_after'), after('tokens_after'), after('authorized_after')],
    },
  }),
  show: showApplications,
})
