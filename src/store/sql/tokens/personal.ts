import { type SelectQueryBuilder, sql } from 'kysely'
import { split } from '../../../model/entities/field.ts'
import type { PersonalTokenRow, TokenLists, TokenStore } from '../../contract/tokens.ts'
import { byKey, type Handle, holds } from '../handle.ts'
import type { ListQueries } from '../listed.ts'
import { fromRow, type JoinedToken, type LiveTokens } from './base-query.ts'

const personalFromRow = (
  row: JoinedToken & {
    readonly name: string
    readonly used_scopes: string
    readonly previous_expires: number | null
  },
): PersonalTokenRow => ({
  ...fromRow(row),
  name: row.name,
  usedScopes: split(row.used_scopes),
  previousExpires: row.previous_expires,
})

/**
 * The condition for personal tokens, without exchanged tokens and former values. It has a literal instead of a
 * parameter, so that it can use the partial index of personal tokens.
 */
export const isPersonal = sql<boolean>`t.is_personal = 1 and t.successor_id is null and t.parent_id is null`

/** Reads personal tokens, without the tokens that were exchanged from them, and without former values. */
export const personalTokens = (
  handle: Handle,
  tokens: () => LiveTokens,
): Pick<TokenStore, 'personal'> & {
  readonly personalList: ListQueries<TokenLists['personal']>
} => {
  const { read } = handle
  const personal = (now: number) =>
    tokens()
      .select('c.name')
      .select(({ selectFrom }) =>
        selectFrom('oauth2server_token as former')
          .select(({ fn }) => fn.max('former.expires').as('until'))
          .whereRef('former.successor_id', '=', 't.id')
          .where('former.expires', '>', now)
          .as('previous_expires'),
      )
      .where(isPersonal)
  const isListed = ({ userId, ids }: TokenLists['personal']['where']) =>
    sql<boolean>`t.user_id = ${userId} and t.is_internal = 0${ids ? sql` and t.id in (${sql.join(ids.length === 0 ? [null] : ids)})` : sql``}`
  // Sort in the order of the index, whose last column is the ID.
  const inOrder = <Row>(query: SelectQueryBuilder<never, never, Row>) =>
    query.orderBy(sql`t.successor_id`, 'desc').orderBy(sql`t.parent_id`, 'desc')

  return {
    personalList: {
      rows: (where) => inOrder(personal(where.now).where(isListed(where))),
      fromRow: personalFromRow,
      // Join only the client: an HTML page reads many summaries to search and sort them, and shows only a few.
      summaries: (where) =>
        inOrder(
          read
            .selectFrom('oauth2server_token as t')
            .innerJoin('oauth2server_client as c', (join) =>
              join.on(byKey(handle, 'c.client_key', 't.client_key')),
            )
            .select(['t.id', 'c.name', 't.scopes', 't.created_at', 't.expires', 't.last_used_at'])
            .where(isPersonal)
            .where(isListed(where)),
        ),
      summaryFromRow: (row: JoinedToken & { readonly name: string }) => ({
        id: row.id,
        name: row.name,
        scopes: split(row.scopes),
        createdAt: row.created_at,
        expires: row.expires,
        lastUsedAt: row.last_used_at,
      }),
    },

    async personal(id, now) {
      const row = await personal(now)
        .where('t.id', '=', id)
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['t']))
        .executeTakeFirst()
      return row && personalFromRow(row)
    },
  }
}
