import { personalTokens } from '../pages/shapes/applications.ts'
import type { PersonalTokenSummary } from '../store/contract/tokens.ts'
import { listResource } from './list-resource.ts'
import { personalTokenToWire } from './wire.ts'

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

/** Lists the personal tokens of the user. */
export const personalTokensPage = listResource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/`,
  page: 'personalTokens',
  view: personalTokens,
  operationId: 'listPersonalTokens',
  summary: 'Searches, sorts and filters the personal tokens of the user',
  async list({ server, signedIn: { user } }) {
    await server.operations.flushTokenUses()
    return {
      summaries: (cursor) => server.personalTokens.summariesOf(user.id, cursor),
      async entries(found) {
        const ids = found.map(({ id }) => id)
        const tokens = await server.personalTokens.among(user.id, ids)
        return { personal_tokens: tokens.map(personalTokenToWire) }
      },
    }
  },
  arrangement: ({ scopes, clock }) => ({
    idOf: ({ id }) => String(id),
    textsOf: ({ name }) => [name],
    orders: tokenOrders(({ name }) => name),
    filters: tokenFilters(clock()),
    scopesOf: (token) => scopes.visible(token.scopes),
  }),
})
