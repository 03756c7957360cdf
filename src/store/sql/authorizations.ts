import { sql } from 'kysely'
import { authorizationCodec } from '../../model/entities/authorization.ts'
import { rotatedTokenCodec } from '../../model/entities/rotated-token.ts'
import type { AuthorizationStore } from '../contract/authorizations.ts'
import { changedRows, deleteSome } from './count.ts'
import { expiredRows, expiring } from './expiring.ts'
import { byKey, type Handle, keyOf, prepared, unindexed, valuesOf } from './handle.ts'
import { readsOf } from './rows.ts'
import { isThere, userSource } from './user-source.ts'

/**
 * The maximum number of IDs that `listExceeding` returns. After the setting `authorizationsPerApplication` was lowered,
 * a user may have more surplus authorizations than this number. Each new authorization then revokes a part of them.
 */
const maxExceeding = 100

const expired = { ...authorizationCodec, end: 'expires_at' }

export const sqlAuthorizations = (handle: Handle): AuthorizationStore => {
  const { read, write, purge, hot } = handle
  // Select only authorizations of existing users for existing clients. Rows of deleted users and clients may remain
  // until the sweeper deletes them.
  const live = () =>
    read
      .selectFrom('oauth2server_authorization as a')
      .innerJoin('oauth2server_client as c', (join) =>
        join.on(byKey(handle, 'c.client_key', 'a.client_key')),
      )
      .leftJoin(userSource(handle, 'o'), (join) => join.on(byKey(handle, 'o.id', 'c.user_id')))
      .leftJoin(userSource(handle, 'u'), (join) => join.on(byKey(handle, 'u.id', 'a.user_id')))
      .selectAll('a')
      .select('c.client_id')
      .where(isThere(handle, { userId: 'c.user_id', createdAt: 'c.created_at' }, 'o'))
      .where(isThere(handle, { userId: 'a.user_id', createdAt: 'a.created_at' }, 'u'))
  const insertOnce = prepared(
    handle,
    write,
    'authorizations.insertOnce',
    (...values) =>
      write
        .insertInto('oauth2server_authorization')
        .values(valuesOf(authorizationCodec.columns, values))
        .onConflict((c) => c.column('code_digest').doNothing())
        .returning('id'),
    authorizationCodec.columns.length,
  )
  const revoke = prepared(handle, write, 'authorizations.revoke', (id, now) =>
    write
      .updateTable('oauth2server_authorization')
      .set({ revoked_at: now })
      .where('id', '=', id)
      // This statement is part of hot paths, so PostgreSQL must always find the row by its ID. A plan for a small table
      // could use the index that contains `revoked_at` instead.
      .where(unindexed('revoked_at'), 'is', null),
  )
  const deleteTokens = prepared(handle, write, 'authorizations.deleteTokens', (id) =>
    write.deleteFrom('oauth2server_token').where('authorization_id', '=', id),
  )
  const own = expiring(handle, expired)
  return {
    ...(hot && { insertWithToken: hot.insertWithToken }),
    find: readsOf(handle, { ...authorizationCodec, alias: 'a', query: live }).find,

    async insertOnce(authorization) {
      const { rows } = await insertOnce(...authorizationCodec.toCells(authorization))
      return rows[0]?.id
    },

    async extend(id, endsAt) {
      await write
        .updateTable('oauth2server_authorization')
        .set({
          expires_at: sql`case when expires_at < ${endsAt} then ${endsAt} else expires_at end`,
        })
        .where('id', '=', id)
        .execute()
    },

    async listExceeding(userId, clientId, keep) {
      // Sort in the order of the index `authorization_by_user`, so that the database does not have to sort the rows.
      const rows = await read
        .selectFrom('oauth2server_authorization')
        .select('id')
        .where('user_id', '=', userId)
        .where('client_key', '=', keyOf(clientId))
        .where('revoked_at', 'is', null)
        .orderBy('revoked_at', 'desc')
        .orderBy('id', 'desc')
        .limit(maxExceeding)
        .offset(keep)
        .execute()
      return rows.map(({ id }) => id)
    },

    async revoke(id, now) {
      const { numAffectedRows = 0n } = await revoke(id, now)
      // Keep the row of the authorization. With this row, the server detects a second use of the code or of a rotated
      // refresh token.
      await deleteTokens(id)
      return numAffectedRows > 0n
    },

    async revokeOfUser(userId, clientId, now, limit) {
      // Search in the tokens, because any number of revoked authorizations without tokens may remain.
      const rows = await write
        .selectFrom('oauth2server_token')
        .select('authorization_id')
        .distinct()
        .where('user_id', '=', userId)
        .where('is_personal', '=', 0)
        .where('authorization_id', 'is not', null)
        .$if(clientId !== null, (of) => of.where('client_key', '=', keyOf(clientId ?? '')))
        .limit(limit)
        .execute()
      const ids = rows.flatMap(({ authorization_id: id }) => id ?? [])
      if (ids.length === 0) return 0
      // Every transaction updates an authorization before its tokens, so that concurrent transactions do not deadlock.
      await write
        .updateTable('oauth2server_authorization')
        .set({ revoked_at: now })
        .where('id', 'in', ids)
        // Unlike in `revoke`, any plan is good enough, because no request of a client calls this function.
        .where('revoked_at', 'is', null)
        .execute()
      await write.deleteFrom('oauth2server_token').where('authorization_id', 'in', ids).execute()
      return ids.length
    },

    async deleteExpired(now, limit) {
      // The deletion of an authorization cascades to its tokens and rotated refresh tokens. These may be too many to
      // delete in one statement before its timeout, so delete them in batches first.
      const ids = expiredRows(expired, now, limit)
      const isRotated = sql`authorization_id in (${ids})`
      const rotated = await deleteSome(purge, rotatedTokenCodec, isRotated, limit)
      if (rotated === limit) return limit
      const exchanged = await changedRows(
        purge,
        sql`delete from oauth2server_token where id in (select t.id from oauth2server_token as t inner join oauth2server_token as parent on parent.id = t.parent_id where parent.authorization_id in (${ids}) limit ${limit})`,
      )
      if (exchanged === limit) return limit
      return rotated + exchanged + (await own.deleteExpired(now, limit))
    },
    countExpired: own.countExpired,
  }
}
