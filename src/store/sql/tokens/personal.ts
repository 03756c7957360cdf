import { sql } from 'kysely'
import { split } from '../../../model/entities/field.ts'
import type { Listing } from '../../contract/page.ts'
import type { PersonalTokenRow, TokenLists, TokenStore } from '../../contract/tokens.ts'
import { countRows } from '../count.ts'
import { byKey, type Handle, holds } from '../handle.ts'
import { readPage } from '../page.ts'
import type { LiveTokens } from './base-query.ts'
import { fromRow, type JoinedToken } from './columns.ts'

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
  readonly personalList: Listing<TokenLists['personal']>
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
    sql<boolean>`t.user_id = ${userId} and t.is_internal = 0${ids ? sql` and t.id in (${sql.join(ids)})` : sql``}`

  return {
    personalList: {
      async list(where, cursor) {
        if (where.ids?.length === 0) return { items: [], next: null }
        const query = personal(where.now)
          .where(isListed(where))
          // Sort in the order of the index, whose last column is the ID.
          .orderBy('t.successor_id', 'desc')
          .orderBy('t.parent_id', 'desc')
        return readPage(query, cursor, ['t.id'], personalFromRow)
      },

      summaries(where, cursor) {
        // Join only the client: an HTML page reads many summaries to search and sort them, and shows only a few.
        const query = read
          .selectFrom('oauth2server_token as t')
          .innerJoin('oauth2server_client as c', (join) =>
            join.on(byKey(handle, 'c.client_key', 't.client_key')),
          )
          .select(['t.id', 'c.name', 't.scopes', 't.created_at', 't.expires', 't.last_used_at'])
          .where(isPersonal)
          .where(isListed(where))
          .orderBy('t.successor_id', 'desc')
          .orderBy('t.parent_id', 'desc')
        return readPage(query, cursor, ['t.id'], (row) => ({
          id: row.id,
          name: row.name,
          scopes: split(row.scopes),
          createdAt: row.created_at,
          expires: row.expires,
          lastUsedAt: row.last_used_at,
        }))
      },

      count: (where, max) =>
        countRows(
          read,
          sql`select 1 from oauth2server_token as t where ${isPersonal} and ${isListed(where)} limit ${max}`,
        ),
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
