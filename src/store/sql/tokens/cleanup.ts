import { type Expression, sql } from 'kysely'
import { rotatedTokenCodec } from '../../../model/entities/rotated-token.ts'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { SurplusOwner, TokenStore } from '../../contract/tokens.ts'
import { deleteSome } from '../count.ts'
import { expiredRows, expiring } from '../expiring.ts'
import { type Handle, unindexed } from '../handle.ts'

const expired = { ...tokenCodec, end: 'ends_at' }

/** Returns the rows of an owner that may be too many. An index has the order of `order` and `end`. */
const surplusOf = (of: SurplusOwner) => {
  if ('authorizationId' in of)
    return {
      ...rotatedTokenCodec,
      owned: sql`authorization_id = ${of.authorizationId}`,
      order: [],
      end: 'rotated_at',
      isDeleted: sql`1 = 1`,
    }
  const ids = { ...tokenCodec, end: 'id' }
  if ('parentId' in of)
    return { ...ids, owned: sql`parent_id = ${of.parentId}`, order: [], isDeleted: sql`1 = 1` }
  const isOfUser = of.userId === null ? sql`user_id is null` : sql`user_id = ${of.userId}`
  return {
    ...ids,
    owned: sql`${isOfUser} and client_key = ${of.clientKey}`,
    order: ['user_id', 'client_key'],
    // Count the tokens of every kind, because the index does not contain the kind. Nearly all are `client_credentials`
    // tokens.
    isDeleted: sql`authorization_id is null and parent_id is null and is_personal = 0`,
  }
}

/** Deletes tokens in batches: expired tokens for the sweeper, and the oldest tokens if there are too many. */
export const tokenCleanup = (
  handle: Handle,
): Pick<TokenStore, 'deleteExpired' | 'countExpired' | 'deleteSurplus'> => {
  const { purge } = handle
  const own = expiring(handle, expired)
  const deleteChildrenOf = (parents: Expression<unknown>, limit: number): Promise<number> =>
    deleteSome(purge, tokenCodec, sql`parent_id in (${parents})`, limit)

  return {
    async deleteExpired(now, limit) {
      // Apply the limit before any other condition. The statement then takes the same time, no matter how many expired
      // tokens exist.
      const personal = sql`select client_key from (${expiredRows(expired, now, limit, ['client_key', 'is_personal'])}) as expired where expired.is_personal = 1`
      // Delete the hidden client of a personal token before the token, because this query finds the client by its
      // token.
      await sql`delete from oauth2server_client where ${unindexed('is_personal')} = 1 and client_key in (${personal}) and not exists (
        select 1 from oauth2server_token as live where live.client_key = oauth2server_client.client_key
        and (live.ends_at is null or live.ends_at > ${now}))`.execute(purge)
      // The foreign key would delete all children of a token in one statement, so delete them in batches first.
      const children = await deleteChildrenOf(expiredRows(expired, now, limit), limit)
      if (children === limit) return children
      return children + (await own.deleteExpired(now, limit - children))
    },
    countExpired: own.countExpired,

    async deleteSurplus(of, { keep, limit }) {
      const surplus = surplusOf(of)
      const { table, end, owned, order: columns, isDeleted } = surplus
      const list = (direction: 'asc' | 'desc') =>
        sql.join([...columns, end].map((name) => sql`${sql.ref(name)} ${sql.raw(direction)}`))
      const { rows } = await sql<{
        end: number
      }>`select ${sql.ref(end)} as "end" from ${sql.table(table)} where ${owned} order by ${list('desc')} limit 1 offset ${keep}`.execute(
        purge,
      )
      const ends = [rows[0]?.end, 'before' in of ? of.before : undefined].flatMap((at) => at ?? [])
      if (ends.length === 0) return 0
      const isOldest = sql`${owned} and ${sql.ref(end)} <= ${Math.max(...ends)} and ${isDeleted}`
      const order = sql`order by ${list('asc')}`
      const oldest = sql`select id from oauth2server_token where ${isOldest} ${order} limit ${limit}`
      const children = 'clientKey' in of ? await deleteChildrenOf(oldest, limit) : 0
      if (children === limit) return children
      return children + (await deleteSome(purge, surplus, isOldest, limit - children, order))
    },
  }
}
