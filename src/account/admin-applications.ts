import type { z } from 'zod'
import { shownEmail } from '../model/email-address.ts'
import { addresses } from '../pages/addresses.ts'
import type { AdminClientItem } from '../pages/models/admin.ts'
import { administration, administrationForm } from '../pages/shapes/administration.ts'
import { logoUrlOf } from '../protocol/endpoints/assets/client-logo.ts'
import { jsonResponse } from '../protocol/endpoints/responses/responses.ts'
import { inQuery } from '../protocol/openapi/schema.ts'
import type { ListedClient } from '../records/clients/client-input.ts'
import type { AnyClientSummary } from '../store/contract/clients.ts'
import type { Cursor } from '../store/contract/page.ts'
import { actOnClient, deleteToken } from './admin-acts.ts'
import { searchedList } from './admin-search.ts'
import { type Arrangement, arranged, backIn } from './arranged-list.ts'
import { cursorOf, listed } from './list-page.ts'
import { showNotice } from './notice.ts'
import { after } from './page-operations.ts'
import { searchedIn } from './search.ts'
import { type Refused, renderSettings, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { adminClientToWire, adminTokenToWire } from './wire.ts'

type Everything = z.output<typeof administration>

const arrangement: Arrangement<AnyClientSummary> = {
  idOf: ({ clientId }) => clientId,
  searchField: 'client',
  orders: {
    newest: ({ createdAt }) => -createdAt,
    oldest: ({ createdAt }) => createdAt,
    name: ({ name }) => name,
  },
  filters: {
    verified: ({ isVerified }) => isVerified,
    unverified: ({ isVerified }) => !isVerified,
    disabled: ({ isDisabled }) => isDisabled,
    unused: ({ isUsed }) => !isUsed,
    self_registered: ({ origin }) => origin !== 'owner',
    confidential: ({ isConfidential }) => isConfidential,
    public: ({ isConfidential }) => !isConfidential,
  },
}

/** Lists and finds applications for administrators. Scripts also receive the tokens, in one response. */
export const adminApplicationsPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/applications/`,
  audience: 'admin',
  operations: () => ({
    get: {
      operationId: 'listEverything',
      summary: 'Lists all applications and tokens for administrators',
      answer: 'The first or the requested page of each list.',
      view: administration,
      query: [
        inQuery('client', 'A part of the name, the ID or the owner’s e-mail address of a client.'),
        inQuery('token', 'A user’s e-mail address, a client’s ID or a token’s ID.'),
        after('clients_after'),
        after('tokens_after'),
      ],
    },
    post: {
      operationId: 'administer',
      summary: 'Verifies, disables or deletes an application, or deletes a token',
    },
  }),
  async show(request, refused) {
    return request.asJson ? listEverything(request) : showApplications(request, refused)
  },
  form: administrationForm,
  async change(request, params) {
    const [search] = params.repeated('search')
    if (search !== undefined)
      return searchedList(request, params, search === 'token' ? 'token' : 'client')
    const done =
      params.optional('token_id') === undefined
        ? await actOnClient(params.optional('client_id') ?? '', request, params)
        : await deleteToken(request, params)
    const { adminApplications } = request.server.ui.links
    const back = backIn(params.optional('back'))
    return { location: `${adminApplications}${back}#list`, notice: { done } }
  },
})

const showApplications = async (
  request: SettingsRequest,
  refused: Refused | undefined,
): Promise<Response> => {
  const { server } = request
  const { administration } = server
  const text = searchedIn(request, 'client')
  const read = (cursor: Cursor) => administration.clientSummaries(text, cursor)
  const list = await arranged(request, read, arrangement)
  const clients = await administration.clientsAmong(list.items.map(({ clientId }) => clientId))
  const notice = await showNotice(request)
  const { back } = list
  const view = {
    clients: {
      ...list,
      items: clients.map((client) => {
        const item = adminClientItem(client, request)
        const query = back === '' ? '' : `?${new URLSearchParams({ back })}`
        return { ...item, href: `${item.href}${query}` }
      }),
    },
    done: notice.done,
    problem: refused?.problem,
  }
  return renderSettings(request, 'adminApplications', view, notice, refused)
}

/** Returns a page of all applications, and a page of all tokens. */
const listEverything = async (request: SettingsRequest): Promise<Response> => {
  const { server } = request
  const { administration } = server
  await server.operations.flushTokenUses()
  const [clients, tokens] = await Promise.all([
    administration.clients(searchedIn(request, 'client'), cursorOf(request, 'clients_after')),
    administration.tokens(searchedIn(request, 'token'), cursorOf(request, 'tokens_after')),
  ])
  const pages = {
    clients: listed(request, 'clients_after', clients, (item) => adminClientToWire(item, server)),
    tokens: listed(request, 'tokens_after', tokens, adminTokenToWire),
  }
  return jsonResponse({
    clients: pages.clients.items,
    tokens: pages.tokens.items,
    next: { clients: pages.clients.next, tokens: pages.tokens.next },
  } satisfies Readonly<Record<keyof Everything, unknown>>).toResponse()
}

/** Converts a client for display to administrators. */
export const adminClientItem = (
  { client, users }: ListedClient,
  { server }: SettingsRequest,
): AdminClientItem => ({
  href: addresses(server.ui.links).adminApplication(client.clientId),
  clientId: client.clientId,
  name: client.name,
  logo: logoUrlOf(client, server),
  owner: client.owner ? shownEmail(client.owner.email) : null,
  isConfidential: client.isConfidential,
  isVerified: client.isVerified,
  isDisabled: client.isDisabled,
  isPinned: client.isPinned,
  origin: client.origin,
  createdAt: client.createdAt,
  users,
})
