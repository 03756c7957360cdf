import { addresses } from '../pages/addresses.ts'
import { personalTokens } from '../pages/shapes/applications.ts'
import type { Cursor } from '../store/contract/page.ts'
import type { PersonalTokenSummary } from '../store/contract/tokens.ts'
import { type Arrangement, arranged, arrangedQuery } from './arranged-list.ts'
import { tokenItem } from './list-items.ts'
import { showNotice } from './notice.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { arrangementToWire, personalTokenToWire } from './wire.ts'

/** The filter for expiring tokens finds tokens that expire within this number of milliseconds. */
const soon = 604_800_000
/** The sort key of tokens that never expire, which come last. */
const latest = Number.MAX_SAFE_INTEGER

/** The fields by which lists of tokens are sorted and filtered. */
type SortedToken = Pick<PersonalTokenSummary, 'id' | 'createdAt' | 'expires' | 'lastUsedAt'>

/** Returns the orders of a list of tokens. */
export const tokenOrders = <Token extends SortedToken>(nameOf: (token: Token) => string) => ({
  newest: ({ id }: Token) => -id,
  oldest: ({ id }: Token) => id,
  name: nameOf,
  expires: ({ expires }: Token) => expires ?? latest,
  used: ({ lastUsedAt }: Token) => -(lastUsedAt ?? 0),
  unused: ({ lastUsedAt, createdAt }: Token) => lastUsedAt ?? createdAt,
})

/** Returns the filters of a list of tokens by their expiry and use. */
export const tokenFilters = (now: number) => {
  const endsWithin =
    (from: number, to: number) =>
    ({ expires }: SortedToken) =>
      expires !== null && expires > from && expires <= to
  return {
    never_used: ({ lastUsedAt }: SortedToken) => lastUsedAt === null,
    expiring: endsWithin(now, now + soon),
    expired: endsWithin(0, now),
    no_expiry: ({ expires }: SortedToken) => expires === null,
  }
}

const arrangementOf = ({
  server,
}: Pick<SettingsRequest, 'server'>): Arrangement<PersonalTokenSummary> => ({
  idOf: ({ id }) => String(id),
  textsOf: ({ name }) => [name],
  orders: tokenOrders(({ name }) => name),
  filters: tokenFilters(server.clock()),
  scopesOf: ({ scopes }) => server.scopes.visible(scopes),
})

/** Lists the personal tokens of the user. */
export const showPersonalTokens = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server, signedIn } = request
  const { id: userId } = signedIn.user
  await server.operations.flushTokenUses()
  const read = (cursor: Cursor) => server.personalTokens.summariesOf(userId, cursor)
  const list = await arranged(request, read, arrangementOf(request))
  const tokens = await server.personalTokens.among(
    userId,
    list.items.map(({ id }) => id),
  )
  const notice = await showNotice(request)
  const to = addresses(server.ui.links)
  const view = {
    tokens: { ...list, items: tokens.map((token) => tokenItem(token, request)) },
    newToken: to.newToken,
    deleteSelected: to.selectedTokens,
  }
  const json = () => ({
    personal_tokens: tokens.map(personalTokenToWire),
    ...arrangementToWire(list),
  })
  return respond(request, 'personalTokens', { view, json, refused, notice })
}

export const personalTokensPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/`,
  operations: (server) => ({
    get: {
      operationId: 'listPersonalTokens',
      summary: 'Searches, sorts and filters the personal tokens of the user',
      answer: 'A page of the list.',
      view: personalTokens,
      query: arrangedQuery(arrangementOf({ server })),
    },
  }),
  show: showPersonalTokens,
})
