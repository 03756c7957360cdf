import { type AliasedExpression, type Selectable, sql } from 'kysely'
import type { AuthorizedTokenRow, TokenStore, TokenWithNames } from '../../contract/tokens.ts'
import { split } from '../codecs.ts'
import { byKey, type Handle, isAmong, keyOf, unindexed } from '../handle.ts'
import { page, placeOf } from '../page.ts'
import type { Tables } from '../tables.ts'
import { userSource } from '../user-source.ts'
import { authorizationId, type LiveTokens } from './base-query.ts'
import { fromRow, type TokenRow } from './columns.ts'

const authorizedFromRow = (
  row: TokenRow & {
    readonly granted: string
    readonly user_agent: string
    readonly granted_at: number
  },
): AuthorizedTokenRow => ({
  ...fromRow(row),
  authorization: {
    scopes: split(row.granted),
    userAgent: row.user_agent,
    createdAt: row.granted_at,
  },
})

const namedFromRow = (
  row: TokenRow & { readonly client_name: string; readonly user_email: string | null },
): TokenWithNames => ({ ...fromRow(row), clientName: row.client_name, userEmail: row.user_email })

/** Lists the tokens of authorized applications of a user, and all tokens for administrators. */
export const listedTokens = (
  handle: Handle,
  tokens: LiveTokens,
): Pick<TokenStore, 'authorizedOf' | 'authorized' | 'search'> => {
  const { read, users } = handle
  const authorizedOf = (
    authorizations: AliasedExpression<Selectable<Tables['oauth2server_authorization']>, 'a'>,
  ) =>
    tokens
      .innerJoin(authorizations, 'a.id', 't.authorization_id')
      .select(['a.scopes as granted', 'a.user_agent', 'a.created_at as granted_at'])

  return {
    async authorizedOf(userId, clientIds, now, { limit, countLimit }) {
      if (clientIds.length === 0) return []
      // Limit the rows in the order of the index before the joins, so that only the listed rows are joined.
      const live = (clientId: string, max: number) =>
        read
          .selectFrom('oauth2server_authorization')
          .selectAll()
          .where('user_id', '=', userId)
          .where('client_key', '=', keyOf(clientId))
          .where('revoked_at', 'is', null)
          .where('expires_at', '>', now)
          .orderBy('revoked_at', 'desc')
          .orderBy('id', 'desc')
          .limit(max)
      const rows = await clientIds
        .map((clientId) =>
          authorizedOf(live(clientId, limit).as('a')).select(
            sql<number>`(select count(*) from (${live(clientId, countLimit)}) as limited)`.as(
              'count',
            ),
          ),
        )
        .reduce((all, more) => all.unionAll(more))
        .execute()
      return rows
        .map((row) => ({ ...authorizedFromRow(row), count: Number(row.count) }))
        .sort((a, b) => (b.fields.authorizationId ?? 0) - (a.fields.authorizationId ?? 0))
    },

    async authorized(id, now) {
      const row = await tokens
        .innerJoin('oauth2server_authorization as a', (join) =>
          join.on(byKey(handle, 'a.id', authorizationId)),
        )
        .select(['a.scopes as granted', 'a.user_agent', 'a.created_at as granted_at'])
        .where('t.id', '=', id)
        .where(unindexed('a.revoked_at'), 'is', null)
        .where(unindexed('a.expires_at'), '>', now)
        .executeTakeFirst()
      return row && authorizedFromRow(row)
    },

    async search(text, { after, limit }) {
      const place = placeOf(after)
      const rows = await tokens
        .select(['c.name as client_name', 'u.email as user_email'])
        .where('t.successor_id', 'is', null)
        .$if(text !== '', (q) => {
          if (/^\d{1,15}$/.test(text)) return q.where('t.id', '=', Number(text))
          if (!text.includes('@')) return q.where('t.client_key', '=', keyOf(text))
          // The built-in table stores e-mail addresses in lower case, so the query can use their index. The table of an
          // application may contain upper case.
          const email = users === 'built-in' ? sql.ref('s.email') : sql`lower(s.email)`
          const named = read
            .selectFrom(userSource(handle, 's'))
            .select('s.id')
            .where(sql<boolean>`${email} = ${text.toLowerCase()}`)
          return q.where(isAmong(handle, 't.user_id', named))
        })
        .$if(place !== undefined, (q) => q.where('t.id', '<', place?.[0] ?? 0))
        .orderBy('t.id', 'desc')
        .limit(limit + 1)
        .execute()
      return page(rows, limit, namedFromRow, ({ id }) => [id, ''])
    },
  }
}
