import { sql } from 'kysely'
import { split } from '../../../model/entities/field.ts'
import type { PersonalTokenRow, TokenStore } from '../../contract/tokens.ts'
import { countRows } from '../count.ts'
import { byKey, type Handle, holds } from '../handle.ts'
import { page, placeOf } from '../page.ts'
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

// Use a literal instead of a parameter, so that the condition can use the partial index of personal tokens.
const isPersonal = sql<boolean>`t.is_personal = 1`

/** Reads personal tokens, without the tokens that were exchanged from them. */
export const personalTokens = (
  handle: Handle,
  tokens: () => LiveTokens,
): Pick<
  TokenStore,
  | 'personalOf'
  | 'personalSummaries'
  | 'personalAmong'
  | 'personal'
  | 'countPersonalOf'
  | 'personalNamed'
> => {
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
      .where('t.successor_id', 'is', null)
      .where('t.parent_id', 'is', null)

  return {
    async personalOf(userId, now, { after, limit }) {
      const place = placeOf(after)
      const rows = await personal(now)
        .where('t.user_id', '=', userId)
        .where('t.is_internal', '=', 0)
        .$if(place !== undefined, (q) => q.where('t.id', '<', place?.[0] ?? 0))
        // Sort in the order of the index, whose last column is the ID.
        .orderBy('t.successor_id', 'desc')
        .orderBy('t.parent_id', 'desc')
        .orderBy('t.id', 'desc')
        .limit(limit + 1)
        .execute()
      return page(rows, limit, personalFromRow, ({ id }) => [id, ''])
    },

    async personalSummaries(userId, { after, limit }) {
      const place = placeOf(after)
      // Join only the client: an HTML page reads many summaries to search and sort them, and shows only a few.
      const rows = await read
        .selectFrom('oauth2server_token as t')
        .innerJoin('oauth2server_client as c', (join) =>
          join.on(byKey(handle, 'c.client_key', 't.client_key')),
        )
        .select(['t.id', 'c.name', 't.scopes', 't.created_at', 't.expires', 't.last_used_at'])
        .where('t.user_id', '=', userId)
        .where(isPersonal)
        .where('t.is_internal', '=', 0)
        .where('t.successor_id', 'is', null)
        .where('t.parent_id', 'is', null)
        .$if(place !== undefined, (q) => q.where('t.id', '<', place?.[0] ?? 0))
        .orderBy('t.successor_id', 'desc')
        .orderBy('t.parent_id', 'desc')
        .orderBy('t.id', 'desc')
        .limit(limit + 1)
        .execute()
      return page(
        rows,
        limit,
        (row) => ({
          id: row.id,
          name: row.name,
          scopes: split(row.scopes),
          createdAt: row.created_at,
          expires: row.expires,
          lastUsedAt: row.last_used_at,
        }),
        ({ id }) => [id, ''],
      )
    },

    async personalAmong(userId, now, ids) {
      if (ids.length === 0) return []
      const rows = await personal(now)
        .where('t.user_id', '=', userId)
        .where('t.is_internal', '=', 0)
        .where('t.id', 'in', ids)
        .execute()
      return rows.map(personalFromRow)
    },

    async personal(id, now) {
      const row = await personal(now)
        .where('t.id', '=', id)
        .$if(holds(handle), (q) => q.forNoKeyUpdate(['t']))
        .executeTakeFirst()
      return row && personalFromRow(row)
    },

    countPersonalOf(userId, max) {
      return countRows(
        read,
        read
          .selectFrom('oauth2server_token as t')
          .select(sql.lit(1).as('one'))
          .where('t.user_id', '=', userId)
          .where(isPersonal)
          .where('t.is_internal', '=', 0)
          .where('t.successor_id', 'is', null)
          .where('t.parent_id', 'is', null)
          .limit(max),
      )
    },

    async personalNamed(userId, name) {
      const rows = await tokens()
        .where('t.user_id', '=', userId)
        .where(isPersonal)
        .where('t.successor_id', 'is', null)
        .where('t.parent_id', 'is', null)
        .where('c.name', '=', name)
        .execute()
      return rows.map(({ id }) => id)
    },
  }
}
