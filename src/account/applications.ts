import { applications } from '../pages/shapes/applications.ts'
import type { Cursor } from '../store/contract/page.ts'
import { cursorOf, listed } from './list-page.ts'
import { after } from './page-operations.ts'
import { resource } from './resource.ts'
import { authorizedToWire, clientToWire, personalTokenToWire } from './wire.ts'

/** The maximum number of entries of each list on the page. JSON responses contain up to `pageSize` entries. */
const overviewSize = 8

/** Shows the first entries of the user's own applications, personal tokens and authorized applications. */
export const applicationsPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/`,
  page: 'applications',
  view: applications,
  operations: () => ({
    get: {
      operationId: 'listApplications',
      summary: 'Lists the user’s own applications, personal tokens and authorized applications',
      answer: 'The first or the requested page of each list.',
      query: [after('clients_after'), after('tokens_after'), after('authorized_after')],
    },
  }),
  async read(request) {
    const { server, signedIn, asJson } = request
    const { id } = signedIn.user
    await server.operations.flushTokenUses()
    const cursor = (name: string): Cursor => ({
      ...cursorOf(request, name),
      ...(!asJson && { limit: overviewSize }),
    })
    const [ofOwner, ofUser, allowed] = await Promise.all([
      server.clients.ofOwner(id, cursor('clients_after')),
      server.personalTokens.listByUser(id, cursor('tokens_after')),
      server.authorizedApplications.listByUser(id, cursor('authorized_after')),
    ])
    const clients = listed(request, 'clients_after', ofOwner, ({ client, users }) =>
      clientToWire(client, users, server),
    )
    const tokens = listed(request, 'tokens_after', ofUser, personalTokenToWire)
    const authorized = listed(request, 'authorized_after', allowed, (item) =>
      authorizedToWire(item, server),
    )
    return {
      view: {
        clients: clients.items,
        personal_tokens: tokens.items,
        authorized: authorized.items,
        next: {
          clients: clients.next,
          personal_tokens: tokens.next,
          authorized: authorized.next,
        },
      },
      forPage: () => ({
        first: {
          clients: clients.first,
          personal_tokens: tokens.first,
          authorized: authorized.first,
        },
      }),
    }
  },
})
