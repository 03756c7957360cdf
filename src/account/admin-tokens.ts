import type { z } from 'zod'
import { addresses } from '../pages/addresses.ts'
import type { AdminTokenItem } from '../pages/models/admin.ts'
import { adminTokens, tokenForm } from '../pages/shapes/administration.ts'
import { redirectResponse } from '../protocol/endpoints/responses/responses.ts'
import type { Cursor } from '../store/contract/page.ts'
import type { TokenSummary } from '../store/contract/tokens.ts'
import { deleteToken } from './admin-acts.ts'
import { isClient, searchedList } from './admin-search.ts'
import { type Arrangement, arranged, arrangedQuery, backIn } from './arranged-list.ts'
import { leaveNotice, showNotice } from './notice.ts'
import { tokenFilters, tokenOrders } from './personal-tokens.ts'
import { looksLikeSecret, searchedIn } from './search.ts'
import { respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { arrangementToWire, tokenSummaryToWire } from './wire.ts'

const arrangementOf = ({ server }: Pick<SettingsRequest, 'server'>): Arrangement<TokenSummary> => ({
  idOf: ({ id }) => String(id),
  searchField: 'token',
  orders: tokenOrders(({ clientName }) => clientName),
  filters: tokenFilters(server.clock()),
  kinds: {
    personal: ({ isPersonal }) => isPersonal,
    access: ({ isPersonal, isRefreshable }) => !isPersonal && !isRefreshable,
    refresh: ({ isRefreshable }) => isRefreshable,
  },
  scopesOf: ({ scopes }) => server.scopes.visible(scopes),
})

/** Lists and finds tokens for administrators. */
export const adminTokensPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/tokens/`,
  audience: 'admin',
  operations: (server) => ({
    get: {
      operationId: 'listTokens',
      summary: 'Finds, sorts and filters the tokens of all users for administrators',
      answer: 'A page of the list.',
      view: adminTokens,
      query: arrangedQuery(
        arrangementOf({ server }),
        'A user’s e-mail address, a client’s ID or a token’s ID.',
      ),
    },
    post: { operationId: 'administerToken', summary: 'Deletes a token' },
  }),
  async show(request, refused) {
    const { server } = request
    const { administration, ui } = server
    const text = searchedIn(request, 'token')
    if (!request.asJson && looksLikeSecret(text) && !(await isClient(text, request))) {
      // The text may be the value of a token, for example from a bookmark. Do not repeat the value in links. Do not
      // report that no token was found, because this list does not search by value.
      await leaveNotice(request, ui.links.adminTokens, { problem: 'looksLikeSecret' })
      return redirectResponse({ page: ui.links.adminTokens }, server)
    }
    await server.operations.flushTokenUses()
    const isPersonal = searchedIn(request, 'kind') === 'personal'
    const read = (cursor: Cursor) => administration.tokenSummaries({ text, isPersonal }, cursor)
    const list = await arranged(request, read, arrangementOf(request))
    const tokens = await administration.withEmails(list.items)
    const notice = await showNotice(request)
    const view = {
      tokens: { ...list, items: tokens.map((token) => tokenItem(token, request)) },
      done: notice.done,
      problem: refused?.problem,
    }
    const json = () =>
      ({
        tokens: tokens.map(tokenSummaryToWire),
        ...arrangementToWire(list),
      }) satisfies Readonly<Record<keyof z.output<typeof adminTokens>, unknown>>
    return respond(request, 'adminTokens', { view, json, refused, notice })
  },
  form: tokenForm,
  async change(request, params) {
    if (params.repeated('search').length > 0) return searchedList(request, params, 'token')
    const done = await deleteToken(request, params)
    const { adminTokens } = request.server.ui.links
    return { location: `${adminTokens}${backIn(params.optional('back'))}#list`, notice: { done } }
  },
})

const tokenItem = (token: TokenSummary, { server }: SettingsRequest): AdminTokenItem => {
  const { clientId, isPersonal, userId, userEmail } = token
  return {
    id: token.id,
    name: token.clientName,
    applicationHref: isPersonal ? null : addresses(server.ui.links).adminApplication(clientId),
    isPersonal,
    user: userId === null ? null : userEmail || String(userId),
    userHref: userId === null ? null : addresses(server.ui.links).adminUser(userId),
    scopes: token.scopes,
    createdAt: token.createdAt,
    expires: token.expires,
    lastUsedAt: token.lastUsedAt,
  }
}
