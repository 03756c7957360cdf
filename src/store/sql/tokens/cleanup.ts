import { type Expression, sql } from 'kysely'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { TokenStore } from '../../contract/tokens.ts'
import { changedRows } from '../count.ts'
import { expiredRows, expiring } from '../expiring.ts'
import { type Handle, unindexed } from '../handle.ts'

const expired = { ...tokenCodec, end: 'ends_at' }

/** Deletes tokens in batches: expired tokens for the sweeper, and the oldest tokens if there are too many. */
export const tokenCleanup = (
  handle: Handle,
): Pick<
  TokenStore,
  'deleteExpired' | 'countExpired' | 'deleteRotated' | 'deleteOldestOwn' | 'deleteOldestChildren'
> => {
  const { read, purge } = handle
  const own = expiring(handle, expired)
  const deleteChildrenOf = (parents: Expression<unknown>, limit: number): Promise<number> =>
    changedRows(
      purge,
      sql`delete from oauth2server_token where id in (select id from oauth2server_token where parent_id in (${parents}) limit ${limit})`,
    )

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

    async deleteRotated(authorizationId, { before, keep, limit }) {
      const rotated = read
        .selectFrom('oauth2server_rotated_refresh_token')
        .where('authorization_id', '=', authorizationId)
      const beyond = await rotated
        .select('rotated_at')
        .orderBy('rotated_at', 'desc')
        .limit(1)
        .offset(keep)
        .executeTakeFirst()
      const oldest = rotated
        .select('digest')
        .where('rotated_at', '<=', Math.max(before, beyond?.rotated_at ?? before))
        .orderBy('rotated_at')
        .limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_rotated_refresh_token')
        .where('digest', 'in', oldest)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },

    async deleteOldestOwn({ clientKey, userId }, { keep, limit }) {
      const ofClient = purge
        .selectFrom('oauth2server_token')
        .select('id')
        .where('user_id', userId === null ? 'is' : '=', userId)
        .where('client_key', '=', clientKey)
      // Skip `keep` tokens of every kind, because the index does not contain the kind. Nearly all are
      // `client_credentials` tokens.
      const beyond = await ofClient
        .orderBy('user_id', 'desc')
        .orderBy('client_key', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .offset(keep)
        .executeTakeFirst()
      if (!beyond) return 0
      const oldest = ofClient
        .where('id', '<=', beyond.id)
        .where('authorization_id', 'is', null)
        .where('parent_id', 'is', null)
        .where('is_personal', '=', 0)
        .orderBy('user_id')
        .orderBy('client_key')
        .orderBy('id')
        .limit(limit)
      const deletedChildren = await deleteChildrenOf(oldest, limit)
      if (deletedChildren === limit) return deletedChildren
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_token')
        .where('id', 'in', oldest.clearLimit().limit(limit - deletedChildren))
        .executeTakeFirst()
      return Number(numDeletedRows) + deletedChildren
    },

    async deleteOldestChildren(parentId, { keep, limit }) {
      const children = purge
        .selectFrom('oauth2server_token')
        .select('id')
        .where('parent_id', '=', parentId)
      const beyond = await children.orderBy('id', 'desc').limit(1).offset(keep).executeTakeFirst()
      if (!beyond) return 0
      const oldest = children.where('id', '<=', beyond.id).orderBy('id').limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_token')
        .where('id', 'in', oldest)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
