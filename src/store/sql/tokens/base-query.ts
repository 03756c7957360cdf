import { sql } from 'kysely'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { StoredToken } from '../../contract/tokens.ts'
import { byKey, type Handle } from '../handle.ts'
import { isThere, userSource } from '../user-source.ts'

/**
 * The base of the queries that return valid tokens: the tokens as `t`, their clients as `c`, the owners of the clients
 * as `o`, and the users of the tokens as `u`. Excludes tokens of deleted clients. If the database contains the users,
 * also excludes tokens of deleted users and owners. The last condition excludes the tokens that `endOwnTokens` revoked:
 * `client_credentials` tokens, and the tokens that were exchanged from them, with an ID of at most `own_tokens_until`.
 */
export const liveTokens = (handle: Handle) =>
  handle.read
    .selectFrom('oauth2server_token as t')
    .innerJoin('oauth2server_client as c', (join) =>
      join.on(byKey(handle, 'c.client_key', 't.client_key')),
    )
    .leftJoin(userSource(handle, 'o'), (join) => join.on(byKey(handle, 'o.id', 'c.user_id')))
    .leftJoin(userSource(handle, 'u'), (join) => join.on(byKey(handle, 'u.id', 't.user_id')))
    .selectAll('t')
    .select('c.client_id')
    .where(isThere(handle, { userId: 'c.user_id', createdAt: 'c.created_at' }, 'o'))
    .where(isThere(handle, { userId: 't.user_id', createdAt: 't.created_at' }, 'u'))
    .where(
      sql<boolean>`(t.authorization_id is not null or t.is_personal = 1 or c.own_tokens_until is null or t.id > c.own_tokens_until or (select p.authorization_id from oauth2server_token as p where p.id = t.parent_id) is not null)`,
    )

export type LiveTokens = ReturnType<typeof liveTokens>

// Do not join with the plain column: PostgreSQL would infer `is not null`, and might scan a whole partial index of this
// column.
export const authorizationId = sql`coalesce(${sql.ref('t.authorization_id')}, 0)`

/** The columns of a token, with the current ID of its client, which is a column of another table. */
export type JoinedToken = Parameters<typeof tokenCodec.fromRow>[0] & LastUse

interface LastUse {
  readonly last_used_at: number | null
  readonly last_used_address: string | null
}

export const fromRow = (row: JoinedToken): StoredToken => ({
  ...tokenCodec.fromRow(row),
  lastUse:
    row.last_used_at === null
      ? null
      : { at: row.last_used_at, address: row.last_used_address ?? '' },
})
